"""A real server for a test, and a client that speaks its protocol byte by byte.

The server listens on 127.0.0.1, on a port that the system picks; it writes the port to a file. The test
ends it by its process id. The client is written from proto/PROTOCOL.md alone and shares no code with
the server, so a mistake in one is not hidden by the same mistake in the other.
"""

import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

try:
    import msgpack
except ImportError:
    print("[ SKIPPED  ] install the Debian package python3-msgpack")
    sys.exit(77)

REQUEST, RESPONSE, NOTIFICATION = 0, 1, 2
PATIENCE = 60.0  # seconds that a test waits before it fails
# Searches are never cut short because the machine is busy: a world that is stepped does the same in each tick everywhere.
CALM = ("--budget-ms", "10000")
started = []  # processes of servers, nodes and members of etcd: run() ends them when a case fails


def seed():
    """The seed of this run: FOGMARCH_SEED, or a random one. Prints it in any case."""
    number = int(os.environ.get("FOGMARCH_SEED") or random.SystemRandom().randrange(2**32))
    print(f"[ SEED     ] to repeat this run: FOGMARCH_SEED={number}", flush=True)
    return number


def until(condition, what):
    """Waits until condition() is true and returns its value. `what`: a text, or a function that makes one."""
    end = time.monotonic() + PATIENCE
    while not (result := condition()):
        assert time.monotonic() < end, f"waited in vain for {what() if callable(what) else what}"
        time.sleep(0.02)
    return result


