"""The Debian packages, on a bare Debian 12.

Goal    `cpack` makes packages that lintian accepts and that apt installs with Debian's packages alone. The service
        starts as the user fogmarch with the unit's command, and answers; an upgrade keeps settings and journals,
        and so does a removal; a purge leaves nothing. The second stage of configs/Containerfile serves as a
        user other than root, and its health check passes.
Method  mmdebstrap makes the root, which is kept in the build folder for the next run. systemd cannot run in a
        chroot: the test runs the unit's ExecStart as its user, in its folder, with its environment and copies of
        its credentials. Needs root and a network; exits with 77 (skipped) without them.
"""

import glob
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../e2e"))
from fogmarch_server import until  # noqa: E402
from support import SOURCE, run, write  # noqa: E402

BUILD = os.path.realpath(sys.argv[1])
MIRROR = "http://deb.debian.org/debian"
KEPT = os.path.join(BUILD, "debian-12.tar")
ENVIRONMENT = {"DEBIAN_FRONTEND": "noninteractive", "LC_ALL": "C.UTF-8", "PATH": "/usr/sbin:/usr/bin:/sbin:/bin"}


def skip(reason):
    print(f"[ SKIPPED  ] {reason}")
    sys.exit(77)


class Root:
    """A Debian system in a folder, entered by chroot."""

    def __init__(self, folder):
        self.path = folder
        if not os.path.exists(KEPT):
            fresh = KEPT.replace(".tar", ".new.tar")
            run("mmdebstrap", "--variant=minbase", "--dpkgopt=force-unsafe-io", "bookworm", fresh, MIRROR, timeout=900)
            os.rename(fresh, KEPT)
        run("tar", "-xf", KEPT, "-C", folder, "--exclude=./dev/*")
        shutil.copy("/etc/resolv.conf", self.file("etc/resolv.conf"))
        for name, minor in (("null", 3), ("zero", 5), ("urandom", 9)):
            os.mknod(self.file("dev", name), 0o20666, os.makedev(1, minor))
            os.chmod(self.file("dev", name), 0o666)
        os.chmod(folder, 0o755)

    def file(self, *names):
        return os.path.join(self.path, *[name.lstrip("/") for name in names])

    def do(self, command, timeout=600):
        return run("chroot", self.path, "/bin/sh", "-ec", command, environment=ENVIRONMENT, timeout=timeout)

    def has(self, path):
        return os.path.lexists(self.file(path))


class Service:
    """The process that systemd would start; or that of a container, with its own user and command."""

    def __init__(self, root, user=None, start=None, token=None):
        with open(root.file("usr/lib/systemd/system/fogmarchd.service"), encoding="utf-8") as file:
            unit = file.read()
        user = user or re.search(r"^User=(\S+)$", unit, re.M)[1]
        environment = {}
        if start is None:
            start = re.search(r"^ExecStart=(.*)$", unit, re.M)[1]
            root.do(f"rm -rf /run/credentials; install -d -o {user} -m 500 /run/credentials")
            for name, path in re.findall(r"^LoadCredential=(\S+):(\S+)$", unit, re.M):
                root.do(f"install -o {user} -m 400 {path} /run/credentials/{name}")
            for line in re.findall(r"^Environment=(.*)$", unit, re.M):
                environment.update(word.replace("%d", "/run/credentials").split("=", 1) for word in line.split())
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.address = "127.0.0.1:%d" % free.getsockname()[1]
        root.do(f"install -d -o {user} -g {user} -m 700 /var/lib/fogmarch")
        self.root = root
        self.mine = {**os.environ, **ENVIRONMENT, **({} if token is None else {"FOGMARCH_TOKEN": token})}
        self.process = subprocess.Popen(
            ["chroot", root.path, "setpriv", f"--reuid={user}", f"--regid={user}", "--init-groups", "--no-new-privs",
             "--bounding-set=-all", "sh", "-c", f"umask 077; cd /var/lib/fogmarch; exec {start} --listen {self.address}"],
            stderr=subprocess.PIPE, text=True, env={**os.environ, **ENVIRONMENT, **environment})
        try:
            until(lambda: self.ask("ping", fine=(0, 1))[0] == 0 or self.process.poll() is not None, "the service")
            assert self.process.poll() is None, self.process.stderr.read()
        except BaseException:
            self.process.kill()
            raise

    def ask(self, *command, fine=(0,)):
        done = subprocess.run(["chroot", self.root.path, "fogmarch", "--connect", self.address, *command], text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=self.mine)
        assert done.returncode in fine, done.stdout
        return done.returncode, done.stdout

    def runs_as(self):
        with open(f"/proc/{self.process.pid}/status", encoding="utf-8") as file:
            return int(re.search(r"^Uid:\s+(\d+)", file.read(), re.M)[1])

    def __enter__(self):
        return self

    def __exit__(self, kind, value, traceback):
        self.process.terminate()
        _, said = self.process.communicate(timeout=60)
        assert kind is not None or self.process.returncode == 0, said


