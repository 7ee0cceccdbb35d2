"""A cluster on loopback for tests: etcd from Debian, nodes, and a client that follows its world."""

import base64
import itertools
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "e2e"))

from fogmarch_server import CALM, Client, PATIENCE, RequestError, free_ports, started, until  # noqa: E402

ETCD = shutil.which("etcd", path=os.environ.get("PATH", "") + ":/usr/bin:/usr/local/bin")


def skip_without_etcd():
    if ETCD is None:
        print("[ SKIPPED  ] install the Debian package etcd-server")
        sys.exit(77)


def folder_in_memory():
    """Where etcd's syncs take no time: on a disk that others use they take seconds, and no test here is about them."""
    memory = "/dev/shm"
    roomy = os.path.isdir(memory) and shutil.disk_usage(memory).free > 4 << 30
    return memory if roomy and os.access(memory, os.W_OK) else None


def pause(process):
    """Stops a process; waits until all of its threads have stopped, which takes a while on a busy machine."""
    def is_stopped():
        tasks = f"/proc/{process.pid}/task"
        for task in os.listdir(tasks):
            with open(os.path.join(tasks, task, "stat")) as file:
                if file.read().rsplit(")", 1)[1].split()[0] != "T":
                    return False
        return True

    process.send_signal(signal.SIGSTOP)
    until(is_stopped, "a process to stop")


class Loopback:
    """Where a process runs that has no machine of its own (machines.py)."""
    address = "127.0.0.1"

    def command(self, words):
        return words


class Etcd:
    """Members of etcd as child processes."""

    def __init__(self, members=1, *flags, machines=None):
        self.flags = flags
        self.machines = machines or [Loopback()] * members
        self.processes = [None] * members
        while not self.begin():
            self.close()
        self.endpoints = ",".join(address.removeprefix("http://") for address in self.addresses(self.client_ports))

    def begin(self):
        """Starts all members in a new folder. False: another program has taken one of their ports meanwhile."""
        self.folder = tempfile.mkdtemp(prefix="fogmarch-etcd-", dir=folder_in_memory())
        members = range(len(self.processes))
        ports = free_ports(2 * len(members))
        self.client_ports, self.peer_ports = ports[:len(members)], ports[len(members):]
        for index in members:
            self.start(index)
        until(lambda: all(self.is_up(index) for index in members) or
              any(process.poll() is not None for process in self.processes), self.log)
        if all(process.poll() is None for process in self.processes):
            return True
        assert "address already in use" in self.log(1000), self.log()
        return False

    def addresses(self, ports):
        return [f"http://{machine.address}:{port}" for machine, port in zip(self.machines, ports)]

    def start(self, index):
        clients, peers = self.addresses(self.client_ports), self.addresses(self.peer_ports)
        cluster = ",".join(f"m{i}={peer}" for i, peer in enumerate(peers))
        client, peer = clients[index], peers[index]
        with open(os.path.join(self.folder, f"log{index}"), "ab") as log:
            self.processes[index] = subprocess.Popen(
                self.machines[index].command([ETCD, "--name", f"m{index}", "--data-dir", os.path.join(self.folder, f"m{index}"),
                 "--listen-client-urls", client, "--advertise-client-urls", client,
                 "--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer,
                 "--initial-cluster", cluster, "--logger=zap",
                 "--heartbeat-interval", "50", "--election-timeout", "500",
                 "--snapshot-count", "5000", *self.flags]), stdout=log, stderr=log, stdin=subprocess.DEVNULL)
            started.append(self.processes[index])

    def kill(self, index):
        self.processes[index].kill()
        self.processes[index].wait()

    def leader(self):
        """Index of the member that leads."""
        def ask():
            for index, address in enumerate(self.addresses(self.client_ports)):
                url = f"{address}/v3/maintenance/status"
                try:
                    with urllib.request.urlopen(url, data=b"{}", timeout=3) as answer:
                        status = json.load(answer)
                except OSError:
                    continue  # asked again
                if status.get("leader", "0") == status["header"]["member_id"]:
                    return [index]
            return None
        return until(ask, "a leader")[0]

    def is_up(self, index):
        try:
            url = f"{self.addresses(self.client_ports)[index]}/health"
            with urllib.request.urlopen(url, timeout=1) as answer:
                return json.load(answer)["health"] == "true"
        except OSError:
            return False

    def range(self, prefix):
        """All keys that begin with `prefix` and their values, as bytes."""
        end = prefix[:-1] + chr(ord(prefix[-1]) + 1)
        body = json.dumps({"key": base64.b64encode(prefix.encode()).decode(),
                           "range_end": base64.b64encode(end.encode()).decode()}).encode()
        last = time.monotonic() + PATIENCE
        for address in itertools.cycle(self.addresses(self.client_ports)):
            try:
                url = f"{address}/v3/kv/range"
                with urllib.request.urlopen(url, data=body, timeout=3) as answer:
                    kvs = json.load(answer).get("kvs", [])
                    return {base64.b64decode(kv["key"]).decode():
                            base64.b64decode(kv.get("value", "")) for kv in kvs}
            except OSError:
                assert time.monotonic() < last, "no member of etcd answers"
                time.sleep(0.02)
        return None

    def ask(self, path, member=0, **params):
        """Calls a member's gateway."""
        url = f"{self.addresses(self.client_ports)[member]}/v3/{path}"
        with urllib.request.urlopen(url, data=json.dumps(params).encode(), timeout=PATIENCE) as answer:
            return json.load(answer)

    def alarms(self):
        return self.ask("maintenance/alarm", action="GET").get("alarms", [])

    def log(self, lines=30):
        """The last lines of all members' logs."""
        text = ""
        for index in range(len(self.processes)):
            with open(os.path.join(self.folder, f"log{index}"), errors="replace") as file:
                text += f"---- member {index}\n" + "".join(file.readlines()[-lines:])
        return text

    def close(self):
        for process in self.processes:
            if process is not None and process.poll() is None:
                process.kill()
                process.wait()
        shutil.rmtree(self.folder)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def text(value):
    return base64.b64encode(value.encode()).decode()


