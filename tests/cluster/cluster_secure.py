"""etcd with mutual TLS, users and passwords.

Goal    a node with certificate and password works like any other, even after etcd has lost its token; with a wrong
        password, a user without keys or an untrusted certificate it does not join and says why; --check-config reports settings that do
        not fit together.
Method  one member of real etcd on loopback, with certificates made here and a user with access to the cluster's
        keys only.
"""

import base64
import json
import os
import ssl
import subprocess
import tempfile
import urllib.request

import cluster
from cluster import free_ports, Node, printed_status, until
from fogmarch_server import run
from secure import make_certificate

cluster.skip_without_etcd()

PASSWORD = "correct horse battery"


class SecureEtcd:
    """A member that requires a client certificate and a token."""

    def __init__(self):
        self.own = tempfile.TemporaryDirectory(prefix="fogmarch-etcd-")
        self.folder = self.own.name
        for name in ("member", "node", "stranger"):
            os.mkdir(os.path.join(self.folder, name))
            # etcd's gateway refuses users whose certificate has a common name.
            make_certificate(os.path.join(self.folder, name), subject="/O=fogmarch")
        with open(self.path("trusted.pem"), "w", encoding="ascii") as trusted:
            for name in ("member", "node"):  # etcd's gateway connects to its own server as a client
                with open(self.path(name, "certificate.pem"), encoding="ascii") as file:
                    trusted.write(file.read())
        self.port, self.peer_port = free_ports(2)
        self.endpoints = f"127.0.0.1:{self.port}"
        self.context = ssl.create_default_context(cafile=self.path("member", "certificate.pem"))
        self.context.load_cert_chain(self.path("node", "certificate.pem"), self.path("node", "key.pem"))
        self.start()
        self.make_users()

    def path(self, *names):
        return os.path.join(self.folder, *names)

    def start(self):
        client, peer = f"https://127.0.0.1:{self.port}", f"http://127.0.0.1:{self.peer_port}"
        with open(self.path("log"), "ab") as log:
            self.process = subprocess.Popen(
                [cluster.ETCD, "--name", "m", "--data-dir", self.path("data"), "--listen-client-urls", client,
                 "--advertise-client-urls", client, "--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer,
                 "--initial-cluster", f"m={peer}", "--logger=zap", "--cert-file", self.path("member", "certificate.pem"),
                 "--key-file", self.path("member", "key.pem"), "--client-cert-auth",
                 "--trusted-ca-file", self.path("trusted.pem")], stdout=log, stderr=log, stdin=subprocess.DEVNULL)
        until(self.is_up, "etcd")

    def is_up(self):
        try:
            with urllib.request.urlopen(f"https://127.0.0.1:{self.port}/health", timeout=1,
                                        context=self.context) as answer:
                return json.load(answer)["health"] == "true"
        except OSError:
            return False

    def ask(self, path, **params):
        with urllib.request.urlopen(f"https://127.0.0.1:{self.port}/v3/{path}", data=json.dumps(params).encode(),
                                    timeout=cluster.PATIENCE, context=self.context) as answer:
            return json.load(answer)

    def make_users(self):
        def text(value):
            return base64.b64encode(value.encode()).decode()
        for name in ("root", "fogmarch", "guest"):  # guest has no keys
            self.ask("auth/user/add", name=name, password=PASSWORD)
            self.ask("auth/role/add", name=name)
            self.ask("auth/user/grant", user=name, role=name)
        self.ask("auth/role/grant", name="fogmarch",
                 perm={"permType": "READWRITE", "key": text("/fogmarch/"), "range_end": text("/fogmarch0")})
        self.ask("auth/enable")

    def kill(self):
        self.process.kill()
        self.process.wait()

    def flags(self, certificate="node", ca="member", password=PASSWORD, user="fogmarch"):
        path = self.path(f"password-{len(password)}")
        with open(path, "w", encoding="utf-8") as file:
            file.write(password + "\n")
        return ["--cluster-ca-file", self.path(ca, "certificate.pem"),
                "--cluster-certificate", self.path(certificate, "certificate.pem"),
                "--cluster-key", self.path(certificate, "key.pem"),
                "--cluster-user", user, "--cluster-password-file", path]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.kill()
        self.own.cleanup()


