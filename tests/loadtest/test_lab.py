#!/usr/bin/env python3
"""Runs small experiments of fogmarch-lab from outside and checks what must hold at any speed of the machine.

Goal:   every experiment succeeds, its JSON has the documented keys, and its numbers obey relations
        that no noise can break: agents arrive, no path is cheaper than the optimum, the same seed
        gives the same expansions.
Method: each test runs the program as a user would and parses --json; of times it only checks that
        they are there. Tests that need the benchmark maps are skipped with a message where those
        are missing. Run as: test_lab.py PROGRAM MAPS.
"""

import csv
import json
import os
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile
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


BESIDE = pathlib.Path(PROGRAM).resolve().parents[1] / "share/fogmarch/maps"


@unittest.skipUnless(BESIDE.is_dir(), f"no maps in '{BESIDE}'")
class DefaultMaps(unittest.TestCase):
    """The program finds the maps relative to itself, in any working directory."""

    def test_from_another_folder(self):
        environment = {name: value for name, value in os.environ.items() if name != "FOGMARCH_MAPS"}
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run([pathlib.Path(PROGRAM).resolve(), "openlist", "--map", "arena2", "--problems", "1",
                                   "--json"], capture_output=True, text=True, cwd=folder, env=environment)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertTrue(json.loads(done.stdout)["rows"])


@unittest.skipUnless(BESIDE.is_dir(), f"no maps in '{BESIDE}'")
class Travel(unittest.TestCase):
    """Groups arrive with every planner, on paths hardly longer than with D* Lite, and the same in each run."""

    def test_groups(self):
        arguments = ("travel", "--map", "arena2,32room_000", "--groups", 4, "--seed", 1)
        found = run_json(*arguments)
        for name, row in rows_by(found, "planner").items():
            self.assertEqual(row["lost"], 0, name)
            self.assertLess(row["travel_ratio_mean"], 1.1, name)
        self.assertEqual(len(found["rows"]), 4)
        self.assertEqual(run_json(*arguments), found)


class Problems(unittest.TestCase):
    """Optima with two decimals, rounded or cut off, do not count as wrong answers."""

    def test_two_decimals(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "open.map")
            path.write_text("type octile\nheight 40\nwidth 40\nmap\n" + ("." * 40 + "\n") * 40)
            for length, status in (("5.24", 0), ("5.25", 0), ("5.2426", 0), ("5.2", 0), ("5.22", 1), ("5.2400", 1),
                                   ("5", 1)):  # 3 diagonal steps and 1 straight one: 5.24264
                path.with_suffix(".map.scen").write_text(f"version 1\n0\topen.map\t40\t40\t0\t0\t4\t3\t{length}\n")
                done = subprocess.run([PROGRAM, "scen", path, path.with_suffix(".map.scen")], capture_output=True,
                                      text=True)
                self.assertEqual(done.returncode, status, f"{length}: {done.stdout}{done.stderr}")

    def test_maps_of_other_formats(self):
        forest = pathlib.Path(__file__).resolve().parents[2] / "clients/maps/examples/forest.tmx"
        rows = run_json("openlist", "--map", forest, "--problems", 1)["rows"]
        self.assertTrue(rows)


class Example(unittest.TestCase):
    def test_known_counts(self):
        result = run_json("example")
        self.assertEqual(result["repeated_forward_astar"], 23)
        self.assertEqual(result["adaptive_astar"], 20)
        drawing = run("example").stdout
        self.assertIn("search 2 from C2: 13 cells expanded, path of 7 steps", drawing)
        self.assertIn("search 2 from C2: 10 cells expanded, path of 7 steps", drawing)


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

    def test_step_choice(self):
        arguments = ("maze", "--runs", 5, "--seed", SEED, "--variants", "dstar-lite-bucket")
        first = run_json(*arguments)["rows"][0]
        self.assertEqual(run_json(*arguments, "--step", "first")["rows"][0]["moves_mean"],
                         first["moves_mean"])
        nearest = run_json(*arguments, "--step", "nearest")["rows"][0]
        self.assertGreaterEqual(nearest["cost_ratio_mean"], 1)
        run(*arguments, "--step", "left", status=2)

    def test_larger_g_expands_fewer_cells(self):
        # The factor is three on average; over ten mazes it must show.
        result = run_json("maze101", "--runs", 10, "--seed", SEED, "--variants",
                          "repeated-forward-astar-larger-g,repeated-forward-astar-smaller-g")
        larger, smaller = (row["expansions_mean"] for row in result["rows"])
        self.assertLess(larger, smaller)