def fill(etcd):
    """Writes junk until etcd, which has a small quota, refuses it."""
    junk = base64.b64encode(os.urandom(1 << 20)).decode()
    for number in range(100):
        try:
            etcd.ask("kv/put", key=text(f"/junk/{number}"), value=junk)
        except urllib.error.HTTPError as error:
            if "space exceeded" in error.read().decode():
                return  # anything else is a leader that changes, or a put that took too long
    raise AssertionError("etcd is never full")


def make_room(etcd):
    """The remedy of configs/CLUSTER.md: compact, defragment all members, disarm the alarm."""
    etcd.ask("kv/deleterange", key=text("/junk/"), range_end=text("/junk0"))
    status = etcd.ask("maintenance/status")
    alarms = etcd.alarms()
    assert alarms, status
    try:
        etcd.ask("kv/compaction", revision=status["header"]["revision"], physical=True)
    except urllib.error.HTTPError as error:  # by an earlier try that has not come to its end
        assert "has been compacted" in error.read().decode()
    for member in range(len(etcd.processes)):
        etcd.ask("maintenance/defragment", member=member)
    for alarm in alarms:
        etcd.ask("maintenance/alarm", action="DEACTIVATE", memberID=alarm["memberID"], alarm="NOSPACE")


class Node:
    """A fogmarchd that runs as a node of the cluster."""

    def __init__(self, etcd, name, *flags, metrics=False, program=None, environment=None, machine=Loopback(),
                 token=None):
        self.name, self.machine, self.host = name, machine, machine.address
        self.token = token
        self.program = program or os.environ["FOGMARCHD"]
        self.environment = {**os.environ, **(environment or {})}
        self.folder = tempfile.mkdtemp(prefix=f"fogmarch-node-{name}-")
        self.journals = os.path.join(self.folder, "journals")
        os.mkdir(self.journals)
        self.flags = ["--cluster-name", "test", "--cluster-node", name,
                      "--cluster-endpoints", etcd.endpoints, "--journal-dir", self.journals,
                      "--workers", "1", "--grace-s", "1", *CALM, *flags]
        self.metrics_port_file = os.path.join(self.folder, "metrics")
        if metrics:
            self.flags += ["--metrics-listen", "127.0.0.1:0", "--metrics-port-file",
                           self.metrics_port_file]
        self.log_path = os.path.join(self.folder, "log")
        self.process = None
        self.hung = False  # set if it did not end when it was told to
        self.start()

    def start(self):
        port_file = os.path.join(self.folder, "port")
        if os.path.exists(port_file):
            os.remove(port_file)
        with open(self.log_path, "ab") as log:
            self.process = subprocess.Popen(
                self.machine.command([self.program, "--listen", f"{self.host}:0", "--port-file", port_file]
                                     + self.flags), stderr=log, stdin=subprocess.DEVNULL, env=self.environment)
        started.append(self.process)
        until(lambda: os.path.exists(port_file) or self.process.poll() is not None,
              f"node {self.name}")
        assert self.process.poll() is None, self.log()
        with open(port_file) as file:
            self.port = int(file.read())

    def log(self):
        with open(self.log_path, errors="replace") as file:
            return file.read()

    def page(self, path):
        with open(self.metrics_port_file) as file:
            url = f"http://127.0.0.1:{int(file.read())}{path}"
        with urllib.request.urlopen(url, timeout=PATIENCE) as answer:
            return answer.read().decode()

    def metrics(self):
        lines = self.page("/metrics").splitlines()
        return {name: float(value) for name, value in (line.rsplit(" ", 1) for line in lines if line[0] != "#")}

    def kill(self):
        self.process.kill()
        self.process.wait()

    def end(self):
        """Tells it to end, and waits."""
        self.process.terminate()
        self.process.wait(PATIENCE)

    def pause(self):
        pause(self.process)

    def wake(self):
        self.process.send_signal(signal.SIGCONT)

    def connect(self, patience=PATIENCE):
        client = Client(self.port, host=self.host, patience=patience)
        client.call("hello", protocol=1, client="cluster", **({"token": self.token} if self.token else {}))
        return client

    def close(self):
        if self.process.poll() is None:
            self.wake()
            self.process.terminate()
            try:
                self.process.wait(PATIENCE)
            except subprocess.TimeoutExpired:
                self.hung = True
                self.kill()
        log = self.log()
        shutil.rmtree(self.folder)
        return log


