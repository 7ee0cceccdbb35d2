#!/usr/bin/env python3
"""What the journal costs: tick times of the scenario skirmish (10,000 agents, 10 Hz), in turn without a
journal and with `durability: tick`.

    loadtest/journal_cost.py BUILD FILE [PAIRS [SECONDS [FOLDER]]]     build/release, ..., 3, 12

A pair is two servers, one after the other; the one that runs first changes from pair to pair. Each is measured
for SECONDS after a warm-up. Results are added to FILE (JSON), which keeps the time of every tick, so that pairs
can be measured one at a time when the machine is quiet; its summary covers all pairs. A pair does not count if
a server's threads waited for a processor for more than DISTURBED per cent of the time that they ran: other
programs disturbed it. FOLDER receives the journals; the default is a temporary folder.

`rise_percent` is what the journal adds to a quantile over all ticks of each kind. The budget cuts searches
off, so the rest of the tick, which nothing bounds, is given as well (`without_search`). `bytes_per_tick` is
the size of the rows (commands, records) in the file. `keyframe_ms` is how long the world stops for a keyframe,
between two ticks; PAIRS 0 measures it in a separate run that makes many.
"""

import json
import os
import pathlib
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parent.parent
WARM_UP = 3  # seconds
PATIENCE = 60  # seconds until the script gives up
DISTURBED = 30  # per cent
OFTEN = 20  # ticks between two keyframes in the run that measures them


class Server:
    """A fogmarchd with or without a journal."""

    def __init__(self, build, *flags):
        self.folder = tempfile.mkdtemp(prefix="fogmarch-ports-")
        self.ports = [os.path.join(self.folder, name) for name in ("port", "http")]
        environment = {k: v for k, v in os.environ.items() if not k.startswith("FOGMARCH_")}
        self.process = subprocess.Popen(
            [build / "bin/fogmarchd", "--listen", "127.0.0.1:0", "--port-file", self.ports[0], "--http",
             "127.0.0.1:0", "--http-port-file", self.ports[1], "--workers", "2", "--log-level", "warning", *flags],
            env=environment)
        end = time.monotonic() + PATIENCE
        while not all(os.path.exists(path) for path in self.ports):
            assert self.process.poll() is None and time.monotonic() < end, "the server does not listen"
            time.sleep(0.02)
        self.address, self.http = ["127.0.0.1:" + pathlib.Path(path).read_text().strip() for path in self.ports]

    def waited_percent(self):
        """How long its threads were ready but had no processor, as a percentage of the time that they ran."""
        ran = waited = 0
        for path in pathlib.Path(f"/proc/{self.process.pid}/task").glob("*/schedstat"):
            numbers = path.read_text().split()
            ran, waited = ran + int(numbers[0]), waited + int(numbers[1])
        return 100 * waited / ran

    def metric(self, name):
        text = urllib.request.urlopen(f"http://{self.http}/metrics", timeout=PATIENCE).read().decode()
        found = re.search(rf"^{name}(?:{{[^}}]*}})? (\S+)$", text, re.MULTILINE)
        return float(found.group(1)) if found else 0.0

    def end(self):
        self.process.terminate()
        assert self.process.wait(PATIENCE) == 0, "the server did not end well"
        shutil.rmtree(self.folder)


def play(build, address, seconds, times):
    """Plays the scenario. Returns its result while the world still runs, so that the caller can inspect it."""
    return subprocess.Popen(
        [build / "bin/fogmarch-load", "--scenario", ROOT / "loadtest/scenarios/skirmish.yaml", "--connect", address,
         "--warm-up", str(WARM_UP), "--duration", str(seconds), "--tick-times", times, "--json", "--quiet"],
        stdout=subprocess.PIPE)


