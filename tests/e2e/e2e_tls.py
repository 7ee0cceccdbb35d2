"""TLS on the TCP port and on the HTTP port.

Goal    with a certificate both ports speak TLS 1.2 and 1.3 and nothing else; SIGHUP loads a new
        certificate without ending a session; a client that breaks TLS harms nobody else.
Method  a real server, Python's ssl on the other side, certificates made by openssl on the spot.
"""

import asyncio
import http.client
import os
import random
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import tempfile
import warnings

from fogmarch_server import Client, PATIENCE, Server, msgpack, run, seed, until
from mirror import Mirror
from secure import Secure, make_certificate
from websocket import WebSocketClient

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "../../clients/python"))
import fogmarch  # noqa: E402

warnings.simplefilter("ignore", DeprecationWarning)  # about TLS 1.1, which the server must refuse
if shutil.which("openssl") is None:
    print("[ SKIPPED  ] install the Debian package openssl")
    sys.exit(77)


class Case:
    """A server with a certificate, and the folder of both."""

    def __init__(self, *flags, **options):
        self.folder = tempfile.mkdtemp(prefix="fogmarch-tls-")
        self.ca, key = make_certificate(self.folder)
        self.server = Server("--tls-certificate", self.ca, "--tls-key", key, *flags, **options)

    def connect(self, hello=True, **options):
        client = Secure(self.server.port, self.ca, **options)
        if hello:
            client.call("hello", protocol=1, client="tls")
        return client

    def __enter__(self):
        self.server.__enter__()
        return self

    def __exit__(self, *details):
        try:
            self.server.__exit__(*details)
        finally:
            shutil.rmtree(self.folder)


def wait_for_log(server, text, count=1):
    until(lambda: server.log().count(text) >= count, lambda: f"{text} in the log:\n{server.log()}")


def versions():
    with Case() as case:
        for version in (ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3):
            client = case.connect(version=version)
            assert client.socket.version() == version.name.replace("_", "."), client.socket.version()
            assert client.call("ping", time=5)["time"] == 5
        old = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        old.check_hostname, old.verify_mode = False, ssl.CERT_NONE
        old.set_ciphers("ALL:@SECLEVEL=0")
        old.minimum_version = old.maximum_version = ssl.TLSVersion.TLSv1_1
        plain = socket.create_connection(("127.0.0.1", case.server.port), PATIENCE)
        try:
            old.wrap_socket(plain)
            raise AssertionError("TLS 1.1 was accepted")
        except (ssl.SSLError, OSError):
            pass
        wait_for_log(case.server, "TLS handshake failed")
        case.connect().call("ping")


def plaintext_is_refused():
    with Case() as case:
        good = case.connect()
        client = Client(case.server.port)
        try:
            client.send("hello", protocol=1)
            assert client.disconnected() and not client.answers
        except OSError:
            pass
        wait_for_log(case.server, "plaintext refused: this port speaks TLS only")
        good.call("ping")


def streams():
    """Large messages both ways: keyframes, maps, and requests in small pieces."""
    source = random.Random(seed())
    with Case() as case:
        admin = case.connect()
        world = admin.call("world.create", name="w", generator="open", width=512, height=512,
                           paused=True, omniscient=True)["world"]
        team = admin.call("team.create", world=world)["team"]
        admin.call("agent.spawn", world=world, team=team,
                   cells=[source.randrange(512) for _ in range(400)])
        reader = case.connect()
        reader.call("subscribe", world=world, team=team)
        mirror = Mirror()
        mirror.apply(*reader.notification("keyframe"))
        ids = list(mirror.agents)
        for _ in range(20):
            admin.call("agent.order", world=world, agents=ids, kind="move",
                       goal=[source.randrange(512), source.randrange(512)])
            tick = admin.call("world.step", world=world, ticks=3)["tick"]
            while mirror.tick < tick:
                mirror.apply(*reader.notification("delta", "keyframe"))
        fresh = case.connect()
        fresh.call("subscribe", world=world, team=team)
        other = Mirror()
        other.apply(*fresh.notification("keyframe"))
        assert mirror.state() == other.state()
        data = msgpack.packb([0, 9000, "ping", [{"time": 3, "ballast": "x" * 100000}]])
        while data:
            size = source.randrange(1, 30000)
            admin.send_bytes(data[:size])
            data = data[size:]
        assert admin.answer(9000)["time"] == 3


def reload():
    with Case() as case:
        before = case.connect()
        first = ssl.get_server_certificate(("127.0.0.1", case.server.port))
        make_certificate(case.folder, "renewed")
        assert ssl.get_server_certificate(("127.0.0.1", case.server.port)) == first
        case.server.process.send_signal(signal.SIGHUP)
        wait_for_log(case.server, "certificate read again")
        second = ssl.get_server_certificate(("127.0.0.1", case.server.port))
        assert second != first
        before.call("ping")
        with open(case.ca, "w") as file:
            file.write("no certificate\n")
        case.server.process.send_signal(signal.SIGHUP)
        wait_for_log(case.server, "certificate kept as it was")
        assert ssl.get_server_certificate(("127.0.0.1", case.server.port)) == second
        before.call("ping")


