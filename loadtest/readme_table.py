#!/usr/bin/env python3
"""Writes the README's table of measured numbers from the results that reference.sh has made.

Usage: loadtest/readme_table.py [FOLDER]

FOLDER holds the JSON files; loadtest/results otherwise. A run whose file is missing gets no row. The table
stands in README.md between two comments, and only what is between them is written.
"""

import json
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
BEGIN, END = "<!-- measured: begin -->", "<!-- measured: end -->"

# Name of the file, and what the run is about.
ROWS = (
    ("skirmish", "four teams, group orders"),
    ("skirmish-map", "the same on the StarCraft map Ramparts"),
    ("siege", "and 40 walls a second go up and down"),
    ("classes", "skirmish with four movement classes, units of 1 to 3 cells"),
    ("blitz", "all agents get new goals in one tick, every 5 s"),
    ("crowd", "a cell holds one unit, all under way"),
    ("storm", "all ordered into one enclosed cell, every second"),
    ("storm-open", "the same without the wall"),
    ("storm-reachable", "the same, to goals of their own that can be reached"),
    ("crater", "500 cells edited in every tick"),
    ("solo", "each agent has its own goal and knowledge"),
    ("solo-dstar-lite", "the same, `dstar-lite`"),
    ("solo-adaptive-astar", "the same, `adaptive-astar`"),
    ("solo-1-worker", "solo, one worker"),
    ("saturated-1-worker", "solo, `dstar-lite`, more than one worker can carry"),
    ("saturated-2-workers", "the same, two workers"),
)
HEADINGS = ("run", "what it is", "agents", "workers", "tick p50 / p99 / p99.9 ms", "over budget p99.9 ms",
            "first move p50 / p99 ticks", "waiting %", "expansions/s", "search KiB per agent", "RSS MiB")


def row(folder, name, about):
    path = folder / (name + ".json")
    if not path.exists():
        return None, None
    result = json.loads(path.read_text())
    tick, first_move = result["tick_ms"], result["order_to_first_move_ticks"]
    return result, [
        "`%s`" % name, about, "{:,}".format(result["agents"]), str(result["workers"]),
        "%.1f / %.1f / %.1f" % (tick["p50"], tick["p99"], tick["p999"]),
        "%.2f" % result["overrun_ms"]["p999"],
        "%.0f / %s" % (first_move["p50"],
                       "64+" if first_move["p99"] >= 64 else "%.0f" % first_move["p99"]),
        "%.1f" % result["states_percent"]["waiting"], "{:,.0f} k".format(result["expansions_per_second"] / 1000),
        "%.1f" % (result["search_bytes_per_agent"] / 1024), "%.0f" % (result["rss_bytes"] / 2**20)]


def find_max_lines(folder):
    lines = []
    for path in sorted(folder.glob("*-max.json")):
        for found in json.loads(path.read_text())["find_max"]:
            lines.append("- Agents per core in `solo`, %d worker%s: **%s** (%s agents in all)." % (
                found["workers"], "" if found["workers"] == 1 else "s",
                "{:,.0f}".format(found["agents_per_core"]), "{:,}".format(found["agents"])))
    return lines


def conditions(results):
    """One line that says where the numbers come from."""
    first = results[0]
    machine = first["machine"]
    seconds = sorted({round(result["duration_s"]) for result in results})
    commits = sorted({result["machine"]["commit"][:12] for result in results})
    return "%s, %d cores, %s, release build of %s; %s s each; %.0f Hz, budget %s ms; map: %s unless said." % (
        machine["cpu"], machine["cores"], machine["compiler"], ", ".join(commits),
        " or ".join(map(str, seconds)), first["tick_hz"],
        " or ".join("%.0f" % budget for budget in sorted({result["budget_ms"] for result in results})), first["map"])


def main():
    folder = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "loadtest/results"
    results, lines = [], []
    for name, about in ROWS:
        result, cells = row(folder, name, about)
        if result:
            results.append(result)
            lines.append("| %s |" % " | ".join(cells))
    if not results:
        sys.exit("%s: no results" % folder)
    table = ["| %s |" % " | ".join(HEADINGS), "| --- | --- |" + " ---: |" * (len(HEADINGS) - 2), *lines]
    found = find_max_lines(folder)
    text = "\n".join([BEGIN, *table, "", *found, *([""] if found else []), conditions(results), END])
    readme = ROOT / "README.md"
    old = readme.read_text(encoding="utf-8")
    new, count = re.subn(re.escape(BEGIN) + ".*" + re.escape(END), lambda _: text, old, flags=re.DOTALL)
    if count != 1:
        sys.exit("README.md: the two comments around the table are not there")
    readme.write_text(new, encoding="utf-8")


if __name__ == "__main__":
    main()
