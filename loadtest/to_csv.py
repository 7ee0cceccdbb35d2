#!/usr/bin/env python3
"""Turns the JSON of fogmarch-load, fogmarch-lab and the scripts beside this one into the CSV of
loadtest/results.

    loadtest/to_csv.py FILE.json... >FILE.csv

Each file gives one line, or one for each of its `rows` (fogmarch-lab) or named parts (sessions.py). Nested keys
are joined by _, so tick_ms.p99 becomes tick_ms_p99. Lists, such as the time of every tick, are left out, because
the summary covers them. So is p99.9 of fewer than 1,000 values, which would simply be the largest. With several
files the first column, `run`, is the file's name.
"""

import csv
import json
import pathlib
import sys


P999_COUNT_MIN = 1000


def flatten(value, name=""):
    """The single values in an object, by the path of their keys."""
    if isinstance(value, dict):
        if value.get("count", P999_COUNT_MIN) < P999_COUNT_MIN:
            value = {key: entry for key, entry in value.items() if key != "p999"}
        return {path: leaf for key, entry in value.items()
                for path, leaf in flatten(entry, f"{name}_{key}" if name else key).items()}
    return {} if isinstance(value, list) else {name: value}


def rows_of(result):
    if isinstance(result.get("rows"), list):  # an experiment of fogmarch-lab
        common = {key: value for key, value in result.items() if not isinstance(value, (list, dict))}
        return [{**common, **flatten(row)} for row in result["rows"]]
    parts = {key: part for key, part in result.items() if isinstance(part, dict) and "stretches" in part}
    if parts:  # sessions.py: one part for each world and transport
        low_high = {key: dict(zip(("low", "high"), part["p99_ratio_95"])) for key, part in parts.items()}
        return [{"part": key, **flatten(part), **flatten(low_high[key], "p99_ratio_95")}
                for key, part in parts.items()]
    return [flatten(result)]


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    paths = [pathlib.Path(path) for path in sys.argv[1:]]
    rows = [{**({"run": path.stem} if len(paths) > 1 else {}), **row}
            for path in paths for row in rows_of(json.loads(path.read_text()))]
    columns = list(dict.fromkeys(column for row in rows for column in row))
    writer = csv.DictWriter(sys.stdout, columns, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)


if __name__ == "__main__":
    main()
