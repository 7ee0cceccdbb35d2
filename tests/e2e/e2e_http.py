"""The HTTP port: health, metrics, files, and the protocol over WebSocket.

Goal    a WebSocket carries what TCP carries; pages of other sites get nothing; slow or hostile
        clients hold up nobody else; the metrics are in the format that they claim.
Method  a real server with both ports; a WebSocket client written from the RFC; promtool as judge.
"""

import http.client
import json
import os
import re
import shutil
import signal
import socket
import sqlite3
import subprocess
import tempfile
import time

from e2e_replay import chain_again, checksum
from fogmarch_server import PATIENCE, msgpack, REQUEST, Server, run, until
from websocket import BINARY, CLOSE, PING, PONG, Refused, TEXT, WebSocketClient


class WebServer(Server):
    def __init__(self, *flags, **options):
        with tempfile.NamedTemporaryFile("r") as port_file:
            super().__init__("--http", "127.0.0.1:0", "--http-port-file", port_file.name, *flags,
                             **options)
            with open(port_file.name) as file:  # the server has put another file in its place
                self.http_port = int(file.read())

    def get(self, path, method="GET", **headers):
        """Status, headers, body."""
        connection = http.client.HTTPConnection("127.0.0.1", self.http_port, timeout=PATIENCE)
        connection.putrequest(method, path)
        for name, value in headers.items():
            connection.putheader(name, value)
        connection.endheaders()
        answer = connection.getresponse()
        body = answer.read().decode()
        connection.close()
        return answer.status, dict(answer.getheaders()), body

    def open(self, hello=True, **options):
        client = WebSocketClient(self.http_port, **options)
        if hello:
            client.call("hello", protocol=1, client="e2e")
        return client


def make_world(client, **options):
    world = client.call("world.create", name="arena", generator="skirmish", width=128, height=128,
                        players=2, tick_hz=20, **options)["world"]
    team = client.call("team.create", world=world)["team"]
    return world, team


def health():
    with WebServer() as server:
        assert server.get("/livez")[::2] == (200, "ok\n")
        assert server.get("/readyz")[::2] == (200, "ok\n")
        client = server.connect()
        make_world(client)
        status, headers, body = server.get("/healthz")
        assert status == 200 and headers["content-type"] == "application/json"
        details = json.loads(body)
        assert details["status"] == "ok" and details["worlds"] == 1 and details["clients"] == 1
        assert server.get("/livez", method="POST")[0] == 405
        assert server.get("/nothing")[0] == 404


def health_and_metrics_on_a_port_of_their_own():
    """With metrics_listen the public port tells nothing about worlds, and the operators' port serves nothing else."""
    with tempfile.NamedTemporaryFile("r") as port_file:
        with WebServer("--metrics-listen", "127.0.0.1:0", "--metrics-port-file", port_file.name) as server:
            make_world(server.connect())
            for path in ("/metrics", "/healthz"):
                status, _, body = server.get(path)
                assert status == 404 and "arena" not in body and "worlds" not in body, (path, status, body)
            assert server.get("/livez")[0] == server.get("/readyz")[0] == 200
            with open(port_file.name) as file:
                public, server.http_port = server.http_port, int(file.read())
            assert public != server.http_port
            assert 'fogmarch_agents{world="arena"' in server.get("/metrics")[2]
            assert json.loads(server.get("/healthz")[2])["worlds"] == 1
            assert server.get("/livez")[0] == server.get("/readyz")[0] == 200
            assert server.get("/")[0] == server.get("/index.html")[0] == server.get("/ws")[0] == 404
            answer = exchange(server.http_port, UPGRADE)
            assert answer.startswith(b"HTTP/1.1 400 "), answer
    with tempfile.NamedTemporaryFile("r") as port_file:
        with Server("--metrics-listen", "127.0.0.1:0", "--metrics-port-file", port_file.name) as server:
            with open(port_file.name) as file:
                server.http_port = int(file.read())
            assert "fogmarch_worlds 0" in WebServer.get(server, "/metrics")[2], "without the other one"


