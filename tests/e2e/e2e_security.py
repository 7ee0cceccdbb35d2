"""Who gets in, and who can lock others out: tokens that are wrong, expired or guessed; proxies; what
--check-config checks; who may use a folder and read its files.

Method: a real server, attacked by somebody who can reach its ports, its folder or its proxy.
"""

import base64
import os
import signal
import socket
import ssl
import stat
import struct
import subprocess
import tempfile
import time

from fogmarch_server import PATIENCE, Client, RequestError, Server, run, until

SECRET = "configured-secret-of-an-admin"
FOGMARCH = os.path.join(os.path.dirname(os.environ["FOGMARCHD"]), "fogmarch")


def hello(client, **fields):
    """The role that hello gives, or the name of its error."""
    try:
        return client.call("hello", protocol=1, **fields)["role"]
    except RequestError as error:
        return error.name


def role_of(server, **fields):
    client = Client(server.port)
    try:
        return hello(client, **fields)
    finally:
        client.close()


def make_seat(admin):
    world = admin.call("world.create", name="w", generator="open", width=16, height=16)["world"]
    team = admin.call("team.create", world=world)["team"]
    return world, team


# ---- tokens --------------------------------------------------------------------------------------

def wrong_tokens_are_refused_everywhere():
    """Even where no token is needed: a client that shows a wrong one does not become admin."""
    with Server() as server:
        assert role_of(server) == "admin", "loopback without tokens"
        assert role_of(server, token="") == "admin", "an empty one is none"
        for token in ("x", "wrong-token-of-16-bytes", base64.urlsafe_b64encode(bytes(32)).decode().rstrip("=")):
            assert role_of(server, token=token) == "denied", token
    with Server(environment={"FOGMARCH_TOKEN": SECRET}) as server:
        assert role_of(server) == "denied" and role_of(server, token=SECRET + "x") == "denied"
        assert role_of(server, token=SECRET) == "admin"


def a_seat_never_comes_back_as_admin():
    """A seat's page keeps its token and its resume token. After a restart the server knows neither."""
    with Server() as server:
        admin = server.connect()
        world, team = make_seat(admin)
        token = admin.call("token.create", role="player", world=world, team=team)["token"]
        page = Client(server.port)
        resume = page.call("hello", protocol=1, token=token)["resume"]
    with Server() as server:
        assert role_of(server, token=token) == "denied"
        assert role_of(server, resume=resume) == "denied"
        assert role_of(server, resume=resume, token=token) == "denied"
        assert role_of(server) == "admin"


def tokens_expire():
    with tempfile.TemporaryDirectory() as folder:
        with Server("--journal-dir", folder) as server:
            admin = server.connect()
            world, team = make_seat(admin)
            lasting = admin.call("token.create", role="player", world=world, team=team, expires_s=3600)
            brief = admin.call("token.create", role="observer", expires_s=2)
            ever = admin.call("token.create", role="debug")
            assert admin.refused("token.create", role="debug", expires_s=0) == "bad_field"
            client = Client(server.port)
            assert hello(client, token=brief["token"]) == "observer"
            listed = {entry["number"]: entry for entry in admin.call("token.list")["tokens"]}
            assert set(listed) == {lasting["number"], brief["number"], ever["number"]}, listed
            seat = listed[lasting["number"]]
            assert (seat["role"], seat["world"], seat["team"]) == ("player", world, team), seat
            assert 3500 < seat["expires_s"] <= 3600 and "used_s" not in seat, seat
            assert "expires_s" not in listed[ever["number"]] and "used_s" in listed[brief["number"]], listed
            assert client.disconnected(), "its session ends with it"
            until(lambda: len(admin.call("token.list")["tokens"]) == 2, "the end of a token")
            assert role_of(server, token=brief["token"]) == "denied"
            assert role_of(server, token=ever["token"]) == "debug"
            text = subprocess.run([FOGMARCH, "tokens", "--connect", f"127.0.0.1:{server.port}"], capture_output=True, text=True,
                                  timeout=PATIENCE)
            assert text.returncode == 0 and "player" in text.stdout and "never" in text.stdout, text
        with Server("--journal-dir", folder) as server:
            admin = server.connect()
            listed = {entry["number"]: entry for entry in admin.call("token.list")["tokens"]}
            assert set(listed) == {lasting["number"], ever["number"]}, "kept over a restart, and the expired one is gone"
            assert listed[lasting["number"]]["expires_s"] <= 3600 and "used_s" in listed[ever["number"]], listed
            assert role_of(server, token=lasting["token"]) == "player"