def free_ports(count):
    """Ports for servers that must be found where they were, or are told of each other before they start. No program gets
    one of these for a connection of its own, as it may get any that the system picks, while no server has it."""
    try:
        with open("/proc/sys/net/ipv4/ip_local_port_range") as file:
            end = int(file.read().split()[0])
    except OSError:
        end = 32768
    source, sockets = random.SystemRandom(), []
    while len(sockets) < count:
        one = socket.socket()
        try:
            one.bind(("127.0.0.1", source.randrange(end // 3, end)))
            sockets.append(one)
        except OSError:
            one.close()
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports


def library_in(folder, name):
    """A library of the tests for LD_PRELOAD, which takes no path with a space: the build may have one."""
    built = os.path.join(os.path.dirname(os.environ["FOGMARCHD"]), "../tests", name)
    return shutil.copy(built, os.path.join(folder, name))


class Server:
    """fogmarchd as a child process. Use as a context manager."""

    def __init__(self, *flags, environment=None, program=None):
        self.folder = tempfile.mkdtemp(prefix="fogmarch-")
        port_file = os.path.join(self.folder, "port")
        self.log_path = os.path.join(self.folder, "log")
        arguments = [program or os.environ["FOGMARCHD"], "--listen", "127.0.0.1:0", "--port-file",
                     port_file, *CALM]
        with open(self.log_path, "wb") as log:
            self.process = subprocess.Popen(
                arguments + list(flags), stderr=log, stdin=subprocess.DEVNULL,
                env={**os.environ, **(environment or {})})
        started.append(self.process)
        self.port = self._wait_for_port(port_file)

    def _wait_for_port(self, port_file):
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            if os.path.exists(port_file):
                with open(port_file) as file:
                    return int(file.read())
            if self.process.poll() is not None:
                break
            time.sleep(0.01)
        log = self.log()
        shutil.rmtree(self.folder)
        raise AssertionError("the server did not start:\n" + log)

    def log(self):
        with open(self.log_path, errors="replace") as file:
            return file.read()

    def rss(self):
        """Resident memory of the server, in bytes."""
        with open(f"/proc/{self.process.pid}/statm") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    def memory_tells(self):
        """Whether rss() means something: not under a sanitizer, which keeps much released memory."""
        with open(f"/proc/{self.process.pid}/maps") as file:
            maps = file.read()
        return not any(name in maps for name in ("libasan", "libtsan", "libubsan"))

    def terminate(self):
        self.process.send_signal(signal.SIGTERM)

    def wait(self):
        return self.process.wait(PATIENCE)

    def connect(self, hello=True, **options):
        client = Client(self.port, **options)
        if hello:
            client.call("hello", protocol=1, client="e2e")
        return client

    def __enter__(self):
        return self

    def __exit__(self, kind, value, traceback):
        crashed = self.process.poll() is not None and self.process.returncode != 0
        if self.process.poll() is None:
            self.terminate()
            try:
                self.wait()
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
                crashed = True
        log = self.log()
        shutil.rmtree(self.folder)
        if kind is not None or crashed or "Sanitizer" in log:
            print(log, file=sys.stderr)
        if kind is None:
            assert not crashed, f"the server ended with {self.process.returncode}"
            assert self.process.returncode == 0, f"the server ended with {self.process.returncode}"
            assert "Sanitizer" not in log


class RequestError(Exception):
    """An error that the server answered."""

    def __init__(self, error):
        super().__init__(f"{error['name']}: {error['message']}")
        self.code = error["code"]
        self.name = error["name"]
        self.message = error["message"]
        self.sent = error


class Client:
    """One connection. Notifications that come while an answer is awaited are kept in order."""

    def __init__(self, port, receive_buffer=None, host="127.0.0.1", patience=PATIENCE):
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        if receive_buffer is not None:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        self.socket.settimeout(patience)
        self.socket.connect((host, port))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.unpacker = msgpack.Unpacker(raw=False, strict_map_key=False,
                                         max_buffer_size=1 << 30)
        self.next_id = 1
        self.answers = {}
        self.notifications = []

    def close(self):
        self.socket.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def send_bytes(self, data):
        self.socket.sendall(data)

    def send(self, method, **params):
        """Sends a request without waiting. Returns its id."""
        number = self.next_id
        self.next_id += 1
        self.send_bytes(msgpack.packb([REQUEST, number, method, [params]]))
        return number

    def receive(self):
        """Reads one message. None when the server has disconnected."""
        while True:
            for message in self.unpacker:
                return message
            try:
                data = self.socket.recv(1 << 18)
            except ConnectionResetError:
                return None
            if not data:
                return None
            self.unpacker.feed(data)

    def take(self):
        """Reads one message and stores it as an answer or a notification. False when the server has disconnected."""
        message = self.receive()
        if message is None:
            return False
        if message[0] == RESPONSE:
            assert message[1] not in self.answers, "answered twice"
            self.answers[message[1]] = message[2:]
        else:
            assert message[0] == NOTIFICATION and len(message[2]) == 1, message
            self.notifications.append((message[1], message[2][0]))
        return True

    def answer(self, number):
        """Waits for the answer to a request."""
        while number not in self.answers:
            assert self.take(), "the server disconnected instead of answering"
        error, result = self.answers.pop(number)
        if error is not None:
            raise RequestError(error)
        return result

    def call(self, method, **params):
        return self.answer(self.send(method, **params))

    def refused(self, method, **params):
        """Calls a method that must fail. Returns the name of the error."""
        try:
            result = self.call(method, **params)
        except RequestError as error:
            assert error.message, "an error without words"
            return error.name
        raise AssertionError(f"{method}{params} was not refused: {result}")

    def notification(self, *names):
        """Waits for the next notification with one of these names; others before it are dropped."""
        while True:
            while self.notifications:
                name, params = self.notifications.pop(0)
                if name in names:
                    return name, params
            assert self.take(), "the server disconnected"

    def hear_all(self, world):
        """Waits until all that a world has published so far has come: an answer of the world comes behind the deltas of
        the ticks before it. The answer to ping may overtake them."""
        self.call("path.reachable", world=world, **{"from": [0, 0], "to": [0, 0]})

    def disconnected(self):
        """Waits until the server disconnects."""
        while self.take():
            pass
        return True


def run(cases):
    """Runs functions one after the other. Arguments of the process name the ones to run."""
    wanted = sys.argv[1:]
    for case in cases:
        if wanted and case.__name__ not in wanted:
            continue
        print(f"[ RUN      ] {case.__name__}", flush=True)
        start = time.monotonic()
        try:
            case()
        except BaseException:
            for process in started:  # who waits for the end of this test's output waits for theirs as well
                if process.poll() is None:
                    process.kill()
            raise
        print(f"[       OK ] {case.__name__} ({time.monotonic() - start:.1f} s)", flush=True)