def printed_status(node):
    """What `fogmarch cluster status` prints."""
    program = os.path.join(os.path.dirname(os.environ["FOGMARCHD"]), "fogmarch")
    return subprocess.run([program, "cluster", "status", "--connect", f"{node.host}:{node.port}"], capture_output=True,
                          text=True, check=False).stdout


def move(client, world, node):
    """Moves a world, as soon as the client's node knows the other node and the end of an earlier move."""
    def accepted():
        try:
            return client.call("cluster.move", world=world, node=node)
        except RequestError as error:
            if error.name == "not_ready" or "there is no node" in str(error):
                return None
            raise
    return until(accepted, f"world {world} to be moved")


def is_here(client, world):
    """Whether a client's node owns a world and answers for it."""
    try:
        return client.call("world.locate", world=world)["here"]
    except RequestError:
        return False


class Follower:
    """A client that follows its world and sends unanswered requests again."""

    def __init__(self, nodes, name):
        self.nodes, self.name = nodes, name
        self.client = None
        self.world = None
        self.node = None
        self.longest = 0.0  # seconds of the longest call, with all redirects

    def _seek(self):
        for node in self.nodes:
            client = None
            try:
                client = node.connect(patience=1.0)
                place = client.call("world.locate", name=self.name)
                host, port = place["tcp"].rsplit(":", 1)
                assert host == node.host or node.host != Loopback.address
                self.client = Client(int(port), host=host, patience=1.0)
                self.client.call("hello", protocol=1, client="follower",
                                 **({"token": node.token} if node.token else {}))
                self.world, self.node = place["world"], place["node"]
                return True
            except (RequestError, OSError, AssertionError):
                self.close()
            finally:
                if client is not None:
                    client.close()
        return False

    def close(self):
        if self.client is not None:
            self.client.close()
        self.client = None

    def call(self, method, **params):
        begun = time.monotonic()
        while True:
            assert time.monotonic() - begun < PATIENCE, f"{method} was never answered"
            if self.client is None and not self._seek():
                time.sleep(0.1)  # servers refuse clients that connect too often
                continue
            try:
                answer = self.client.call(method, world=self.world, **params)
                self.longest = max(self.longest, time.monotonic() - begun)
                return answer
            except RequestError as error:
                if error.name not in ("moved", "no_world", "not_ready", "going_down", "io", "busy"):
                    raise
                self.close()
            except (OSError, AssertionError):
                self.close()
