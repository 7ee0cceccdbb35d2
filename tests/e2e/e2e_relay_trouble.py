"""Relays above which something is wrong.

Goal    a relay that lacks a server says which and why, to its clients, to operators and on the command line, and
        stops saying so when the server is there. Relays in a circle do not keep a world whose server is gone. What
        a server sends that cannot be is not believed for longer than until the next keyframe.
Method  a wrong token, a server that goes, relays of each other, and a line that changes what comes from the server.
"""

import json
import os
import signal
import socket
import subprocess
import tempfile
import threading
import urllib.request

import msgpack

from fogmarch_server import Server, RequestError, free_ports, run, until

TOP, LOOKER = "a-token-of-admins", "a-token-of-observers"
TOKENS = {"FOGMARCH_TOKENS": f"admin {TOP};observer {LOOKER}"}


def token_file(folder, token=LOOKER):
    path = os.path.join(folder, "token")
    with open(path, "w") as file:
        file.write(token + "\n")
    return path


def connect(server, token=LOOKER):
    client = server.connect(hello=False)
    client.call("hello", protocol=1, client="e2e", token=token)
    return client


def listed(server):
    return connect(server).call("world.list")


def missing(server):
    return listed(server)["missing"]


def names(server):
    return [world["name"] for world in listed(server)["worlds"]]


def health(folder):
    with open(os.path.join(folder, "http")) as file:
        with urllib.request.urlopen(f"http://127.0.0.1:{int(file.read())}/healthz") as answer:
            return json.load(answer)


def command(server, *words):
    told = subprocess.run([os.path.join(os.path.dirname(os.environ["FOGMARCHD"]), "fogmarch"), *words, "--connect",
                           f"127.0.0.1:{server.port}"], capture_output=True, text=True,
                          env={**os.environ, "FOGMARCH_TOKEN": LOOKER})
    return told.stdout + told.stderr


def refusal(client, method, **params):
    try:
        client.call(method, **params)
    except RequestError as error:
        return error.message
    raise AssertionError(f"{method} is not refused")


def make_world(server, **params):
    admin = connect(server, TOP)
    world = admin.call("world.create", name="war", generator="open", width=32, height=32, tick_hz=20, **params)["world"]
    admin.call("team.create", world=world)
    return admin, world, admin.call("agent.spawn", world=world, team=1, cells=[1, 1, 5, 5])["agents"]


def a_server_that_does_not_let_it_in():
    """A relay with a wrong token tells its clients and its operator why it has no world."""
    with tempfile.TemporaryDirectory() as folder, Server(environment=TOKENS) as server:
        _, world, _ = make_world(server)
        flags = ["--relay-token-file", token_file(folder, "x" * len(LOOKER)), "--http", "127.0.0.1:0", "--http-port-file",
                 os.path.join(folder, "http")]
        address = f"127.0.0.1:{server.port}"
        with Server("--relay-of", address, *flags, environment=TOKENS) as relay:
            until(lambda: "relay_token_file" in missing(relay), lambda: missing(relay))
            for told in (missing(relay), refusal(connect(relay), "world.info", world=world),
                         refusal(connect(relay), "world.info", name="war"),
                         refusal(connect(relay), "subscribe", world=world), health(folder)["reason"],
                         command(relay, "worlds"), command(relay, "info"), relay.log()):
                assert address in told and "token" in told and "relay_token_file" in told, told
            assert health(folder)["status"] == "not_relayed", health(folder)
            token_file(folder)
            relay.process.send_signal(signal.SIGHUP)
            until(lambda: names(relay) == ["war"], relay.log)
            assert missing(relay) == "" and health(folder)["status"] == "ok" and health(folder)["reason"] == ""
            assert listed(relay)["worlds"][0]["halted"] == ""