def exchange(port, *pieces):
    """Sends pieces with a short pause between them. Returns all that comes until the server disconnects."""
    with socket.create_connection(("127.0.0.1", port), PATIENCE) as connection:
        answer = b""
        try:
            for i, piece in enumerate(pieces):
                time.sleep(0.05 if i > 0 else 0)
                connection.sendall(piece)
        except (BrokenPipeError, ConnectionResetError):
            pass  # the server has disconnected meanwhile
        try:
            while data := connection.recv(65536):
                answer += data
        except ConnectionResetError:
            pass
    return answer


def check_refusal(server, what, status, *pieces):
    """Checks that there is one whole answer with that status, and then the end of the connection."""
    answer = exchange(server.http_port, *pieces)
    head, _, body = answer.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 %d " % status), (what, answer)
    assert b"\r\nconnection: close" in head and body.endswith(b"\n"), (what, answer)
    length = int(head.split(b"content-length: ")[1].split(b"\r\n")[0])
    assert len(body) == length > 1, (what, answer)


UPGRADE = (b"GET /ws HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
           b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n")


def refusals():
    """Anything but a plain GET or HEAD gets one whole answer with a status and a sentence, whatever its body, and ends
    the connection: bytes behind it are not taken for a request."""
    get = b"GET /livez HTTP/1.1\r\nHost: a\r\n"
    with WebServer("--hello-timeout-s", "2") as server:
        for what, status, request in (
                ("a body", 405, b"POST /livez HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello"),
                ("half a body", 405, b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhe"),
                ("PUT", 405, b"PUT /metrics HTTP/1.1\r\nHost: a\r\n\r\n"),
                ("a body of GET", 400, get + b"Content-Length: 5\r\n\r\nhello"),
                ("a length that is none", 400, get + b"Content-Length: -5\r\n\r\nhello"),
                ("chunks", 400, get + b"Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n"),
                ("an upgrade to HTTP/2", 400, get + b"Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\n"
                                                    b"HTTP2-Settings: AAMAAABkAAQAAP__\r\n\r\n"),
                ("HTTP/2", 505, b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes(9)),
                ("HTTP/0.9", 400, b"GET /\r\n\r\n"),
                ("HTTP/1.2", 505, b"GET /livez HTTP/1.2\r\nHost: a\r\n\r\n"),
                ("no Host", 400, b"GET /livez HTTP/1.1\r\n\r\n"),
                ("two Hosts", 400, get + b"Host: b\r\n\r\n"),
                ("a line that goes on", 400, get + b" more\r\n\r\n"),
                ("a space before the colon", 400, get + b"X : y\r\n\r\n"),
                ("a line without a colon", 400, get + b"nothing\r\n\r\n"),
                ("a bare line feed", 400, get + b"X: y\nZ: z\r\n\r\n"),
                ("a NUL", 400, get + b"X: \0\r\n\r\n"),
                ("a target that is no path", 400, b"GET http://a/livez HTTP/1.1\r\nHost: a\r\n\r\n"),
                ("a target with a space", 400, b"GET /li vez HTTP/1.1\r\nHost: a\r\n\r\n"),
                ("an expectation", 417, get + b"Expect: 100-continue\r\n\r\n"),
                ("a long head", 431, get + b"X: " + b"y" * 5000 + b"\r\n\r\n"),
                ("a long head without an end", 431, get + b"X: " + b"y" * 100000),
                ("half a head", 408, get),
                ("/ws without an upgrade", 426, b"GET /ws HTTP/1.1\r\nHost: a\r\n\r\n"),
                ("a WebSocket elsewhere", 400, UPGRADE.replace(b"/ws", b"/wss")),
                ("another version", 426, UPGRADE.replace(b"13", b"8")),
                ("a short key", 400, UPGRADE.replace(b"dGhl", b"")),
                ("HTTP/1.0", 400, UPGRADE.replace(b"HTTP/1.1", b"HTTP/1.0")),
                ("no Connection: Upgrade", 400, UPGRADE.replace(b"Connection: Upgrade", b"Connection: close"))):
            check_refusal(server, what, status, request)
            if status != 408:
                check_refusal(server, what + ", in pieces", status, request[:30], request[30:60], request[60:])
        assert server.get("/livez")[0] == 200


def requests_in_a_row():
    """They are answered in order; a refusal ends the connection after the answers before it are sent."""
    get = b"GET /livez HTTP/1.1\r\nHost: a\r\n\r\n"
    with WebServer() as server:
        world, _ = make_world(server.connect())
        metrics = get.replace(b"livez", b"metrics").replace(b": a", b": localhost")
        last = get.replace(b"a\r\n", b"a\r\nConnection: close\r\n", 1)
        answer = exchange(server.http_port, get * 3 + metrics + get.replace(b"GET", b"HEAD") + get * 20 + last)
        assert answer.count(b"HTTP/1.1 200 OK") == 26 and answer.count(b"\r\n\r\nok\n") == 24, answer
        assert b"# HELP fogmarch_ticks_total" in answer
        for count in (1, 5):
            answer = exchange(server.http_port, get * count + b"GET /livez HTTP/1.1\r\nHost: a\r\n"
                              b"Content-Length: 5\r\n\r\nhelloGET ")
            assert answer.count(b"HTTP/1.1 200 OK") == count and answer.count(b"HTTP/1.1 400 ") == 1, answer
        answer = exchange(server.http_port, metrics + get * 5000)  # far more than the server buffers
        assert answer.startswith(b"HTTP/1.1 ") and server.get("/livez")[0] == 200


def the_request_that_hung_the_server():
    """Behind /metrics, which is answered later, comes a GET with a body. libwebsockets spun for ever on this."""
    for request in (b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n", b""):
        request += b"GET /livez HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhelloGET "
        with WebServer() as server:
            client = server.connect()
            make_world(client)
            for _ in range(5):
                with socket.create_connection(("127.0.0.1", server.http_port), PATIENCE) as connection:
                    connection.sendall(request)
                    time.sleep(0.2)  # it hung only with this pause
            client.call("ping")
            assert server.get("/livez")[0] == 200


def the_upgrade_that_killed_the_server():
    """h2c, then a DATA frame. An assertion of libwebsockets failed on this."""
    pieces = (b"GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\n"
              b"HTTP2-Settings: AAMAAABkAAQAAP__\r\n\r\n",
              b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes((0, 0, 0, 4, 0, 0, 0, 0, 0)) + bytes((0, 0, 0, 4, 1, 0, 0, 0, 0)),
              (bytes((0, 0, 5, 0, 0, 0, 0, 0, 1)) + b"hello") * 2)
    with WebServer() as server:
        for _ in range(20):
            with socket.create_connection(("127.0.0.1", server.http_port), PATIENCE) as connection:
                try:
                    for piece in pieces:
                        connection.sendall(piece)
                        time.sleep(0.02)
                except (BrokenPipeError, ConnectionResetError):
                    pass
        server.connect().call("ping")


def wrong_frames():
    """Each gets a close frame with the reason, and the connection ends."""
    mask = b"\1\2\3\4"
    with WebServer() as server:
        for what, code, frame in (
                ("text", 1003, b"\x81\x80" + mask),
                ("not masked", 1002, b"\x82\x03abc"),
                ("a kind of its own", 1002, b"\x83\x80" + mask),
                ("a bit of its own", 1002, b"\xc2\x80" + mask),
                ("the rest of nothing", 1002, b"\x80\x80" + mask),
                ("a message in a message", 1002, b"\x02\x80" + mask + b"\x82\x80" + mask),
                ("a ping in fragments", 1002, b"\x09\x80" + mask),
                ("a long ping", 1002, b"\x89\xfe\x00\x7e" + mask),
                ("a length that could be shorter", 1002, b"\x82\xfe\x00\x7d" + mask),
                ("a negative length", 1002, b"\x82\xff" + b"\xff" * 8 + mask),
                ("too much", 1009, b"\x82\xff" + (1 << 62).to_bytes(8, "big") + mask),
                ("half a close code", 1002, b"\x88\x81" + mask + b"x"),
                ("a close code that is none", 1002, b"\x88\x82" + mask + bytes((1, 0xed ^ 2)))):
            for size in (len(frame), 1):
                web = server.open()
                for i in range(0, len(frame), size):
                    web.socket.sendall(frame[i:i + size])
                assert web.disconnected() and web.close_code == code, (what, web.close_code)
        for code in (1000, 1001, 3000, 4999):  # the server echoes the client's close code
            web = server.open()
            web.send_frame(CLOSE, code.to_bytes(2, "big") + b"goodbye")
            assert web.disconnected() and web.close_code == code
        web = server.open()
        web.send_frame(CLOSE, b"")
        assert web.disconnected() and web.close_code == 0
        web = server.open()
        web.send_frame(BINARY, b"\x94\x00\x63", final=False)
        web.send_frame(PING, b"x" * 125)  # between two fragments
        web.send_frame(0, msgpack.packb("ping") + msgpack.packb([{"time": 7}]))
        frames = [web.receive_frame() for _ in range(2)]
        assert (PONG, True, b"x" * 125) in frames, frames
        assert "messages are MessagePack in binary frames, not text" in server.log()
        server.connect().call("ping")


def health_while_going_down():
    with WebServer("--grace-s", "5") as server:
        make_world(server.connect())
        reader = server.connect(receive_buffer=4096)  # never reads, so that shutdown takes a while
        for _ in range(20000):
            reader.send("world.list")
            if len(server.log()) > 1 << 20:
                break
        server.terminate()
        until(lambda: server.get("/readyz")[0] == 503, "a server that is not ready")
        assert json.loads(server.get("/healthz")[2])["status"] == "going down"
        assert server.get("/livez")[0] == 200
        reader.close()
        assert server.wait() == 0


def read_metrics(text):
    numbers = {}
    for line in text.splitlines():
        if not line.startswith("#"):
            name, _, value = line.rpartition(" ")
            assert name not in numbers, name
            numbers[name] = float(value)
    return numbers


def metrics():
    with WebServer() as server:
        client = server.connect()
        world, team = make_world(client, paused=True)
        base = client.call("world.info", world=world)["bases"]
        ids = client.call("agent.spawn", world=world, team=team, cells=base[:2])["agents"]
        client.call("agent.order", world=world, agents=ids, kind="move", goal=base[2:4])
        client.call("subscribe", world=world, team=team)
        client.call("world.step", world=world, ticks=30)
        left = server.connect()
        left.send_bytes(b"\xc1")
        assert left.disconnected()
        mute = server.connect(hello=False)
        mute.socket.shutdown(socket.SHUT_WR)
        assert mute.disconnected()
        status, headers, text = server.get("/metrics")
        assert status == 200 and headers["content-type"].startswith("text/plain; version=0.0.4")
        numbers = read_metrics(text)
        stats = client.call("stats", world=world)["world"]
        label = '{world="arena"}'
        assert numbers["fogmarch_ticks_total" + label] == 30
        assert numbers["fogmarch_moves_total" + label] == stats["moves"] > 0
        assert numbers["fogmarch_search_expansions_total" + label] == stats["expansions"] > 0
        assert numbers["fogmarch_worlds"] == 1
        info, = [name for name in numbers if name.startswith("fogmarch_build_info{")]
        assert re.fullmatch(r'fogmarch_build_info{version="[0-9.]+",commit="([0-9a-f]{12}|unknown)"}', info), info
        assert numbers['fogmarch_clients{role="admin"}'] == 1
        assert sum(value for name, value in numbers.items()
                   if name.startswith("fogmarch_clients{")) == 1
        assert numbers['fogmarch_agents{world="arena",state="moving"}'] == 1
        assert numbers['fogmarch_client_disconnects_total{reason="bad bytes"}'] == 1
        assert numbers['fogmarch_client_disconnects_total{reason="client disconnected"}'] == 1
        assert numbers['fogmarch_frame_bytes_count{kind="keyframe"}'] == 1
        deltas = numbers['fogmarch_frame_bytes_count{kind="delta"}']
        assert deltas >= 1 and deltas == numbers["fogmarch_client_delta_ticks_count"]
        assert deltas <= numbers["fogmarch_client_delta_ticks_sum"] <= 30
        sizes = numbers['fogmarch_frame_bytes_sum{kind="delta"}']
        assert sizes + numbers['fogmarch_frame_bytes_sum{kind="keyframe"}'] \
            <= numbers["fogmarch_client_tx_bytes_total"]
        for name in numbers:  # every name ends with its unit or says what it counts
            assert re.match(r"fogmarch_\w+(_seconds|_bytes|_ticks|_ratio|_total)(_bucket|_sum|_count)?(\{|$)|"
                            r"fogmarch_(agents|build_info|clients|conceding_agents|escorts|journal_failing|lanes|passing_agents|planners|stuck_agents|teams|workers|"
                            r"worlds)(\{|$)", name), name
        duration = "fogmarch_tick_duration_seconds"
        assert numbers[duration + "_count" + label] == 30
        assert numbers[duration + '_bucket{world="arena",le="+Inf"}'] == 30
        edges = [value for name, value in numbers.items() if name.startswith(duration + "_bucket")]
        assert edges == sorted(edges)
        if shutil.which("promtool"):
            check = subprocess.run(["promtool", "check", "metrics"], input=text, text=True,
                                   capture_output=True)
            assert check.returncode == 0 and not check.stderr, check.stdout + check.stderr
        else:
            print("[ SKIPPED  ] promtool: install the Debian package prometheus")


def by_label(numbers, name, label):
    """A metric's values by one of its labels, which all its lines must have."""
    values = {}
    for line, value in numbers.items():
        if line.startswith(name + "{"):
            values[re.search(label + '="([^"]*)"', line)[1]] = value
    return values


def metrics_of_searches():
    """Who searches, why, and who blocks whom: equal to what stats says, and changed by what should change it."""
    with WebServer() as server:
        client = server.connect()
        world = client.call("world.create", name="road", generator="open", width=64, height=64, paused=True,
                            occupancy="exclusive", sight_radius=12)["world"]
        team = client.call("team.create", world=world)["team"]
        client.call("team.create", world=world)  # a team that knows nothing
        client.call("agent.spawn", world=world, team=team, cells=[10, 28])  # blocks the way
        ids = []
        for x, goal, planner in ((4, 58, "dstar-lite"), (58, 4, "adaptive-astar")):
            cells = [value for y in range(24, 40) for value in (x, y)]
            ids += client.call("agent.spawn", world=world, team=team, cells=cells, planner=planner)["agents"]
            for i in range(16):
                client.call("agent.order", world=world, agents=ids[-16 + i:][:1], kind="move", goal=[goal, 24 + i])
        stats = client.call("stats", world=world)["world"]
        assert not any(stats["replans"].values()) and not any(stats["conflicts"].values()), stats
        client.call("world.step", world=world, ticks=10)
        stats = client.call("stats", world=world)["world"]
        assert stats["replans"] == {"goal": 32, "sensed": 0, "map_change": 0}, stats["replans"]
        # A wall with one gap, which the agents on the left see.
        client.call("terrain.set", world=world, set="blocked", rects=[18, 22, 1, 9, 18, 32, 1, 10])
        client.call("world.step", world=world, ticks=1)
        seen = client.call("stats", world=world)["world"]["replans"]
        assert seen["map_change"] > 0 == seen["sensed"], seen
        client.call("terrain.set", world=world, set="blocked", rects=[32, 30, 1, 4])  # where no agent has been yet
        client.call("world.step", world=world, ticks=60)
        stats = client.call("stats", world=world)["world"]
        assert stats["replans"]["sensed"] > 0, stats["replans"]
        assert all(stats["conflicts"].values()), stats["conflicts"]
        ways = stats["expansions_by_planner"]
        assert sum(ways.values()) == stats["expansions"], stats
        assert {name for name in ways if ways[name] > 0} == {"dstar-lite", "adaptive-astar"}, ways
        numbers = read_metrics(server.get("/metrics")[2])
        assert by_label(numbers, "fogmarch_planner_expansions_total", "planner") == ways
        assert by_label(numbers, "fogmarch_replans_total", "cause") == stats["replans"]
        assert by_label(numbers, "fogmarch_conflicts_total", "kind") == stats["conflicts"]
        known = numbers['fogmarch_known_cells_ratio{world="road"}']
        assert known == stats["known_cells"] / (2 * 64 * 64) and 0.2 < known <= 0.5, known


def alter_digest(path, tick):
    """Changes the digest of this tick in the journal; the checksum is made to fit."""
    with sqlite3.connect(path) as db:
        position, row = db.execute("SELECT position, bytes FROM log WHERE kind = 2 AND tick = ?", (tick,)).fetchone()
        row = row[:-8] + bytes([row[-8] ^ 1]) + row[-7:]
        db.execute("UPDATE log SET bytes = ?, checksum = ? WHERE position = ?",
                   (row, checksum(row, position, tick, 2), position))
    db.close()
    chain_again(path)


def metrics_of_wrong_digests():
    def mismatches(server, recovery, replay):
        wanted = {"recovery": recovery, "replay": replay}

        def found():
            numbers = read_metrics(server.get("/metrics")[2])
            return by_label(numbers, "fogmarch_state_hash_mismatch_total", "source")

        until(lambda: found() == wanted, lambda: f"{wanted}, not {found()}")  # scraped values are kept for a second

    with tempfile.TemporaryDirectory() as folder:
        with WebServer("--journal-dir", folder) as server:
            client = server.connect()
            world, _ = make_world(client, paused=True)
            client.call("world.step", world=world, ticks=10)
            mismatches(server, 0, 0)
            server.process.kill()  # a clean end would replace the ticks by a keyframe
            server.process.wait()
            server.process.returncode = 0  # killed by the test
        file = f"{world}-arena.journal"
        alter_digest(os.path.join(folder, file), 7)
        with WebServer("--journal-dir", folder) as server:
            client = server.connect()
            assert client.call("world.list")["worlds"] == []
            mismatches(server, 1, 0)
            replay = client.call("replay.open", file=file + ".damaged")["world"]
            assert client.call("replay.seek", world=replay, tick=10)["differences"] == 1
            mismatches(server, 1, 1)
            client.call("replay.close", world=replay)
            mismatches(server, 1, 1)


def many_scrapes_at_once():
    with WebServer() as server:
        make_world(server.connect())
        request = b"GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
        sockets = [socket.create_connection(("127.0.0.1", server.http_port), PATIENCE)
                   for _ in range(50)]
        for one in sockets:
            one.sendall(request)
        for one in sockets:
            data = b""
            while part := one.recv(1 << 16):
                data += part
            assert data.startswith(b"HTTP/1.1 200") and b"fogmarch_ticks_total" in data
            one.close()


def the_protocol_over_websocket():
    with WebServer() as server:
        web, tcp = server.open(), server.connect()
        world, team = make_world(web, paused=True)
        base = tcp.call("world.info", world=world)["bases"]
        assert web.call("world.info", world=world)["bases"] == base
        views = []
        for client in (web, tcp):
            client.call("subscribe", world=world, team=team)
        ids = web.call("agent.spawn", world=world, team=team, cells=base[:2] * 50)["agents"]
        web.call("agent.order", world=world, agents=ids, kind="move", goal=base[2:4])
        for _ in range(25):
            web.call("world.step", world=world, ticks=1)
            tcp.hear_all(world)  # so that each tick has a delta of its own, however busy the machine is
        for client in (web, tcp):
            view = []
            while not view or view[-1][1]["tick"] < 25:
                view.append(client.notification("keyframe", "delta"))
            for _, params in view:
                del params["subscription"]
                params.pop("load", None)  # measured times, which differ
            views.append(view)
        assert views[0] == views[1] and len(views[0]) > 20


def messages_cut_anywhere():
    with WebServer() as server:
        web = server.open()
        data = b"".join(msgpack.packb([REQUEST, 100 + i, "ping", [{"time": i}]]) for i in range(40))
        for i in range(0, len(data), 7):  # frames that begin and end anywhere
            web.send_frame(BINARY, data[i:i + 7])
        for i in range(40):
            assert web.answer(100 + i)["time"] == i
        middle = len(data) // 2  # one WebSocket message in two fragments
        web.send_frame(BINARY, data[:middle], final=False)
        web.send_frame(0, data[middle:])
        for i in range(40):
            assert web.answer(100 + i)["time"] == i


def large_keyframe():
    with WebServer() as server:
        client = server.connect()
        world = client.call("world.create", name="large", generator="random", width=1024, height=1024,
                            paused=True, omniscient=True)["world"]
        views = []
        for one in (client, server.open()):
            one.call("subscribe", world=world)
            views.append(one.notification("keyframe")[1])
        assert views[0]["cells"] == views[1]["cells"] and len(views[0]["cells"]) > 100000


def handshakes():
    with WebServer("--http-origins", "https://example.org, http://localhost:5173") as server:
        own = f"http://127.0.0.1:{server.http_port}"
        for origin in (None, own, "https://example.org", "http://localhost:5173"):
            server.open(origin=origin).close()
        for origin in ("http://evil.example", "null", "https://example.org.evil.example",
                       f"http://127.0.0.1:{server.http_port + 1}"):
            try:
                server.open(origin=origin)
            except Refused as refused:
                assert refused.status == 403, refused
            else:
                raise AssertionError(f"{origin} was let in")
        web = server.open()
        web.send_frame(TEXT, b"[0, 1, \"ping\", []]")
        reason = b"messages are MessagePack in binary frames, not text"
        assert web.receive_frame() == (CLOSE, True, (1003).to_bytes(2, "big") + reason)
        until(lambda: server.log().count(reason.decode()) == 1, server.log)
        # Where everybody is admin, a page may not come from a name that its owner has pointed at this address
        # (DNS rebinding).
        name = f"evil.example:{server.http_port}"
        try:
            server.open(origin=f"http://{name}", host=name)
        except Refused as refused:
            assert refused.status == 403, refused
        else:
            raise AssertionError("a name was let in")
        for name in (f"localhost:{server.http_port}", f"[::1]:{server.http_port}"):
            server.open(origin=f"http://{name}", host=name).close()
        try:
            server.open(protocol="soap")
        except Refused as refused:
            assert refused.status == 400, refused
        else:
            raise AssertionError("another subprotocol was let in")
        server.open(protocol=None).close()  # no subprotocol is fine: there is only one
        server.open(protocol="soap, fogmarch").close()
        assert server.log().count("WebSocket without the subprotocol fogmarch") == 1
        assert "origin is not allowed" in server.log()
    with WebServer(environment={"FOGMARCH_TOKEN": "a-token-for-this-test"}) as server:
        name = f"game.example:{server.http_port}"
        server.open(origin=f"http://{name}", host=name, hello=False).close()


def files():
    folder = os.path.join(os.path.dirname(os.path.abspath(__file__)))
    with WebServer("--web-root", folder) as server:
        for page in "/", "/index.html", "/play.html":
            status, _, body = server.get(page)
            assert status == 404 and "web client was not built" in body, page
        assert "web client" not in server.get("/nothing")[2]
    with tempfile.TemporaryDirectory() as folder:
        os.mkdir(os.path.join(folder, "root"))
        with open(os.path.join(folder, "root", "index.html"), "w") as file:
            file.write("<!doctype html><title>x</title>")
        os.mkdir(os.path.join(folder, "root", "x"))
        for name in ("x/a.js", ".hidden"):
            with open(os.path.join(folder, "root", name), "w") as file:
                file.write("let x = 1;")
        with open(os.path.join(folder, "secret.html"), "w") as file:
            file.write("secret")
        with WebServer("--web-root", os.path.join(folder, "root")) as server:
            status, headers, body = server.get("/")
            assert status == 200 and body.startswith("<!doctype html>")
            assert headers["content-type"].startswith("text/html")
            assert "script-src 'self'" in headers["content-security-policy"]
            assert server.get("/index.html?x=1")[2] == body and server.get("/x/a.js")[0] == 200
            assert server.get("/x/a.js")[1]["content-type"].startswith("text/javascript")
            assert server.get("/x")[0] == server.get("/x/")[0] == server.get("/.hidden")[0] == 404
            assert server.get("/", method="HEAD") == (200, headers, "")
            etag = headers["etag"]
            for known, wanted in ((etag, 304), (f'"x", {etag}', 304), ('"x"', 200)):
                status, headers, body = server.get("/", **{"If-None-Match": known})
                assert (status, headers["etag"], bool(body)) == (wanted, etag, wanted == 200), (known, status)
            with open(os.path.join(folder, "root", "index.html"), "w") as file:
                file.write("<!doctype html><title>y</title>")
            server.process.send_signal(signal.SIGHUP)  # rereads the files
            until(lambda: "<title>y" in server.get("/")[2], "the new file")
            assert server.get("/", **{"If-None-Match": etag})[0] == 200
            for path in ("/../secret.html", "/%2e%2e/secret.html", "/..%2fsecret.html",
                         "/x/../../secret.html", "//../secret.html", "/..\\secret.html"):
                status, _, body = server.get(path)
                assert "secret" not in body and status in (400, 403, 404), (path, status, body)


def rude_clients():
    with WebServer("--hello-timeout-s", "3", "--http-connections-max", "40") as server:
        good = server.open()
        text = server.open()
        text.send_frame(TEXT, b"hello")
        assert text.disconnected() and text.close_code == 1003, text.close_code
        mute = server.open(hello=False)
        assert mute.disconnected()
        bad = server.open()
        bad.send_bytes(b"\xdd\xff\xff\xff\xff")
        assert bad.disconnected()
        huge = server.open()  # announces 2^62 bytes
        huge.socket.sendall(b"\x82\xff" + (1 << 62).to_bytes(8, "big") + b"abcd" + b"\0" * 1000)
        assert huge.disconnected()
        half_open = [socket.create_connection(("127.0.0.1", server.http_port))
                     for _ in range(60)]  # more than are allowed; none sends a complete header
        for one in half_open:
            try:
                one.sendall(b"GET /livez HTTP/1.1\r\nHost: ")
            except OSError:
                pass
        good.call("ping")
        for one in half_open:
            one.close()

        def lives():
            try:
                return server.get("/livez")[0] == 200
            except (OSError, http.client.HTTPException):
                return False

        until(lives, "room for one more")
        assert server.rss() < 200 << 20 or not server.memory_tells()


def slow_reader():
    """A client that does not read gets merged deltas and holds nobody up."""
    with WebServer("--session-unsent-max", "65536") as server:
        fast = server.connect()
        world, team = make_world(fast)
        base = fast.call("world.info", world=world)["bases"]
        slow = server.open(receive_buffer=4096)
        slow.call("subscribe", world=world)
        slow.notification("keyframe")
        ids = fast.call("agent.spawn", world=world, team=team, cells=base[:2] * 2000)["agents"]
        tick = fast.call("world.info", world=world)["tick"]
        goals = [base[2:4], base[:2]]
        end = time.monotonic() + PATIENCE
        while fast.call("stats")["server"]["deltas_merged"] == 0:
            fast.call("agent.order", world=world, agents=ids, kind="move", goal=goals[0])
            goals.reverse()
            assert time.monotonic() < end
            time.sleep(0.05)
        assert fast.call("world.info", world=world)["tick"] > tick
        while slow.notification("delta", "keyframe")[1]["tick"] <= tick:
            pass  # it goes on as soon as it reads


if __name__ == "__main__":
    run([health, health_and_metrics_on_a_port_of_their_own, refusals, requests_in_a_row, the_request_that_hung_the_server, the_upgrade_that_killed_the_server,
         wrong_frames, health_while_going_down, metrics, metrics_of_searches, metrics_of_wrong_digests,
         many_scrapes_at_once, the_protocol_over_websocket, messages_cut_anywhere, large_keyframe, handshakes, files,
         rude_clients, slow_reader])