class Bench(unittest.TestCase):
    def test_csv(self):
        lines = run("bench", "--missions", 2, "--repeats", 1, "--map", "maze201,rooms256",
                    "--seed", SEED).stdout.splitlines()
        rows = list(csv.DictReader(lines))
        planners = {row["map"]: set() for row in rows}
        for row in rows:
            planners[row["map"]].add(row["planner"])
            for key in ("expansions", "moves", "ns_per_expansion", "us_per_move", "bytes"):
                self.assertGreater(float(row[key]), 0, (row["planner"], key))
        self.assertEqual(planners["rooms256"] - planners["maze201"], {"repeated-jps"})

    def test_two_builds(self):
        # A program compared with itself does the same work.
        result = run_json("bench", "--against", os.path.abspath(PROGRAM), "--missions", 1,
                          "--repeats", 1, "--rounds", 2, "--map", "maze201", "--seed", SEED,
                          "--planners", "dstar-lite-bucket,dstar-lite:queue=heap,ties=larger-g")
        self.assertEqual(len(result["rows"]), 2)
        for row in result["rows"]:
            self.assertEqual(row["expansions"], row["other_expansions"])
            self.assertGreater(row["ratio_mean"], 0)

    def test_other_program_is_missing(self):
        done = run("bench", "--against", "/nowhere/fogmarch-lab", "--missions", 1, status=1)
        self.assertIn("/nowhere/fogmarch-lab", done.stderr)


