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


run([a_short_run, what_grows_is_found])