def broken_tls():
    """Records that are cut, changed or made up, before and after the handshake."""
    source = random.Random(seed())
    with Case("--hello-timeout-s", "2") as case:
        good = case.connect()
        for _ in range(150):
            plain = socket.create_connection(("127.0.0.1", case.server.port), PATIENCE)
            plain.sendall(b"\x16" + source.randbytes(source.randrange(0, 400)))
            plain.close()
        for _ in range(40):
            client = case.connect(hello=source.random() < 0.5)
            client.plain = client.socket.detach()
            raw = socket.socket(fileno=client.plain)
            raw.sendall(bytes([0x17, 3, 3]) + source.randbytes(source.randrange(1, 300)))
            raw.close()
        mute = socket.create_connection(("127.0.0.1", case.server.port), PATIENCE)
        half = socket.create_connection(("127.0.0.1", case.server.port), PATIENCE)
        half.sendall(b"\x16\x03\x01\x02\x00\x01\x00")
        for silent in (mute, half):  # the deadline for hello disconnects them
            try:
                assert silent.recv(100) == b""
            except ConnectionResetError:
                pass
        good.call("ping")
        assert case.connect().call("ping")["time"] == 0


class WebCase(Case):
    """The same with an HTTP port."""

    def __init__(self, *flags):
        with tempfile.NamedTemporaryFile("r") as port_file:
            super().__init__("--http", "127.0.0.1:0", "--http-port-file", port_file.name, *flags)
            with open(port_file.name) as file:  # the server has put another file in its place
                self.http_port = int(file.read())

    def get(self, path, version=None):
        """Status and body, over https."""
        context = ssl.create_default_context(cafile=self.ca)
        if version is not None:
            context.minimum_version = context.maximum_version = version
        connection = http.client.HTTPSConnection("localhost", self.http_port, timeout=PATIENCE,
                                                 context=context)
        connection.request("GET", path)
        answer = connection.getresponse()
        body = answer.read().decode()
        connection.close()
        return answer.status, body

    def open(self):
        client = WebSocketClient(self.http_port, ca=self.ca)
        client.call("hello", protocol=1, client="wss")
        return client


def https():
    with WebCase() as case:
        for version in (ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3):
            assert case.get("/livez", version) == (200, "ok\n")
        assert "fogmarch_worlds 0" in case.get("/metrics")[1]
        old = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        old.check_hostname, old.verify_mode = False, ssl.CERT_NONE
        old.set_ciphers("ALL:@SECLEVEL=0")
        old.minimum_version = old.maximum_version = ssl.TLSVersion.TLSv1_1
        plain = socket.create_connection(("127.0.0.1", case.http_port), PATIENCE)
        try:
            old.wrap_socket(plain)
            raise AssertionError("TLS 1.1 was accepted")
        except OSError:
            pass
        clear = socket.create_connection(("127.0.0.1", case.http_port), PATIENCE)
        clear.sendall(b"GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n")
        answer = b""
        try:
            while data := clear.recv(1000):
                answer += data
        except ConnectionResetError:
            pass
        assert b"HTTP" not in answer and b"ok" not in answer, answer
        assert case.get("/livez")[0] == 200


def wss():
    """wss carries what TCP carries, even half a million bytes at once."""
    with WebCase() as case:
        web, tcp = case.open(), case.connect()
        world = web.call("world.create", name="w", generator="random", width=1024, height=1024,
                         paused=True, omniscient=True)["world"]
        views = []
        for client in (web, tcp):
            client.call("subscribe", world=world)
            views.append(client.notification("keyframe")[1])
        assert views[0]["cells"] == views[1]["cells"] and len(views[0]["cells"]) > 100000
        web.send_bytes(msgpack.packb([0, 9000, "ping", [{"time": 3, "ballast": "x" * 300000}]]))
        assert web.answer(9000)["time"] == 3
        team = web.call("team.create", world=world)["team"]
        web.call("agent.spawn", world=world, team=team, cells=[500, 500], place="nearest")
        tick = web.call("world.step", world=world, ticks=3)["tick"]
        assert web.notification("delta")[1]["tick"] <= tick


def https_reload():
    with WebCase() as case:
        address = ("127.0.0.1", case.http_port)
        web = case.open()
        first = ssl.get_server_certificate(address)
        make_certificate(case.folder, "renewed")
        case.server.process.send_signal(signal.SIGHUP)
        wait_for_log(case.server, "certificate read again")
        second = ssl.get_server_certificate(address)
        assert second != first and case.get("/livez")[0] == 200
        with open(case.ca, "w") as file:
            file.write("no certificate\n")
        case.server.process.send_signal(signal.SIGHUP)
        wait_for_log(case.server, "certificate kept as it was")
        assert ssl.get_server_certificate(address) == second
        web.call("ping")