@unittest.skipUnless(os.path.isdir(MAPS), f"no maps in '{MAPS}'; FOGMARCH_MAPS names another folder")
class Maps(unittest.TestCase):
    def test_scen_finds_the_optima_of_the_file(self):
        for planner in ("dstar-lite", "repeated-jps", "adaptive-astar", "query"):
            lines = run("scen", "arena2", "arena2.map.scen", "--planner", planner, "--limit", 5,
                        "--maps", MAPS, "--json").stdout.splitlines()
            self.assertEqual(len(lines), 6)
            for line in map(json.loads, lines[:5]):
                self.assertTrue(line["right"])
                self.assertAlmostEqual(line["cost"] / line["optimal_cost"], 1, delta=1e-4)
                self.assertGreater(line["expansions"], 0)
                self.assertGreater(line["microseconds"], 0)
            self.assertEqual(json.loads(lines[5])["wrong"], 0)

    def test_scen_notices_costs_that_are_wrong(self):
        with open(os.path.join(MAPS, "dao", "arena2.map.scen")) as file:
            lines = [line for line in file.read().splitlines() if line.strip()]
        fields = lines[-1].split("\t")
        for factor in (0.999, 1.001):
            with tempfile.TemporaryDirectory() as folder:
                doctored = os.path.join(folder, "arena2.map.scen")
                with open(doctored, "w") as file:
                    false = fields[:-1] + [str(float(fields[-1]) * factor)]
                    file.write("\n".join(lines[:3] + ["\t".join(false)]) + "\n")
                done = run("scen", "arena2", doctored, "--planner", "repeated-jps", "--json",
                           "--maps", MAPS, status=1)
            verdicts = [json.loads(line) for line in done.stdout.splitlines()]
            self.assertEqual([problem["right"] for problem in verdicts[:3]], [True, True, False])
            self.assertEqual(verdicts[3]["wrong"], 1)

    def test_missions(self):
        planners = ["dstar-lite", "repeated-jps", "repeated-forward-astar"]
        result = run_json("missions", "--map", "arena2", "--missions", 3, "--planners",
                          ",".join(planners), "--maps", MAPS)
        self.assertEqual([row["planner"] for row in result["rows"]], planners)
        for row in result["rows"]:
            self.assertEqual((row["map"], row["missions"], row["unreached"]), ("arena2", 3, 0))
            self.assertGreaterEqual(row["cost_ratio_mean"], 1)
            for key in ("planning_us_per_move", "sensing_us_per_move", "expansions_mean",
                        "replans_mean", "bytes_mean", "mission_ms_mean", "moves_mean"):
                self.assertGreater(row[key], 0, key)

    def test_gametime(self):
        result = run_json("gametime", "--map", "arena2", "--missions", 2, "--maps", MAPS, "--seed",
                          SEED, "--intervals", "20,100,1000", "--terrain", "unknown,hidden,tiles",
                          "--planners", "repeated-forward-astar,tbaa-star,dstar-lite")
        self.assertEqual(len(result["rows"]), 3 * 3 * 3)
        for row in result["rows"]:
            self.assertGreaterEqual(row["intervals_mean"], row["moves_mean"])
            self.assertEqual(row["capped"], 0)
        for terrain in ("unknown", "hidden", "tiles"):
            # It moves only when its search is complete, so longer intervals change its waiting, but not
            # its path.
            rows = [row for row in result["rows"] if row["terrain"] == terrain and
                    row["planner"] == "repeated-forward-astar"]
            self.assertEqual([row["interval_expansions"] for row in rows], [20, 100, 1000])
            self.assertEqual(len({row["moves_mean"] for row in rows}), 1)
            waits = [row["intervals_mean"] for row in rows]
            self.assertEqual(waits, sorted(waits, reverse=True))

    def test_gametime_by_the_clock(self):
        result = run_json("gametime", "--map", "arena2", "--missions", 1, "--maps", MAPS,
                          "--intervals", 100, "--terrain", "unknown", "--planners",
                          "repeated-jps", "--clock")
        self.assertGreater(result["rows"][0]["interval_us"], 0)

    def test_depressions(self):
        result = run_json("depressions", "--map", "arena2", "--missions", 1, "--maps", MAPS,
                          "--lookahead", "8,64", "--moves", 2000)
        self.assertEqual(len(result["rows"]), 2 * 6)
        for row in result["rows"]:
            self.assertLessEqual(row["moves_mean"], 2000)
            self.assertGreater(row["us_per_episode"], 0)

    def test_openlist(self):
        result = run_json("openlist", "--map", "arena2", "--problems", 3, "--maps", MAPS)
        rows = rows_by(result, "list")
        self.assertEqual(set(rows), {"unsorted", "sorted", "binary", "4-ary", "buckets"})
        for row in rows.values():
            self.assertGreater(row["ns_per_expansion"], 0)
        # Whatever the tie-break, all variants expand the cells that look better than the path.
        counts = [row["expansions_mean"] for row in rows.values()]
        self.assertLess(max(counts), 2 * min(counts))

        result = run_json("openlist", "--map", "arena2", "--problems", 1, "--maps", MAPS,
                          "--lists", "4-ary,binary")
        self.assertEqual(set(rows_by(result, "list")), {"binary", "4-ary"})
        run("openlist", "--lists", "oak", status=2)

    def test_tiles(self):
        rows = run_json("tiles", "--repeats", 1)["rows"]
        self.assertEqual({row["blocked_percent"] for row in rows}, {0, 10, 35})
        for row in rows:
            if row["kernel"] == "plain":
                self.assertGreater(row["tile_us"], 0)

    def test_landmarks(self):
        result = run_json("landmarks", "--map", "arena2", "--problems", 6, "--counts", "2,8",
                          "--maps", MAPS)
        rows = {(row["placement"], row["landmarks"]): row for row in result["rows"]}
        self.assertEqual({placement for placement, _ in rows},
                         {"octile", "random", "farthest", "avoid", "past-the-goal",
                          "farthest, moving"})
        plain = rows["octile", 0]["expansions_mean"]
        for (placement, count), row in rows.items():
            self.assertLessEqual(row["expansions_mean"], plain, placement)
            self.assertEqual(row["build_expansions"] > 0, count > 0)
        self.assertLess(rows["farthest", 8]["expansions_mean"],
                        rows["farthest", 2]["expansions_mean"])
        run("landmarks", "--counts", "17", status=2)

    def test_scen_by_heuristic(self):
        for heuristic in ("zero", "octile", "chebyshev", "euclidean", "cluster", "landmarks"):
            run("scen", "arena2", "arena2.map.scen", "--planner", "astar", "--heuristic", heuristic,
                "--limit", 4, "--maps", MAPS)
        # With 8 neighbours this heuristic is too high, and marked so: wrong costs must be noticed.
        run("scen", "arena2", "arena2.map.scen", "--planner", "astar", "--heuristic", "manhattan",
            "--limit", 60, "--maps", MAPS, status=1)
        run("scen", "arena2", "arena2.map.scen", "--planner", "tba-star", "--heuristic",
            "manhattan", "--limit", 4, "--maps", MAPS, status=2)

    def test_all_seeds_that_are_not_solved_are_named(self):
        done = run("mapf", "--drawn", 40, "--ticks", 1, "--neighbours", 4, "--seed", 1000000, "--json", status=1)
        row = json.loads(done.stdout)["rows"][0]
        seeds = [int(seed) for seed in row["unsolved"].split()]
        self.assertGreater(len(row["unsolved"]), 128)
        self.assertEqual(len(seeds), row["problems"] - row["solved"])
        self.assertEqual(seeds, sorted(set(seeds)))
        self.assertTrue(all(f"\nseed {seed}, " in "\n" + done.stderr for seed in seeds))
        text = run("mapf", "--drawn", 40, "--ticks", 1, "--neighbours", 4, "--seed", 1000000, status=1).stdout
        self.assertIn(row["unsolved"] + "\n", text)

    def test_table_and_picture(self):
        with tempfile.TemporaryDirectory() as folder:
            table, svg = os.path.join(folder, "t.md"), os.path.join(folder, "p.svg")
            picture = ["--svg", svg] if shutil.which("gnuplot") else []
            run("missions", "--map", "arena2", "--missions", 2, "--planners", "repeated-jps",
                "--maps", MAPS, "--table", table, *picture)
            with open(table) as file:
                lines = file.read().splitlines()
            self.assertEqual(len(lines), 3)
            self.assertEqual(len({line.count("|") for line in lines}), 1)
            if picture:
                with open(svg) as file:
                    self.assertIn("repeated-jps", file.read())


class NoMaps(unittest.TestCase):
    def test_says_where_it_looked(self):
        done = run("missions", "--maps", "/nowhere/at/all", status=1)
        self.assertIn("/nowhere/at/all", done.stderr)
        self.assertIn("FOGMARCH_MAPS", done.stderr)


EXPERIMENTS = ["example", "maze", "maze101", "missions", "gametime", "depressions", "openlist",
               "landmarks", "mapf", "hour", "crowd", "travel", "scen", "tiles", "bench"]

if __name__ == "__main__":
    print(f"[ SEED     ] to repeat this run: FOGMARCH_SEED={SEED}", flush=True)
    unittest.main(argv=[sys.argv[0], "--verbose"])