def run_once(build, seconds, journals, *flags):
    """One run. Returns the result, the time of each tick and of its search in ms, the journal's figures, and how
    long the server waited for processors, in per cent."""
    journal = tempfile.mkdtemp(prefix="fogmarch-cost-", dir=journals) if journals else None
    server = Server(build, *(["--journal-dir", journal, "--journal-keep", *flags] if journal else []))
    times = os.path.join(server.folder, "times")
    load = play(build, server.address, seconds, times)
    keyframes = {"count": 0.0, "sum": 0.0}
    while load.poll() is None:
        time.sleep(0.5)
        for key in keyframes if journal else ():
            keyframes[key] = max(keyframes[key], server.metric(f"fogmarch_journal_keyframe_seconds_{key}"))
    assert load.returncode == 0, "the run failed"
    result = json.loads(load.stdout.read())
    ticks = [[int(us) / 1000 for us in line.split()] for line in pathlib.Path(times).read_text().splitlines()]
    waited = server.waited_percent()
    server.end()
    if journal is None:
        return result, ticks, None, waited
    file, = pathlib.Path(journal).glob("*.ended")
    with sqlite3.connect(file) as database:
        rows, size, count = database.execute(
            "SELECT count(*), sum(length(bytes)), sum(kind = 2) FROM log").fetchone()
        kept, kept_size = database.execute("SELECT count(*), sum(length(bytes)) FROM keyframes").fetchone()
    database.close()
    said = {"rows": rows, "row_bytes": size, "ticks": count, "keyframes": kept, "keyframe_bytes": kept_size // kept,
            "keyframe_ms": 1000 * keyframes["sum"] / keyframes["count"] if keyframes["count"] else None}
    shutil.rmtree(journal)
    return result, ticks, said, waited


def quantile(values, share):
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, max(0, -int(-share * len(ordered) // 1) - 1))]


def summary(pairs):
    ticks = {kind: [tick for pair in pairs for tick in pair[kind]["ticks_ms"]] for kind in ("none", "tick")}
    rows = [pair["tick"]["journal"] for pair in pairs]
    costs = {"pairs": len(pairs), "ticks": {kind: len(list_) for kind, list_ in ticks.items()}}
    parts = (("whole_tick", lambda tick: tick[0]), ("without_search", lambda tick: tick[0] - tick[1]))
    for part, of in parts:
        costs[part] = {}
        for name, share in (("p50", 0.5), ("p90", 0.9), ("p99", 0.99)):
            none, tick = (quantile([of(entry) for entry in ticks[kind]], share) for kind in ("none", "tick"))
            costs[part][name] = {"none_ms": round(none, 3), "tick_ms": round(tick, 3),
                                "rise_percent": round(100 * (tick / none - 1), 2)}
    costs["bytes_per_tick"] = round(sum(row["row_bytes"] for row in rows) / sum(row["ticks"] for row in rows), 1)
    costs["rows_per_tick"] = round(sum(row["rows"] for row in rows) / sum(row["ticks"] for row in rows), 2)
    return costs


def main():
    if not 3 <= len(sys.argv) <= 6:
        sys.exit(__doc__)
    build, path = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2])
    wanted = int(sys.argv[3]) if len(sys.argv) > 3 else 3
    seconds = float(sys.argv[4]) if len(sys.argv) > 4 else 12
    journals = sys.argv[5] if len(sys.argv) > 5 else tempfile.gettempdir()
    costs = json.loads(path.read_text()) if path.exists() else {"summary": {}, "runs": []}
    for _ in range(wanted):
        pair = {}
        for kind in (("none", "tick") if len(costs["runs"]) % 2 == 0 else ("tick", "none")):
            result, ticks, journal, waited = run_once(build, seconds, journals if kind == "tick" else None)
            assert result["errors_total"] == 0, result["errors"]
            pair[kind] = {"ticks_ms": ticks, "journal": journal, "waited_percent": round(waited, 1)}
            costs["agents"], costs["tick_hz"], costs["machine"] = result["agents"], result["tick_hz"], result["machine"]
        waited = [pair[kind]["waited_percent"] for kind in pair]
        if max(waited) > DISTURBED:
            print(f"not counted: the servers waited for processors, {waited} %", file=sys.stderr)
            continue
        costs["runs"].append(pair)
    if wanted == 0:  # the separate run for keyframes
        _, _, often, _ = run_once(build, seconds, journals, "--keyframe-ticks", str(OFTEN))
        costs["keyframes"] = {"keyframe_ms": round(often["keyframe_ms"], 2), "bytes": often["keyframe_bytes"],
                             "count": often["keyframes"]}
    if costs["runs"]:
        costs["disturbed_percent"] = DISTURBED
        costs["summary"] = summary(costs["runs"])
    path.write_text(json.dumps(costs) + "\n")
    print(json.dumps({**costs["summary"], **costs.get("keyframes", {})}, indent=1))


if __name__ == "__main__":
    main()