def idle_sessions_are_small():
    """16 KiB each without the kernel's part, nearly all of it OpenSSL's."""
    count = 400
    with Case("--sessions-max", "1024") as case:
        if not case.server.memory_tells():
            return
        clients = [case.connect() for _ in range(32)]  # one-time allocations do not count
        before = case.server.rss()
        clients += [case.connect() for _ in range(count)]
        size = (case.server.rss() - before) / count
        assert size < 17408, f"an idle TLS session takes {size:.0f} bytes"
        for client in clients:
            client.close()


def bad_files():
    folder = tempfile.mkdtemp(prefix="fogmarch-tls-")
    certificate, key = make_certificate(folder)
    other = os.path.join(folder, "other")
    os.mkdir(other)
    _, wrong_key = make_certificate(other)
    for flags in (["--tls-certificate", "/nonexistent"], ["--tls-key", key],
                  ["--tls-certificate", certificate],
                  ["--tls-certificate", certificate, "--tls-key", wrong_key]):
        try:
            with Server(*flags):
                raise AssertionError(f"started with {flags}")
        except AssertionError as error:
            assert "cannot speak TLS" in str(error), error
    both = os.path.join(folder, "both.pem")
    with open(both, "w") as file:
        for path in (certificate, key):
            with open(path) as part:
                file.write(part.read())
    with Server("--tls-certificate", both) as server:
        client = Secure(server.port, certificate)
        client.call("hello", protocol=1)
    shutil.rmtree(folder)


def command_line():
    """The C client and `fogmarch`."""
    program = os.path.join(os.path.dirname(os.environ["FOGMARCHD"]), "fogmarch")
    with Case("--tick-hz", "20") as case:
        port = case.server.port

        def fogmarch(*arguments, address="localhost", environment=None):
            return subprocess.run([program, "--connect", f"{address}:{port}", *arguments],
                                  capture_output=True, text=True, timeout=PATIENCE, check=False,
                                  env={**os.environ, **(environment or {})})

        for address in ("localhost", "127.0.0.1"):
            assert fogmarch("ping", "--tls-ca", case.ca, address=address).returncode == 0
        assert fogmarch("ping", environment={"FOGMARCH_TLS_CA": case.ca}).returncode == 0
        untrusted = fogmarch("ping", "--tls")
        assert untrusted.returncode == 1 and "certificate" in untrusted.stderr, untrusted.stderr
        plain = fogmarch("ping")
        assert plain.returncode == 1, "plaintext was answered"
        assert "if it speaks TLS: --tls" in plain.stderr, plain.stderr
        missing = fogmarch("ping", "--tls-ca", "/nonexistent")
        assert missing.returncode == 1 and "/nonexistent: No such file or dir" in missing.stderr, missing.stderr
        assert fogmarch("create", "w", "--generate", "open", "--tls-ca", case.ca).returncode == 0
        worlds = fogmarch("worlds", "--tls-ca", case.ca, "--json")
        assert '"name":"w"' in worlds.stdout.replace(" ", ""), worlds
    with Server() as server:  # TLS to a server without TLS
        done = subprocess.run([program, "--connect", f"127.0.0.1:{server.port}", "ping", "--tls-ca",
                               "/etc/hostname"], capture_output=True, text=True, check=False)
        assert done.returncode == 1, done
        done = subprocess.run([program, "--connect", f"127.0.0.1:{server.port}", "ping", "--tls"],
                              capture_output=True, text=True, check=False)
        assert done.returncode == 1 and "which may not speak it" in done.stderr, done


def python_library():
    async def play(case):
        address = f"localhost:{case.server.port}"
        for options in ({"ca_file": case.ca}, {"ssl": ssl.create_default_context(cafile=case.ca)}):
            async with await fogmarch.connect(address, **options) as client:
                assert (await client.ping(time=4))["time"] == 4
        for options in ({"ssl": True}, {}):
            try:
                await asyncio.wait_for(fogmarch.connect(address, **options), PATIENCE)
            except (OSError, fogmarch.ConnectionEnded):
                continue
            raise AssertionError(f"connected with {options}")

    with Case() as case:
        asyncio.run(play(case))


def end():
    """The last messages reach a client over TLS, too, and the session ends with a close_notify."""
    with Case() as case:
        client = case.connect()
        case.server.terminate()
        assert client.notification("going_down")
        client.disconnected()
        assert case.server.wait() == 0


if __name__ == "__main__":
    run([versions, plaintext_is_refused, streams, reload, broken_tls, https, wss, https_reload,
         idle_sessions_are_small, bad_files, command_line, python_library, end])