def ledgers_of_older_programs():
    """Format 1 has neither times nor uses."""
    import sqlite3
    with tempfile.TemporaryDirectory() as folder:
        with Server("--journal-dir", folder) as server:
            token = server.connect().call("token.create", role="debug")["token"]
        with sqlite3.connect(os.path.join(folder, "server.db")) as db:
            db.execute("ALTER TABLE tokens DROP COLUMN expires")
            db.execute("ALTER TABLE tokens DROP COLUMN used")
            db.execute("PRAGMA user_version=1")
        db.close()
        with Server("--journal-dir", folder) as server:
            admin = server.connect()
            assert role_of(server, token=token) == "debug"
            admin.call("token.create", role="observer", expires_s=1000)
        with Server("--journal-dir", folder) as server:
            assert len(server.connect().call("token.list")["tokens"]) == 2
            assert role_of(server, token=token) == "debug"


def guessing_locks_out_nobody_else():
    """Wrong tokens lock out possible guessers, but not clients whose tokens cannot be guessed."""
    with Server("--auth-failures-per-minute", "4", environment={"FOGMARCH_TOKEN": SECRET}) as server:
        admin = Client(server.port)
        assert hello(admin, token=SECRET) == "admin"
        made = admin.call("token.create", role="observer")["token"]
        client = Client(server.port)
        resume = client.call("hello", protocol=1, token=SECRET)["resume"]
        for _ in range(20):
            assert role_of(server) == "denied", "who shows none guesses none"
        for i in range(8):
            role_of(server, token=f"guessed-token-number-{i}")
        assert role_of(server, token=SECRET) == "busy"
        assert role_of(server, token="guessed-token-number-9") == "busy"
        assert role_of(server, token=made) == "observer", "drawn by the server"
        assert role_of(server, resume=resume) == "admin", "signed by it"
        ended = admin.call("token.create", role="observer")
        client = Client(server.port)
        resume = client.call("hello", protocol=1, token=ended["token"])["resume"]
        admin.call("token.revoke", number=ended["number"])
        assert role_of(server, resume=resume, token=SECRET) == "busy", "nobody guesses beside it"


# ---- proxies -------------------------------------------------------------------------------------

def version_2(peer, command=0x21, more=b""):
    source = socket.inet_pton(socket.AF_INET6 if ":" in peer else socket.AF_INET, peer)
    body = source + bytes(len(source)) + struct.pack(">HH", 1, 2) + more
    family = 0x21 if ":" in peer else 0x11
    return b"\r\n\r\n\0\r\nQUIT\n" + bytes([command, family]) + struct.pack(">H", len(body)) + body


def version_1(peer):
    return f"PROXY TCP{'6' if ':' in peer else '4'} {peer} 192.0.2.1 1000 2000\r\n".encode()


