"""Clients of a cluster on a slow line.

Goal    a node that says nothing because a client's large request is still on its way to it is not left as
        silent; one that says nothing although everything has reached it is.
Method  a peer that says it is one of two nodes, reads 50 KB a second, and notes when connections begin.
        Programs send it 200 KB, which takes four seconds; a node that is asked has two, after one of quiet.
"""

import os
import socket
import subprocess
import sys
import tempfile
import threading
import time

import msgpack

from fogmarch_server import run

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../clients/python"))
import fogmarch  # noqa: E402

FOGMARCH = os.path.join(os.path.dirname(os.environ["FOGMARCHD"]), "fogmarch")
SIZE = 200_000  # bytes of the large request
LINE = 50_000  # bytes a second
LIMITS = {"message_size": 1 << 20, "depth": 16, "elements": 1 << 20, "agents": 1 << 14, "cells": 1 << 20}


class Peer:
    """Answers hello, map.upload and world.create, and after `last` of these nothing more."""

    def __init__(self, last="world.create"):
        self.last, self.connections, self.heard, self.longest_s = last, 0, [], 0.0
        self.late_s = 0.0  # for which a busy machine kept it from its next pieces, in all
        self.listener = socket.socket()
        self.listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        self.listener.bind(("127.0.0.1", 0))
        self.listener.listen()
        self.address = f"127.0.0.1:{self.listener.getsockname()[1]}"
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            self.connections += 1
            threading.Thread(target=self.serve, args=(connection,), daemon=True).start()

    def result(self, method):
        seeds = [{"node": "a", "tcp": self.address, "http": ""}, {"node": "b", "tcp": "127.0.0.1:9", "http": ""}]
        return {"hello": {"server": "peer", "protocol": 1, "session": 1, "role": "admin", "resume": "",
                          "resumed": False, "limits": LIMITS, "node": "a", "seeds": seeds},
                "map.upload": {"upload": 1, "received": SIZE},
                "world.create": {"world": 7, "name": "far", "width": 9, "height": 9, "bases": []}}.get(method, {})

    def serve(self, connection):
        unpacker = msgpack.Unpacker(raw=False)
        answers, quiet_since = True, time.monotonic()
        while True:
            try:
                piece = connection.recv(4096)
                if not piece:
                    return
                unpacker.feed(piece)
                for _, number, method, _ in unpacker:
                    self.heard.append(method)
                    if answers:
                        self.longest_s = max(self.longest_s, time.monotonic() - quiet_since)
                        quiet_since = time.monotonic()
                        connection.sendall(msgpack.packb([1, number, None, self.result(method)]))
                    answers = answers and method != self.last
            except OSError:
                return
            due = time.monotonic() + len(piece) / LINE
            time.sleep(len(piece) / LINE)
            self.late_s += time.monotonic() - due

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.listener.close()


def with_peers(case):
    """Runs a case with a peer, and again with the next one where the machine kept a peer so long that its line was not
    what the case is about: of the six seconds after which a client leaves it, it needs four."""
    def repeated():
        for remaining in reversed(range(5)):
            with Peer() as peer:
                try:
                    return case(peer)
                except (AssertionError, OSError, fogmarch.ConnectionEnded):
                    if peer.late_s < 1 or remaining == 0:
                        raise
                    print(f"[          ] once more: the peer was {peer.late_s:.1f} s late", flush=True)
    repeated.__name__ = case.__name__
    return repeated


def was_waited_for(peer):
    assert peer.longest_s > 3.2, f"nothing was late: {peer.longest_s:.1f} s without an answer"
    assert peer.connections == 1, f"{peer.connections} connections: {peer.heard}"


@with_peers
def the_command_line_waits(peer):
    with tempfile.NamedTemporaryFile(suffix=".map") as file:
        side = 500
        file.write(f"type octile\nheight {SIZE // side}\nwidth {side}\nmap\n".encode())
        file.write((b"." * side + b"\n") * (SIZE // side))
        file.flush()
        done = subprocess.run([FOGMARCH, "-c", peer.address, "create", "far", "--map", file.name],
                              capture_output=True, text=True, timeout=60)
        assert done.returncode == 0 and "world 7" in done.stdout, done
        was_waited_for(peer)


@with_peers
def the_python_library_waits(peer):
    with fogmarch.connect_plain(peer.address) as client:
        client.call("map.upload", {"total": SIZE, "offset": 0, "data": bytes(SIZE)})
        was_waited_for(peer)


def a_silent_node_is_left():
    with Peer(last="hello") as peer, fogmarch.connect_plain(peer.address, follow_s=1) as client:
        begun = time.monotonic()
        try:
            client.call("world.list", {})
            raise AssertionError("who answered?")
        except fogmarch.ConnectionEnded:
            assert time.monotonic() - begun < 20
        assert peer.heard == ["hello", "world.list", "ping"], peer.heard


if __name__ == "__main__":
    run([the_command_line_waits, the_python_library_waits, a_silent_node_is_left])
