"""Machines of a test: network namespaces, joined by a bridge, whose lines can be cut pair by pair.

The test runs itself again in namespaces of its own (users, network), in which it may do what only root may, and in
which nothing is left when it ends. Where the system does not allow that, is_possible() says so.

A line between two machines is cut by a wrong hardware address at both ends: frames go to nobody, silently, in both
directions, as on a broken network; connections last until a time-out, or until the line is mended.
"""

import os
import shutil
import subprocess
import sys

INSIDE = "FOGMARCH_MACHINES"
NOBODY = "02:00:00:00:00:99"  # a hardware address that no machine has
NETWORK = "10.77.0"


def is_possible():
    tools = all(shutil.which(name, path=os.environ.get("PATH", "") + ":/usr/sbin:/sbin")
                for name in ("unshare", "nsenter", "ip"))
    return tools and subprocess.run(
        ["unshare", "--user", "--map-root-user", "--net", "sh", "-c",
         "ip link add bridge0 type bridge && ip link add a0 type veth peer name b0 && unshare --net true"],
        stderr=subprocess.DEVNULL, check=False).returncode == 0


def enter():
    """Runs the test again in its own namespaces, unless it is there already."""
    os.environ["PATH"] += ":/usr/sbin:/sbin"
    if INSIDE not in os.environ:
        os.environ[INSIDE] = "1"
        os.execvp("unshare", ["unshare", "--user", "--map-root-user", "--net", sys.executable, "-B", *sys.argv])


def ip(*words, inside=None):
    subprocess.run([*(inside.command([]) if inside else []), "ip", *words], check=True)


class Machine:
    """A machine with an address. Number 0 is the test's own, where clients run."""

    def __init__(self, number):
        self.number, self.address = number, f"{NETWORK}.{number + 1}"
        self.cut_from = set()
        self.holder = None
        if number == 0:
            self.device = "bridge0"
            ip("link", "set", "lo", "up")
            ip("link", "add", self.device, "type", "bridge")
            ip("address", "add", f"{self.address}/24", "dev", self.device)
            ip("link", "set", self.device, "up")
            return
        self.device = "eth0"
        self.holder = subprocess.Popen(["unshare", "--net", "sh", "-c", "echo; exec cat"], stdin=subprocess.PIPE,
                                       stdout=subprocess.PIPE)
        self.holder.stdout.readline()  # it is in its namespace
        ip("link", "add", f"port{number}", "type", "veth", "peer", "name", self.device, "netns", str(self.holder.pid))
        ip("link", "set", f"port{number}", "master", "bridge0", "up")
        ip("link", "set", "lo", "up", inside=self)
        ip("address", "add", f"{self.address}/24", "dev", self.device, inside=self)
        ip("link", "set", self.device, "up", inside=self)

    def command(self, words):
        """The command that runs something on this machine."""
        return ["nsenter", f"--net=/proc/{self.holder.pid}/ns/net", *words] if self.holder else words

    def cut(self, other):
        for one, far in ((self, other), (other, self)):
            ip("neighbour", "replace", far.address, "lladdr", NOBODY, "nud", "permanent", "dev", one.device, inside=one)
            one.cut_from.add(far)

    def mend(self, other):
        for one, far in ((self, other), (other, self)):
            if far in one.cut_from:
                ip("neighbour", "delete", far.address, "dev", one.device, inside=one)
                one.cut_from.remove(far)

    def mend_all(self):
        for other in list(self.cut_from):
            self.mend(other)

    def close(self):
        if self.holder is not None:
            self.holder.stdin.close()
            self.holder.stdout.close()
            self.holder.wait()
