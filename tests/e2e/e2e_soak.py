"""loadtest/soak.py, for seconds instead of hours.

Goal    a short run with one kill ends without an error; the judge reports figures that grow, and no others.
Method  the program itself, then made-up tables.
"""

import csv
import json
import os
import subprocess
import sys
import tempfile

from fogmarch_server import run

SOAK = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../loadtest/soak.py")
BUILD = os.path.dirname(os.path.dirname(os.environ["FOGMARCHD"]))


def soak(*arguments):
    done = subprocess.run([sys.executable, "-B", SOAK, *arguments], capture_output=True, text=True)
    assert done.stdout.startswith("{"), done
    return done.returncode, json.loads(done.stdout)


def a_short_run():
    with tempfile.TemporaryDirectory() as folder:
        code, result = soak("--build", BUILD, "--minutes", "0.08", "--kill-minutes", "0.04", "--agents", "80",
                            "--players", "2", "--output", folder)
        assert code == 0 and result["errors"] == [] and result["lives"] >= 2, result
        assert result["figures"]["rss_mib"]["ratio"] is None, "too short to be judged"
        with open(os.path.join(folder, "soak.csv"), encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        assert {"1", "2"} <= {row["life"] for row in rows} and all(int(row["threads"]) > 1 for row in rows), rows
        with open(os.path.join(folder, "soak.svg"), encoding="utf-8") as file:
            assert file.read().count("<polyline") == len(result["figures"])


def judged(**figures):
    """The judgement of a run of 40 minutes in two lives. figures: functions of the sample's number in its life."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "soak.csv")
        with open(path, "w", encoding="utf-8", newline="") as file:
            columns = {"rss_mib": lambda _: 80, "descriptors": lambda _: 40, "threads": lambda _: 9,
                       "folder_mib": lambda _: 60, "tick_p99_ms": lambda _: 10, **figures}
            table = csv.writer(file)
            table.writerow(["second", "life", *columns])
            for i in range(80):
                table.writerow([30 * i, 1 + i // 40, *(of(i % 40) for of in columns.values())])
        code, found = soak("--judge", path)
        growing = [name for name, entry in found.items() if entry["grows"]]
        assert (code == 1) == bool(growing), found
        return growing


def what_grows_is_found():
    assert judged() == []
    assert judged(rss_mib=lambda i: 80 + i) == ["rss_mib"]
    assert judged(rss_mib=lambda i: 20 + 60 * (i > 3)) == [], "it has begun, no more"
    assert judged(descriptors=lambda i: 40 + i, threads=lambda i: 9 + (i > 30)) == ["descriptors", "threads"]



def judged_cluster(rows):
    """The judgement of a table of a cluster. rows: functions of the sample's number, one sample every 30 s."""
    columns = {"life": lambda _: 1, "owner": lambda _: "n1", "load": lambda _: 0.5, "cpu_ms": lambda _: 2,
               "nodes_rss_mib": lambda _: 80, "etcd_rss_mib": lambda _: 200, "descriptors": lambda _: 40,
               "threads": lambda _: 9, "folder_mib": lambda _: 60, "etcd_db_mib": lambda _: 2,
               "tick_p99_ms": lambda _: 10, "n1_process": lambda _: 1, "n1_rss_mib": lambda _: 60,
               "n2_process": lambda _: 1, "n2_rss_mib": lambda _: 20, **rows}
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "cluster-soak.csv")
        with open(path, "w", encoding="utf-8", newline="") as file:
            table = csv.writer(file)
            table.writerow(["second", *columns])
            for i in range(80):
                table.writerow([30 * i, *(of(i) for of in columns.values())])
        code, found = soak("--judge", path)
        growing = [name for name, entry in found.items() if entry["grows"]]
        assert (code == 1) == bool(growing), found
        return growing


def what_grows_in_a_cluster_is_found():
    assert judged_cluster({}) == []
    # A node's memory, whatever the other's does; not what it needs when its process or its world has just begun.
    assert judged_cluster({"n2_rss_mib": lambda i: 20 + i}) == ["n2_rss_mib"]
    assert judged_cluster({"n1_rss_mib": lambda i: 60 + 2 * i, "n2_rss_mib": lambda i: 200 - 2 * i}) == ["n1_rss_mib"]
    assert judged_cluster({"n1_rss_mib": lambda i: 20 + 60 * (i > 8)}) == []
    moved = {"life": lambda i: 1 + (i >= 40), "owner": lambda i: "n1" if i < 40 else "n2"}
    assert judged_cluster({**moved, "n1_process": lambda i: 1 + (i >= 40), "n1_rss_mib": lambda i: 60 - 40 * (i >= 40),
                           "n2_rss_mib": lambda i: 20 + 50 * (i >= 40)}) == []
    # A tick's work counts, its length only where the machine had time for it.
    assert judged_cluster({"cpu_ms": lambda i: 2 + i / 10}) == ["cpu_ms"]
    slow = {"tick_p99_ms": lambda i: 10 + 5 * i}
    assert judged_cluster({**slow, "load": lambda _: 4 * os.cpu_count()}) == []
    assert judged_cluster(slow) == ["tick_p99_ms"]


run([a_short_run, what_grows_is_found, what_grows_in_a_cluster_is_found])