def packages(folder):
    """Makes the packages, and the server's once more as a newer version."""
    run("cpack", "--config", os.path.join(BUILD, "CPackConfig.cmake"), "-B", folder, "-D",
        f"CPACK_OUTPUT_FILE_PREFIX={folder}", cwd=BUILD)
    made = {os.path.basename(path).split("_")[0]: path for path in glob.glob(os.path.join(folder, "*.deb"))}
    assert sorted(made) == ["fogmarch", "libfogmarch-dev", "libfogmarch0.1"], made
    newer = os.path.join(folder, "newer")
    run("dpkg-deb", "-R", made["fogmarch"], newer)
    control = os.path.join(newer, "DEBIAN/control")
    with open(control, encoding="utf-8") as file:
        text = re.sub(r"^Version: .*$", "Version: 99.0", file.read(), flags=re.M)
    write(control, text)
    run("dpkg-deb", "--root-owner-group", "-b", newer, os.path.join(folder, "newer.deb"))
    return made


def lintian_accepts(made):
    if shutil.which("lintian") is None:
        print("[ SKIPPED  ] lintian is not installed")
        return
    print(run("lintian", "--allow-root", "--fail-on", "error", *made.values()), end="")


def container(root):
    """Runs the steps of the Containerfile's second stage; the first stage makes the packages, which exist already."""
    with open(os.path.join(SOURCE, "configs/Containerfile"), encoding="utf-8") as file:
        stage = file.read().split("\nFROM ")[2]
    steps = re.findall(r"^([A-Z]+) (.*)$", stage, re.M)
    last = dict(steps)
    for step, text in steps:
        if step == "COPY":
            assert text.startswith("--from=build /src/build/release/packages/fogmarch_*.deb "), text
            root.do("cp /packages/fogmarch_*.deb " + text.split()[-1])
        elif step == "RUN":
            root.do(text)
    start = " ".join(json.loads(last["ENTRYPOINT"]) + json.loads(last["CMD"]))
    check = json.loads(last["HEALTHCHECK"].split(" CMD ")[1])
    assert last["WORKDIR"] == "/var/lib/fogmarch" and check[0] == "fogmarch", last
    with Service(root, last["USER"], start) as service:
        assert service.runs_as() != 0
        service.ask(*check[1:])
    root.do("apt-get purge -qq fogmarch")


def lives(root):
    """Install, serve, upgrade, remove, purge."""
    root.do("apt-get update -qq && apt-get install -qq --no-install-recommends /packages/fogmarch_*.deb")
    assert "fogmarch" in root.do("getent passwd fogmarch")
    assert os.stat(root.file("etc/fogmarch/tokens")).st_mode & 0o777 == 0o600
    uid = int(root.do("id -u fogmarch"))
    with Service(root) as service:
        assert service.runs_as() == uid != 0
        service.ask("create", "arena", "--generate", "skirmish", "--width", "64", "--height", "64")
        with open(root.file("etc/fogmarch/fogmarchd.yaml"), "a", encoding="utf-8") as file:
            file.write("# an operator's line\n")
    journals = glob.glob(root.file("var/lib/fogmarch/*arena*"))
    assert journals and os.stat(journals[0]).st_uid == uid, journals

    token = "0123456789abcdef" * 4
    root.do(f"echo 'admin {token}' >> /etc/fogmarch/tokens")
    root.do("apt-get install -qq --no-install-recommends /packages/newer.deb")
    assert root.do("dpkg-query -W -f '${Version}' fogmarch") == "99.0"
    with open(root.file("etc/fogmarch/fogmarchd.yaml"), encoding="utf-8") as file:
        assert "# an operator's line" in file.read()
    with open(root.file("etc/fogmarch/tokens"), encoding="utf-8") as file:
        assert token in file.read()
    with Service(root, token=token) as service:
        assert "arena" in service.ask("worlds")[1], "the world of before the upgrade"
        service.mine.pop("FOGMARCH_TOKEN")
        assert service.ask("worlds", fine=(1,))[0] == 1, "without the token"

    root.do("apt-get remove -qq fogmarch")
    assert not root.has("usr/bin/fogmarchd") and root.has("etc/fogmarch/fogmarchd.yaml") and root.has("var/lib/fogmarch")
    root.do("apt-get purge -qq fogmarch")
    left = root.do("find / -xdev -name '*fogmarch*' -not -path '/packages*' -not -path '/proc/*' "
                   "-not -path '/var/lib/apt/*' -not -path '/var/log/*'")
    assert left == "", left
    assert "fogmarch" not in root.do("cat /etc/passwd /etc/group")


def library_is_found(root):
    """The library packages hold what a game needs to build and to run; package_c_library compiles with them."""
    root.do("apt-get install -qq --no-install-recommends /packages/libfogmarch*.deb")
    assert "libfogmarch.so.0.1" in root.do("ldconfig -p")
    assert root.has("usr/include/fogmarch/fogmarch.h") and root.has("usr/include/msgpack.h")
    root.do("apt-get purge -qq libfogmarch-dev libfogmarch0.1")


def main():
    if os.geteuid() != 0 or shutil.which("mmdebstrap") is None:
        skip("a Debian of its own wants root and the Debian package mmdebstrap")
    try:
        socket.create_connection(("deb.debian.org", 80), timeout=10).close()
    except OSError:
        if "http_proxy" not in os.environ:
            skip("a Debian of its own wants a network")
    folder = tempfile.mkdtemp(prefix="fogmarch-package-")
    try:
        made = packages(os.path.join(folder, "packages"))
        lintian_accepts(made)
        os.makedirs(os.path.join(folder, "root"))
        root = Root(os.path.join(folder, "root"))
        os.makedirs(root.file("packages"))
        for path in glob.glob(os.path.join(folder, "packages/*.deb")):
            shutil.copy(path, root.file("packages"))
        root.do("chmod -R a+rX /packages")
        container(root)
        lives(root)
        library_is_found(root)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


main()
