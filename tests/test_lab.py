#!/usr/bin/env python3
"""Runs fogmarch-lab from outside, small, and checks what must hold whatever the machine's speed.

Goal:   every experiment ends well, its JSON has the promised keys, and its numbers obey relations
        that no noise can break: agents arrive, nobody is cheaper than the optimum, the same seed
        gives the same expansions.
Method: each test runs the program as a user would; --json is parsed, times are only checked for
        being there. Tests that need the benchmark maps are skipped where those are missing, and
        say so. Run as: test_lab.py PROGRAM MAPS.
"""

import json
import os
import random
import subprocess
import sys
import unittest

PROGRAM = sys.argv[1] if len(sys.argv) > 1 else "build/release/bin/fogmarch-lab"
MAPS = os.environ.get("FOGMARCH_MAPS") or (sys.argv[2] if len(sys.argv) > 2 else "")
SEED = int(os.environ.get("FOGMARCH_SEED") or random.SystemRandom().randrange(2**32))


def run(*arguments, status=0):
    done = subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True)
    assert done.returncode == status, f"{arguments}: exit status {done.returncode}\n{done.stderr}"
    return done


def run_json(*arguments):
    return json.loads(run(*arguments, "--json").stdout)


def rows_by(result, key):
    return {row[key]: row for row in result["rows"]}


class CommandLine(unittest.TestCase):
    def test_help_lists_every_experiment(self):
        text = run("--help").stdout
        for name in EXPERIMENTS:
            self.assertIn(f"\n  {name} ", text)
            self.assertIn("Usage: fogmarch-lab " + name, run(name, "--help").stdout)

    def test_wrong_usage(self):
        for arguments in (["nothing"], ["maze", "--runs", "0"], ["maze", "--runs", "x"],
                          ["maze", "--variants", "no-such-planner"], ["maze", "extra"],
                          ["maze", "--no-such-option"]):
            done = run(*arguments, status=2)
            self.assertIn("fogmarch-lab", done.stderr)
            self.assertEqual(done.stdout, "")


class Maze(unittest.TestCase):
    KEYS = ("expansions_mean", "expansions_ci95", "mission_us_mean", "ns_per_expansion")
    VARIANTS = ("dstar-lite-bucket", "dstar-lite-heap-larger-g", "dstar-lite-heap-smaller-g",
                "adaptive-astar", "repeated-forward-astar")

    def test_rows(self):
        result = run_json("maze", "--runs", 3, "--seed", SEED)
        self.assertEqual(result["experiment"], "maze")
        rows = rows_by(result, "variant")
        for variant in self.VARIANTS:
            for key in self.KEYS:
                self.assertGreater(rows[variant][key], 0, (variant, key))
            self.assertGreaterEqual(rows[variant]["cost_ratio_mean"], 1)
            self.assertGreaterEqual(rows[variant]["moves_mean"], rows[variant]["replans_mean"])

    def test_same_seed_same_expansions(self):
        arguments = ("maze", "--runs", 4, "--seed", SEED, "--variants", "dstar-lite-bucket")
        first, second = run_json(*arguments), run_json(*arguments, "--repeats", 2)
        for key in ("expansions_mean", "expansions_ci95", "moves_mean", "secondary_mean"):
            self.assertEqual(first["rows"][0][key], second["rows"][0][key])

    def test_options_name_the_same_planner_as_aliases(self):
        alias, spec = "dstar-lite-heap-larger-g", "dstar-lite:queue=heap,ties=larger-g"
        result = run_json("maze", "--runs", 2, "--seed", SEED, "--variants", f"{alias},{spec}")
        rows = rows_by(result, "variant")
        self.assertEqual(rows[alias]["expansions_mean"], rows[spec]["expansions_mean"])


EXPERIMENTS = ["maze"]

if __name__ == "__main__":
    print(f"[ SEED     ] to repeat this run: FOGMARCH_SEED={SEED}", flush=True)
    unittest.main(argv=[sys.argv[0], "--verbose"])
