#!/usr/bin/env python3
"""Writes the tables of measured numbers from the results that reference.sh has made.

Usage: loadtest/readme_table.py [FOLDER]

FOLDER holds the CSV files; loadtest/results otherwise. README.md gets a short table of the runs that matter
most, loadtest/README.md one of all runs. A run whose file is missing gets no row. The tables stand between
two comments, and only what is between them is written.
"""

import csv
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
SHORT = ("skirmish", "siege", "blitz", "crowd", "crater", "solo")


def number(name, form="%.1f", scale=1.0):
    return lambda run: form % (float(run[name]) * scale)


def grouped(name):
    return lambda run: "{:,}".format(int(run[name]))


def ticks(run):
    # Of a few hundred ticks the 99.9th percentile is the largest: it is called what it is.
    return "%.1f / %.1f / %.1f" % tuple(float(run["tick_ms_" + end]) for end in ("p50", "p99", "max"))


def first_move(run):
    p50, p99 = (float(run["order_to_first_move_ticks_" + end]) for end in ("p50", "p99"))
    return "%.0f / %s" % (p50, "64+" if p99 >= 64 else "%.0f" % p99)


# Heading, and the cell of a run.
SHORT_COLUMNS = (
    ("agents", grouped("agents")),
    ("tick p50, ms", number("tick_ms_p50")),
    ("max", number("tick_ms_max")),
    ("waiting %", number("states_percent_waiting")),
    ("RSS MiB", number("rss_bytes", "%.0f", 1 / 2**20)),
)
COLUMNS = (
    ("agents", grouped("agents")),
    ("tick p50 / p99 / max ms", ticks),
    ("first move p50 / p99 ticks", first_move),
    ("waiting %", number("states_percent_waiting")),
    ("RSS MiB", number("rss_bytes", "%.0f", 1 / 2**20)),
    ("workers", grouped("workers")),
    ("ticks", grouped("ticks")),
    ("over budget max ms", number("overrun_ms_max", "%.2f")),
    ("expansions/s", number("expansions_per_second", "%.0f k", 1 / 1000)),
    ("search KiB per agent", number("search_bytes_per_agent", "%.1f", 1 / 1024)),
)


def read(folder, name):
    with open(folder / (name + ".csv"), newline="", encoding="utf-8") as file:
        return next(csv.DictReader(file))


def table(runs, names, columns):
    lines = ["| run | what it is | " + " | ".join(heading for heading, _ in columns) + " |",
             "| --- | --- |" + " ---: |" * len(columns)]
    for name, about in ROWS:
        if name in runs and name in names:
            lines.append("| `%s` | %s | %s |" % (name, about, " | ".join(cell(runs[name]) for _, cell in columns)))
    return lines


def conditions(runs):
    """What the numbers hold for, in lines."""
    first = next(iter(runs.values()))

    def values(name, form="%.0f"):
        return " or ".join(sorted({form % float(run[name]) for run in runs.values()}))

    commits = sorted({run["machine_commit"][:12] for run in runs.values()})
    return ["%s, %s cores, %s, release build of %s;" % (
        first["machine_cpu"], first["machine_cores"], first["machine_compiler"], ", ".join(commits)),
        "%s s each; %s Hz, budget %s ms; map: %s unless said." % (
        values("duration_s"), values("tick_hz"), values("budget_ms"), first["map"])]


def write(path, lines):
    text = "\n".join([BEGIN, *lines, END])
    old = path.read_text(encoding="utf-8")
    new, count = re.subn(re.escape(BEGIN) + ".*" + re.escape(END), lambda _: text, old, flags=re.DOTALL)
    if count != 1:
        sys.exit("%s: the two comments around the table are not there" % path)
    path.write_text(new, encoding="utf-8")


def main():
    folder = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "loadtest/results"
    names = [name for name, _ in ROWS]
    runs = {name: read(folder, name) for name in names if (folder / (name + ".csv")).exists()}
    if not runs:
        sys.exit("%s: no results" % folder)
    about = conditions(runs)
    write(ROOT / "README.md", table(runs, SHORT, SHORT_COLUMNS) + ["", *about])
    write(ROOT / "loadtest/README.md", table(runs, names, COLUMNS) + ["", *about])


if __name__ == "__main__":
    main()
