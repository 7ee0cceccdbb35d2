#!/usr/bin/env python3
"""Writes the tables of measured numbers from the results that reference.sh has made.

Usage: loadtest/readme_table.py [FOLDER]

FOLDER holds runs.csv; the default is loadtest/results. README.md gets a short table of the runs that matter most,
loadtest/README.md one of all runs. A run that is not in the file gets no row, and a page none of whose runs is
there stays as it is. The tables stand between two comments, and only the text between them is replaced.
"""

import csv
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
BEGIN, END = "<!-- measured: begin -->", "<!-- measured: end -->"

# Name of each run, and what it is.
ROWS = (
    ("skirmish", "four teams in fog, groups of 12 to 60"),
    ("skirmish-100k", "eight teams in fog, groups of 1 to 200"),
    ("crowd", "a cell holds one unit, all under way"),
    ("blitz", "all get new goals in one tick, every 5 s"),
    ("siege", "40 walls a second go up and down"),
    ("solo-10k", "each has its own goal and knowledge"),
    ("classes", "four movement classes, units of 1 to 3 cells"),
    ("skirmish-map", "skirmish on the StarCraft map Ramparts"),
    ("crater", "500 cells edited in every tick"),
    ("storm", "all ordered into one enclosed cell, every second"),
    ("storm-open", "the same without the wall"),
    ("storm-reachable", "the same, to goals of their own that can be reached"),
    ("solo", "each has its own goal and knowledge"),
    ("solo-dstar-lite", "the same, `dstar-lite`"),
    ("solo-adaptive-astar", "the same, `adaptive-astar`"),
    ("solo-1-worker", "solo, one worker"),
    ("saturated-1-worker", "solo, `dstar-lite`, more than one worker can carry"),
    ("saturated-2-workers", "the same, two workers"),
)
SHORT = ("skirmish", "skirmish-100k", "crowd", "blitz", "siege", "solo-10k", "classes")


def number(name, form="%.1f", scale=1.0):
    return lambda run: form % (float(run[name]) * scale)


def grouped(name):
    return lambda run: "{:,.0f}".format(float(run[name]))


def ticks(run):
    # The 99th percentile of 80 ticks is simply the largest, so the largest is shown.
    return "%.1f / %.1f" % tuple(float(run["tick_ms_" + end]) for end in ("p50", "max"))


def first_move(run):
    p99 = float(run["order_to_first_move_ticks_p99"])
    return "64+" if p99 >= 64 else "%.0f" % p99


# Column headings, and the function that makes a run's cell.
SHORT_COLUMNS = (
    ("agents", grouped("agents")),
    ("moves/s", grouped("moves_per_second")),
    ("waiting %", number("states_percent_waiting")),
    ("tick p50 / max ms", ticks),
    ("first move p99 ticks", first_move),
)
COLUMNS = (
    *SHORT_COLUMNS,
    ("ticks", grouped("ticks")),
    ("workers", grouped("workers")),
    ("expansions/s", number("expansions_per_second", "%.0f k", 1 / 1000)),
    ("search KiB per agent", number("search_bytes_per_agent", "%.1f", 1 / 1024)),
    ("RSS MiB", number("rss_bytes", "%.0f", 1 / 2**20)),
)


def read(folder):
    with open(folder / "runs.csv", newline="", encoding="utf-8") as file:
        return {run["run"]: run for run in csv.DictReader(file)}


def table(runs, names, columns):
    lines = ["| run | what it is | " + " | ".join(heading for heading, _ in columns) + " |",
             "| --- | --- |" + " ---: |" * len(columns)]
    for name, about in ROWS:
        if name in runs and name in names:
            lines.append("| `%s` | %s | %s |" % (name, about, " | ".join(cell(runs[name]) for _, cell in columns)))
    return lines


def conditions(runs):
    """The conditions of the measurement, in lines."""
    first = runs[0]

    def values(name):
        numbers = ["%g" % number for number in sorted({round(float(run[name])) for run in runs})]
        return " or ".join([", ".join(numbers[:-1]), numbers[-1]] if len(numbers) > 1 else numbers)

    commits = sorted({run["machine_commit"][:12] for run in runs})
    return ["%s, %s cores, %s, release build of %s;" % (
        first["machine_cpu"], first["machine_cores"], first["machine_compiler"], ", ".join(commits)),
        "%s s each; %s Hz, budget %s ms." % (values("duration_s"), values("tick_hz"), values("budget_ms"))]


def replaced(path, lines):
    """The page with these lines between the two comments."""
    text = "\n".join([BEGIN, *lines, END])
    old = path.read_text(encoding="utf-8")
    new, count = re.subn(re.escape(BEGIN) + ".*" + re.escape(END), lambda _: text, old, flags=re.DOTALL)
    if count != 1:
        sys.exit("%s: the two comments around the table are not there" % path)
    return new


def main():
    if len(sys.argv) > 2 or sys.argv[1:2] in (["-h"], ["--help"]):
        sys.exit(__doc__)
    folder = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "loadtest/results"
    runs = read(folder)
    names = [name for name, _ in ROWS]
    pages = {}
    for page, shown, columns in (("README.md", SHORT, SHORT_COLUMNS), ("loadtest/README.md", names, COLUMNS)):
        listed = [runs[name] for name in shown if name in runs]
        if listed:
            pages[page] = replaced(ROOT / page, table(runs, shown, columns) + ["", *conditions(listed)])
        else:
            print("%s: none of the runs of %s, which stays as it is" % (folder / "runs.csv", page), file=sys.stderr)
    if not pages:
        sys.exit("%s: no run that a table has" % (folder / "runs.csv"))
    for page, text in pages.items():
        (ROOT / page).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