def behind(server, head, pieces=1, **fields):
    client = Client(server.port)
    step = max(1, len(head) // pieces)
    for at in range(0, len(head), step):
        client.send_bytes(head[at:at + step])
        if pieces > 1:
            time.sleep(0.01)
    try:
        return hello(client, **fields), client
    except (AssertionError, ConnectionError):
        return "disconnected", client


def proxies_say_for_whom_they_are():
    flags = ("--trusted-proxies", "10.0.0.0/8, 127.0.0.1", "--auth-failures-per-minute", "4",
             "--sessions-per-address-max", "3")
    with Server(*flags, environment={"FOGMARCH_TOKEN": SECRET}) as server:
        for head in (version_2("203.0.113.7"), version_1("203.0.113.8"), version_2("2001:db8::7"),
                     version_1("2001:db8:1::8"), version_2("203.0.113.9", more=b"\x04\0\x03abc"),
                     version_2("203.0.113.9", command=0x20), b"PROXY UNKNOWN\r\n"):
            for pieces in (1, 7):
                role, client = behind(server, head, pieces, token=SECRET)
                assert role == "admin", (role, head)
                client.close()
        assert "peer=203.0.113.7" in server.log() and "peer=2001:db8::7" in server.log(), server.log()
        for _ in range(10):
            behind(server, version_2("203.0.113.66"), token="guessed-token-of-a-stranger")[1].close()
        assert behind(server, version_2("203.0.113.66"), token=SECRET)[0] == "busy"
        assert behind(server, version_2("203.0.113.67"), token=SECRET)[0] == "admin", "another one behind the proxy"
        kept = [behind(server, version_1("203.0.113.70"), token=SECRET) for _ in range(4)]
        assert [role for role, _ in kept] == ["admin"] * 3 + ["disconnected"], kept
        for wrong in (b"\r\n\r\n\0\r\nQUIT\n\x31\x11\0\x0c" + bytes(12), b"PROXY TCP4 nobody 1 2 3\r\n",
                      b"PROXY " + b"x" * 200, version_2("203.0.113.7")[:14] + b"\xff\xff"):
            assert behind(server, wrong, token=SECRET)[0] == "disconnected", wrong
        assert role_of_or_disconnected(server) == "disconnected", "one that says nothing of the kind"
    with Server("--trusted-proxies", "127.0.0.1") as server:
        assert behind(server, version_2("203.0.113.7"))[0] == "denied", "not on this machine"
        assert behind(server, version_2("127.0.0.1"))[0] == "admin"
        assert behind(server, version_2("203.0.113.7", command=0x20))[0] == "admin", "the proxy itself, which is here"
        for head in (b"PROXY UNKNOWN\r\n", b"\r\n\r\n\0\r\nQUIT\n\x21\0\0\0", b"\r\n\r\n\0\r\nQUIT\n\x21\x31\0\x02/a"):
            assert behind(server, head)[0] == "denied", "nobody knows where that client is"
    with Server("--trusted-proxies", "192.0.2.0/24") as server:
        assert behind(server, version_2("203.0.113.7"))[0] == "disconnected", "who is not trusted cannot say who it is"
        assert role_of(server) == "admin"


def role_of_or_disconnected(server):
    try:
        return role_of(server, token=SECRET)
    except (AssertionError, ConnectionError):
        return "disconnected"


def proxies_of_the_http_port():
    with tempfile.TemporaryDirectory() as folder:
        port_file = os.path.join(folder, "http")
        with Server("--trusted-proxies", "127.0.0.1", "--http", "127.0.0.1:0", "--http-port-file", port_file,
                    "--hello-timeout-s", "3") as server:
            port = int(until(lambda: os.path.exists(port_file) and open(port_file).read(), "the port"))

            def get(head, path="/livez"):
                with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE) as client:
                    client.sendall(head + f"GET {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n".encode())
                    data = b""
                    while more := client.recv(65536):
                        data += more
                    return data.split(b" ")[1] if data else b""

            assert get(version_2("203.0.113.7")) == b"200"
            assert get(version_2("203.0.113.7"), "/metrics") == b"403", "not on this machine"
            assert get(b"") in (b"", b"400")
            silent = socket.create_connection(("127.0.0.1", port), timeout=PATIENCE)
            assert silent.recv(1) == b"", "who says nothing goes after hello_timeout_s"


# ---- pages ---------------------------------------------------------------------------------------

def metrics_are_for_no_web_page():
    """DNS rebinding: a page whose name resolves to 127.0.0.1 after it is loaded sends that name as Host."""
    with tempfile.TemporaryDirectory() as folder:
        port_file = os.path.join(folder, "http")
        with Server("--http", "127.0.0.1:0", "--http-port-file", port_file) as server:
            port = int(until(lambda: os.path.exists(port_file) and open(port_file).read(), "the port"))

            def get(path, host):
                with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE) as client:
                    client.sendall(f"GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n".encode())
                    return client.recv(65536).split(b" ")[1]

            for path in ("/metrics", "/healthz"):
                for host in (f"127.0.0.1:{port}", "localhost", "[::1]:80", "10.1.2.3"):
                    assert get(path, host) == b"200", (path, host)
                for host in ("evil.example", f"evil.example:{port}", "localhost.evil.example", "127.0.0.1.evil.example"):
                    assert get(path, host) == b"403", (path, host)
            assert get("/livez", "evil.example") == b"200"


# ---- files and rights ----------------------------------------------------------------------------

def check_config(*flags, environment=None):
    done = subprocess.run([os.environ["FOGMARCHD"], "--check-config", *flags], capture_output=True, text=True,
                          timeout=PATIENCE, env={**os.environ, **(environment or {})})
    return done.returncode, done.stderr


def make_certificate(folder, name):
    certificate, key = os.path.join(folder, name + ".pem"), os.path.join(folder, name + ".key")
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=localhost", "-days", "2",
                    "-keyout", key, "-out", certificate], check=True, capture_output=True)
    return certificate, key


