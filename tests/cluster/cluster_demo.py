"""clients/demo --cluster: the world outlives the server that is killed in the show.

Goal    the show begins, the server that owns the world is killed, another one continues the world,
        and the script says so; then all processes end and no file is left.
Method  the script with programs that are built already. Its processes are found by a word that they
        have inherited in their environment.
"""

import os
import re
import subprocess
import tempfile
import uuid

import cluster
from fogmarch_server import PATIENCE, run, until

cluster.skip_without_etcd()

BIN = os.path.dirname(os.environ["FOGMARCHD"])
DEMO = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../clients/demo")


def left(word):
    """Processes with the word in their environment."""
    found = []
    for number in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{number}/environ", "rb") as file:
                if word.encode() in file.read().split(b"\0"):
                    found.append(int(number))
        except OSError:
            continue  # it has ended, or belongs to another user
    return found


def another_server_continues():
    value = uuid.uuid4().hex
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(["bash", DEMO, "--bin", BIN, "--cluster", "3", "--seconds", "6", "--agents", "20"],
                              env={**os.environ, "DEMO_OF_TEST": value, "TMPDIR": folder},
                              capture_output=True, text=True, timeout=4 * PATIENCE, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        said = re.search(r"node(\d), which had the world, was killed at tick (\d+); node(\d) continued it", done.stdout)
        assert said and said[1] != said[3] and int(said[2]) > 0, done.stdout
        # Its epoch is 2, or more if the machine was so busy that a lease ended.
        assert re.search(rf"demo +node{said[3]} +[2-9]  running", done.stdout), done.stdout
        assert "Killed" not in done.stderr, done.stderr
        word = f"DEMO_OF_TEST={value}"
        until(lambda: left(word) == [], lambda: f"the end of {left(word)}")
        assert os.listdir(folder) == [], os.listdir(folder)


run([another_server_continues])