def a_server_that_goes():
    """The world stays, and says why it stands still, until the server is back."""
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as journals:
        port, = free_ports(1)
        flags = ["--listen", f"127.0.0.1:{port}", "--journal-dir", journals]
        server = Server(*flags, environment=TOKENS)
        try:
            _, world, _ = make_world(server)
            with Server("--relay-of", f"127.0.0.1:{port}", "--relay-token-file", token_file(folder),
                        environment=TOKENS) as relay:
                until(lambda: names(relay) == ["war"], relay.log)
                client = connect(relay)
                client.call("subscribe", world=world)
                assert listed(relay)["worlds"][0]["halted"] == ""
                server.__exit__(None, None, None)
                until(lambda: f"127.0.0.1:{port}" in listed(relay)["worlds"][0]["halted"], lambda: listed(relay))
                assert "halted" in command(relay, "worlds") and "war stands still" in command(relay, "worlds")
                assert f"127.0.0.1:{port} is not relayed" in missing(relay), missing(relay)
                assert connect(relay).call("world.info", world=world)["halted"] != ""
                server = Server(*flags, environment=TOKENS)
                until(lambda: listed(relay)["worlds"][0]["halted"] == "" and missing(relay) == "", lambda: listed(relay))
                assert "20 Hz" in command(relay, "worlds"), command(relay, "worlds")
        finally:
            server.__exit__(None, None, None)


def relays_in_a_circle():
    """Two relays of a server that also relay each other, and one that relays itself, too: the world ends with its server's
    world. A relay that only stands below another one is fine."""
    with tempfile.TemporaryDirectory() as folder, Server(environment=TOKENS) as server:
        admin, world, _ = make_world(server)
        ports = free_ports(3)
        token = ["--relay-token-file", token_file(folder)]

        def relay(port, *others):
            above = ",".join(f"127.0.0.1:{one}" for one in others)
            return Server("--listen", f"127.0.0.1:{port}", "--relay-of", above, *token, environment=TOKENS)

        with relay(ports[0], server.port, ports[1]) as first, relay(ports[1], server.port, ports[0], ports[1]) as second, \
                relay(ports[2], ports[0]) as below:
            for one in (first, second, below):
                until(lambda: names(one) == ["war"], one.log)
            for one in (first, second):
                until(lambda: "circle" in missing(one), lambda: missing(one))
                assert "a circle of relays" in one.log(), one.log()
            assert missing(below) == "", missing(below)
            until(lambda: len(listed(below)["relays"]) == 3, lambda: listed(below))
            client = connect(below)
            client.call("subscribe", world=world)
            client.notification("keyframe")
            admin.call("world.destroy", world=world)
            for one in (first, second, below):
                until(lambda: names(one) == [], lambda: listed(one))


class Line:
    """Between a relay and its server. `change` gets each message of the server, and returns what the relay gets."""

    def __init__(self, port):
        self.target, self.change = port, lambda message: message
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            below, _ = self.listener.accept()
            above = socket.create_connection(("127.0.0.1", self.target))
            for one, other, change in ((below, above, None), (above, below, lambda message: self.change(message))):
                threading.Thread(target=self.pass_on, args=(one, other, change), daemon=True).start()

    @staticmethod
    def pass_on(one, other, change):
        unpacker = msgpack.Unpacker(raw=False, strict_map_key=False)
        try:
            while data := one.recv(1 << 16):
                unpacker.feed(data)
                other.sendall(data if change is None else b"".join(msgpack.packb(change(message)) for message in unpacker))
        except OSError:
            pass
        for end in (one, other):
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass


def a_tick_that_cannot_be():
    """One delta says that the world is a million ticks further. A relay with a delay goes on to hold everything back."""
    delay = 1000
    with tempfile.TemporaryDirectory() as folder, Server(environment=TOKENS) as server:
        admin, world, agents = make_world(server, paused=True)
        line, changed, begun = Line(server.port), [], []

        def begin(message):
            begun.extend(message[:2] == [2, "keyframe"] and [message[1]] or [])
            return message

        line.change = begin
        with Server("--relay-of", f"127.0.0.1:{line.port}", "--relay-token-file", token_file(folder),
                    "--relay-delay-ticks", str(delay), environment=TOKENS) as relay:
            until(lambda: names(relay) == ["war"] and begun, relay.log)  # or it would miss all deltas

            def change(message):
                if message[:2] == [2, "delta"] and not changed:
                    message[2][0]["tick"] += 1000000
                    changed.append(message[2][0]["tick"])
                return message

            line.change = change
            admin.call("agent.order", world=world, agents=agents, kind="move", goal=[30, 30])
            while not changed:
                admin.call("world.step", world=world, ticks=1)
            last = admin.call("world.step", world=world, ticks=delay // 2)["tick"]
            assert last < delay, last
            until(lambda: listed(relay)["worlds"][0]["tick"] < last, lambda: listed(relay)["worlds"])


run([a_server_that_does_not_let_it_in, a_server_that_goes, relays_in_a_circle, a_tick_that_cannot_be])