def check_config_reads_the_files():
    with tempfile.TemporaryDirectory() as folder:
        certificate, key = make_certificate(folder, "one")
        _, other = make_certificate(folder, "two")
        assert check_config("--tls-certificate", certificate, "--tls-key", key)[0] == 0
        for flags, words in ((("--tls-certificate", certificate, "--tls-key", other), "mismatch"),
                             (("--tls-certificate", folder + "/none", "--tls-key", key), "none"),
                             (("--tls-certificate", certificate), "one.pem: has no private key"),
                             (("--tls-certificate", key, "--tls-key", key), "tls-certificate"),
                             (("--tls-key", key), "tls-key"),
                             (("--journal-dir", folder + "/none"), f"--journal-dir: {folder}/none: No such file"),
                             (("--journal-dir", key), f"--journal-dir: {key}: Not a directory"),
                             (("--web-root", folder + "/none"), f"--web-root: {folder}/none: No such file"),
                             (("--relay-of", "a:1", "--relay-token-file", folder + "/none"),
                              f"relay_token_file: '{folder}/none': No such file"),
                             (("--relay-of", "a:1", "--relay-token-file", os.devnull),
                              "relay_token_file: '/dev/null' has no first line"),
                             (("--relay-of", "a:1", "--relay-ca-file", folder + "/none"),
                              f"relay_ca_file: '{folder}/none' cannot be used: No such file"),
                             (("--follow", "a:1", "--journal-dir", folder, "--follow-token-file", folder + "/none"),
                              f"follow_token_file: '{folder}/none': No such file"),
                             (("--follow", "a:1", "--journal-dir", folder, "--follow-ca-file", folder + "/none"),
                              f"fogmarchd: follow_ca_file: '{folder}/none' cannot be used: No such file")):
            code, errors = check_config(*flags)
            assert code != 0 and words in errors, (flags, code, errors)
        tokens = os.path.join(folder, "tokens")
        for text, words in (("secret\n", "16 to 256"), ("admin short\n", "16 to 256"), ("observer\n", "16 to 256")):
            with open(tokens, "w") as file:
                file.write(text)
            code, errors = check_config("--token-file", tokens)
            assert code != 0 and words in errors and "short" not in errors, (text, errors)
        with open(tokens, "w") as file:
            file.write(SECRET + "\n")
        for mode, words in ((0o600, ""), (0o640, ""), (0o660, "group can write"), (0o644, "every user")):
            os.chmod(tokens, mode)
            code, errors = check_config("--token-file", tokens)
            assert code == 0 and ("token_file" in errors) == (words != "") and words in errors, (oct(mode), errors)
        with Server("--token-file", tokens) as server:
            assert "token file is open to others" in server.log()
        os.chmod(tokens, 0o600)
        with Server("--token-file", tokens) as server:
            assert "token file is open to others" not in server.log()
            os.chmod(tokens, 0o604)
            server.process.send_signal(signal.SIGHUP)
            until(lambda: "token file is open to others" in server.log(), "a warning")


def root_is_warned():
    with Server() as server:
        assert ("runs as root" in server.log()) == (os.geteuid() == 0)


def one_server_uses_a_folder():
    """Even if files are removed from it."""
    with tempfile.TemporaryDirectory() as folder:
        with Server("--journal-dir", folder) as server:
            server.connect().call("world.create", name="w", generator="open", width=8, height=8)
            for name in os.listdir(folder):
                mode = os.stat(os.path.join(folder, name)).st_mode
                assert stat.S_IMODE(mode) == 0o600, (name, oct(mode))
                if not name.startswith("1-w"):
                    os.remove(os.path.join(folder, name))
            second = subprocess.run([os.environ["FOGMARCHD"], "--listen", "127.0.0.1:0", "--journal-dir", folder],
                                    capture_output=True, text=True, timeout=PATIENCE)
            assert second.returncode == 1 and "another server uses this folder" in second.stderr, second


def no_cbc_in_tls_1_2():
    with tempfile.TemporaryDirectory() as folder:
        certificate, key = make_certificate(folder, "one")
        with Server("--tls-certificate", certificate, "--tls-key", key) as server:
            def speaks(ciphers):
                context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
                context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
                context.maximum_version = ssl.TLSVersion.TLSv1_2
                context.set_ciphers(ciphers + ":@SECLEVEL=0")
                try:
                    with socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE) as plain:
                        with context.wrap_socket(plain) as secret:
                            return secret.cipher()[0]
                except (ssl.SSLError, ConnectionError):
                    return None

            assert "GCM" in speaks("ECDHE+AESGCM") and "CHACHA20" in speaks("ECDHE+CHACHA20")
            for ciphers in ("ECDHE-RSA-AES128-SHA256", "ECDHE-RSA-AES256-SHA384", "ECDHE-RSA-AES128-SHA", "AES128-SHA",
                            "AES128-GCM-SHA256"):
                assert speaks(ciphers) is None, ciphers


run([wrong_tokens_are_refused_everywhere, a_seat_never_comes_back_as_admin, tokens_expire, ledgers_of_older_programs,
     guessing_locks_out_nobody_else, proxies_say_for_whom_they_are, proxies_of_the_http_port,
     metrics_are_for_no_web_page, check_config_reads_the_files, root_is_warned, one_server_uses_a_folder,
     no_cbc_in_tls_1_2])