def is_member(client):
    return client.call("cluster.status")["member"]


def says(client, reason, state):
    status = client.call("cluster.status")
    return reason in status["error"] and status["state"] == state


def all_of_it():
    with SecureEtcd() as etcd:
        node = Node(etcd, "a", *etcd.flags())
        try:
            client = node.connect()
            until(lambda: is_member(client), node.log)
            world = client.call("world.create", name="w", generator="open", width=32, height=32, paused=True)["world"]
            client.call("team.create", world=world)
            client.call("world.step", world=world, ticks=3)
            before = client.call("cluster.status")["appends"]["count"]
            assert before > 0
            etcd.kill()  # and so loses all tokens
            etcd.start()
            agents = client.call("agent.spawn", world=world, team=1, cells=[3, 3])["agents"]
            client.call("agent.order", world=world, agents=agents, kind="move", goal=[9, 9])
            assert client.call("world.step", world=world, ticks=5)["tick"] == 8
            status = client.call("cluster.status")
            assert status["appends"]["count"] > before, status
            until(lambda: is_member(client), node.log)
        finally:
            node.close()
        for reason, state, words, flags in (
                ("authentication failed", "refused", "etcd refuses what this node asks", etcd.flags(password="wrong")),
                ("permission denied", "refused", "etcd refuses what this node asks", etcd.flags(user="guest")),
                ("no member can be reached", "no_majority", "etcd does not answer", etcd.flags(ca="stranger")),
                ("no answer", "no_majority", "etcd does not answer", etcd.flags(certificate="stranger"))):
            node = Node(etcd, "b", *flags)
            try:
                client = node.connect()
                until(lambda: says(client, reason, state), lambda: f"{reason}: {client.call('cluster.status')}")
                assert not is_member(client)
                shown = until(lambda: reason in (text := printed_status(node)) and text, lambda: printed_status(node))
                assert words in shown, shown
            finally:
                node.close()


def settings_that_do_not_fit():
    with tempfile.TemporaryDirectory() as folder:
        certificate, key = make_certificate(folder)
        rest = ["--check-config", "--cluster-name", "c", "--cluster-endpoints", "127.0.0.1:1", "--journal-dir", folder]
        for flags, words in (
                (["--cluster-user", "u"], "cluster_user and cluster_password_file need each other"),
                (["--cluster-user", "u", "--cluster-password-file", os.devnull], "cluster_password_file: '/dev/null'"),
                (["--cluster-certificate", certificate], "cluster_certificate needs cluster_ca_file"),
                (["--cluster-user", "u", "--cluster-password-file", folder + "/none"],
                 f"cluster_password_file: '{folder}/none': No such file"),
                (["--cluster-ca-file", folder + "/none"],
                 f"cluster_ca_file: '{folder}/none' cannot be used: No such file"),
                (["--cluster-ca-file", certificate, "--cluster-certificate", certificate],
                 f"cluster_key: '{certificate}' has no private key"),
                (["--listen", "0.0.0.0:7421", "--allow-remote", "--allow-plaintext"], "cluster_advertise is needed"),
                (["--cluster-endpoints", ",".join(f"a:{port}" for port in range(1, 11))], "cluster_endpoints: 'a:1"),
                (["--cluster-ca-file", certificate, "--cluster-key", key], "cluster_key needs cluster_certificate")):
            done = subprocess.run([os.environ["FOGMARCHD"], *rest, *flags], capture_output=True, text=True,
                                  env={**os.environ, "FOGMARCH_TOKEN": "0123456789abcdef"})
            assert done.returncode != 0 and words in done.stderr, (flags, done)
        done = subprocess.run([os.environ["FOGMARCHD"], *rest, "--cluster-ca-file", certificate, "--cluster-certificate",
                               certificate, "--cluster-key", key], capture_output=True, text=True)
        assert done.returncode == 0, done


run([all_of_it, settings_that_do_not_fit])
