#!/usr/bin/env python3
"""Plays every scenario of the load generator for a moment against a server that it starts itself.

Goal     the tool works from the command line to the result files, and its report is plausible:
         counts that must agree do agree, quantiles are in order, no request failed, no server is left.
Method   few agents, two measured seconds; no test judges a speed.

    FOGMARCHD=build/release/bin/fogmarchd tests/e2e/e2e_load.py [TEST...]
"""

import csv
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import unittest
import xml.etree.ElementTree

ROOT = pathlib.Path(__file__).resolve().parents[2]
SERVER = pathlib.Path(os.environ.get("FOGMARCHD", ROOT / "build/release/bin/fogmarchd")).resolve()
LOAD = SERVER.parent / "fogmarch-load"
SCENARIOS = ROOT / "loadtest" / "scenarios"
PATIENCE = 120  # seconds until a test gives up; nothing takes that long unless it hangs
QUANTILES = ["tick_ms", "overrun_ms", "stream_tick_ms", "order_to_first_move_ticks", "reply_ms",
             "late_ms"]
SMALL_MAP = "type octile\nheight 6\nwidth 9\nmap\n" + "\n".join(
    [".........", "..@@@@@..", ".........", "...T.T...", ".........", "........."]) + "\n"


def run(*arguments, code=0, cwd=ROOT):
    done = subprocess.run([LOAD, *map(str, arguments)], capture_output=True, text=True, timeout=PATIENCE,
                          cwd=cwd)
    assert done.returncode == code, (
        f"{arguments}: exit code {done.returncode}, not {code}\n{done.stdout}{done.stderr}")
    return done


def check_result(result, agents):
    for key in QUANTILES:
        # p99.9 of fewer than 1,000 values would simply be the largest.
        assert ("p999" in result[key]) == (result[key]["count"] >= 1000), result[key]
        values = [result[key][name] for name in ("p50", "p99", "p999", "max") if name in result[key]]
        assert values == sorted(values) and values[0] >= 0, f"{key}: {result[key]}"
    assert result["agents"] == agents
    assert result["ticks"] >= 1
    assert result["tick_ms"]["count"] == result["ticks"], "the warm-up is in the histogram"
    assert result["overrun_ms"]["count"] == result["ticks"]
    assert result["tick_ms"]["max"] > 0
    # Another connection sees where the measurement begins and ends: a few deltas more or less.
    assert 0 < result["stream_tick_ms"]["count"] <= result["ticks"] + 3, (result["stream_tick_ms"], result["ticks"])
    assert result["overrun_ms"]["max"] <= result["tick_ms"]["max"]
    assert result["expansions_per_second"] > 0
    assert result["moves_per_second"] > 0
    assert 0 < result["moves_per_agent"] <= 1.5
    assert result["bytes_per_agent"] > 0
    assert result["rss_bytes"] > 1 << 20
    assert result["search_bytes_per_agent"] > 0
    assert result["knowledge_bytes_per_agent"] > 0
    assert abs(sum(result["states_percent"].values()) - 100) < 0.01, result["states_percent"]
    assert result["errors_total"] == 0, result["errors"]
    assert result["errors"] == {}
    assert result["machine"]["cores"] >= 1 and result["machine"]["compiler"]
    assert result["machine"]["server"]


def check_scenario(name, agents, *arguments):
    done = run("--scenario", SCENARIOS / f"{name}.yaml", "--agents", agents, "--duration", 2,
               "--warm-up", 1, "--json", *arguments)
    result = json.loads(done.stdout)
    check_result(result, agents)
    assert result["scenario"] == name
    return result


class LoadTest(unittest.TestCase):
    def test_solo(self):
        result = check_scenario("solo", 40)
        assert result["teams"] == 40

    def test_solo_10k(self):
        result = check_scenario("solo-10k", 40)
        assert result["teams"] == 40 and result["budget_ms"] == 60

    def test_skirmish_100k(self):
        result = check_scenario("skirmish-100k", 800)
        assert result["teams"] == 8 and result["views"] == 9 and result["map"] == "skirmish 1024x1024"

    def test_skirmish(self):
        result = check_scenario("skirmish", 200, "--workers", 1, "--duration", 8)
        assert result["workers"] == 1
        assert result["views"] == 6

    def test_classes(self):
        result = check_scenario("classes", 200, "--duration", 8)
        assert result["orders_given"] > 0

    def test_siege(self):
        result = check_scenario("siege", 100)
        assert result["cells_edited"] > 0

    def test_blitz(self):
        result = check_scenario("blitz", 100, "--duration", 6)
        # Any six seconds contain one volley, which gives every agent an order.
        assert result["orders_given"] >= 100

    def test_storm(self):
        result = check_scenario("storm", 100)
        # Nobody can get in, yet everybody goes as near as possible.
        assert result["orders_ended"]["arrived"] == 0 == result["orders_ended"]["unreachable"]
        assert result["orders_given"] >= 200

    def test_storm_open(self):
        result = check_scenario("storm-open", 100)
        assert result["orders_ended"]["nearest_reached"] == 0 == result["orders_ended"]["unreachable"]
        assert result["orders_given"] >= 200

    def test_storm_reachable(self):
        check_scenario("storm-reachable", 100)

    def test_crater(self):
        result = check_scenario("crater", 200)
        # 500 in a tick, less those for which there is no room.
        assert result["cells_edited"] > 200 * result["ticks"]
        assert result["steps_checked"] > 100 and result["steps_through_walls"] == 0

    def test_crowd(self):
        result = check_scenario("crowd", 2000)  # so many that some queue
        assert result["stages_ms"]["move"] > 0
        assert result["states_percent"]["queueing"] > 0

    def test_spread(self):
        # Groups on a small open field arrive at one cell each, or each of them at a place of its own.
        ended = {}
        with tempfile.TemporaryDirectory() as folder:
            for spread in ("false", "true"):
                path = pathlib.Path(folder) / f"spread-{spread}.yaml"
                path.write_text(
                    "name: field\nmap: {generator: open, width: 64, height: 64}\n"
                    "server: {tick_hz: 50}\nrules: {occupancy: exclusive}\nagents: {count: 60, teams: 2}\n"
                    "orders: {group_size: [10, 10], again_s: [0, 0.1], goal_distance: [4, 12], "
                    f"spread: {spread}}}\n")
                result = json.loads(run("--scenario", path, "--warm-up", 0, "--duration", 3, "--json").stdout)
                ended[spread] = result["orders_ended"]
        assert ended["false"]["crowded"] > ended["false"]["arrived"] > 0, ended
        assert ended["true"]["arrived"] > 10 * ended["true"]["crowded"], ended

    def test_mapf(self):
        maps = pathlib.Path(os.environ.get("FOGMARCH_MAPS") or ROOT / "../shared/maps") / "mapf"
        if not maps.is_dir():
            self.skipTest(f"no maps in {maps}; FOGMARCH_MAPS names another folder")
        for name in ("random-64-64-20", "warehouse-10-20-10-2-1"):
            files = (maps / f"{name}.map", maps / f"{name}-random-1.scen")
            result = json.loads(run("--mapf", *files, "--agents", 400, "--json").stdout)
            assert result["agents"] == 400 and result["collisions"] == 0, result
            assert result["arrived"] == result["on_goal_at_end"] == 400, result
            assert result["stuck"] == 0 and result["stuck_agents"] == [], result
            assert result["makespan"] <= result["ticks"], result
            assert result["sum_of_costs"] <= 400 * result["makespan"], result
            assert result["ticks"] < result["ticks_max"], result

    def test_mapf_head_on(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder)
            (path / "small.map").write_text(SMALL_MAP)
            lines = ["0\tsmall.map\t9\t6\t0\t0\t8\t0\t8.0", "0\tsmall.map\t9\t6\t8\t0\t0\t0\t8.0"]
            (path / "small.scen").write_text("version 1\n" + "\n".join(lines) + "\n")
            files = (path / "small.map", path / "small.scen")
            result = json.loads(run("--mapf", *files, "--json").stdout)
            assert (result["agents"], result["arrived"], result["collisions"]) == (2, 2, 0), result
            assert result["ticks"] >= 8 and result["moves"] >= 16, result
            assert (result["on_goal_at_end"], result["stuck"]) == (2, 0), result
            # Both arrive and stay; the later arrival is the makespan and ends the run.
            assert 8 <= result["makespan"] == result["ticks"], result
            assert 16 <= result["sum_of_costs"] <= 2 * result["makespan"], result
            text = run("--mapf", *files).stdout
            assert f"makespan {result['makespan']}, sum of costs {result['sum_of_costs']}\n" in text, text
            run("--mapf", *files, "--agents", 3, code=2)
            run("--mapf", files[0], code=2)
            run("--mapf", *files, "--seed", 3, code=2)

    def test_crash_rounds(self):
        """Servers are killed and restarted, and nothing is missing."""
        result = json.loads(run("--crash-rounds", 5, "--seed", 11, "--json", "--quiet").stdout)
        assert result["rounds"] == 5, result
        assert result["lost_commands"] == 0 == result["digest_differences"], result
        assert result["lost_ticks"] == 0 == result["unknown_commands"], result
        assert result["sessions_resumed"] == 16 and result["sessions_refused"] == 0, result
        assert 0 < result["commands_acknowledged"] <= result["commands_sent"], result
        assert result["digests_compared"] >= 5 and result["ticks_replayed"] == result["ticks"] > 0, result

    def test_crash_rounds_notice(self):
        """A server that answers before it writes does lose something, and the tool notices."""
        with tempfile.TemporaryDirectory() as folder:
            hasty = pathlib.Path(folder) / "hasty"
            hasty.write_text(f'#!/bin/sh\nexec "{SERVER}" "$@" --durability interval --journal-interval-ms 60000\n')
            hasty.chmod(0o755)
            environment = {**os.environ, "TMPDIR": folder}
            done = subprocess.run([LOAD, "--crash-rounds", "2", "--server", hasty, "--json", "--quiet"],
                                  capture_output=True, text=True, timeout=PATIENCE, env=environment)
            assert done.returncode == 1, done
            result = json.loads(done.stdout)
            assert result["lost_commands"] > 0, result
            kept = done.stderr.split()[-1]
            assert kept.startswith(folder) and os.listdir(kept), done
        run("--crash-rounds", 0, code=2)
        run("--crash-rounds", 2, "--agents", 5, code=2)
        run("--crash-rounds", 2, "--connect", "127.0.0.1:1", code=2)

    def test_map_and_output(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder)
            (path / "small.map").write_text(SMALL_MAP)
            run("--scenario", "skirmish", "--map", path / "small.map", "--agents", 8, "--duration", 1,
                "--warm-up", 0.5, "--output", path / "results")
            result = json.loads((path / "results" / "skirmish.json").read_text())
            assert result["map"] == "small.map 9x6", result["map"]
            with open(path / "results" / "skirmish.csv", newline="") as file:
                header, values = list(csv.reader(file))
            row = dict(zip(header, values, strict=True))
            assert int(row["ticks"]) == result["ticks"]
            assert abs(float(row["tick_ms_p99"]) - result["tick_ms"]["p99"]) < 1e-3
            assert int(row["tick_ms_count"]) == result["ticks"] and row["tick_ms_p999"] == ""
            assert row["machine_cpu"] == result["machine"]["cpu"]

    def test_maps_of_other_formats(self):
        for name in ("forest.tmx", "forest.png"):
            done = run("--scenario", "skirmish", "--map", ROOT / "clients/maps/examples" / name, "--agents", 8,
                       "--duration", 1, "--warm-up", 0.5, "--json")
            assert json.loads(done.stdout)["map"] == name + " 12x8", done.stdout
        done = run("--scenario", "skirmish", "--map", ROOT / "README.md", "--agents", 8, "--duration", 1, code=2)
        assert "neither content nor ending is of a format that is known: MovingAI" in done.stderr, done.stderr

    def test_running_server_and_silent_clients(self):
        """A server that was already running is left running, and clients that never read disturb nobody."""
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder)
            (path / "silent.yaml").write_text(
                "name: silent\nduration_s: 2\nwarm_up_s: 1\nserver: {workers: 1}\n"
                "map: {generator: random, width: 64, height: 64, blocked_permille: 200}\n"
                "agents: {count: 300, teams: 2}\norders: {group_size: [1, 1], again_s: [0, 0]}\n"
                "subscribers: {team_views: 2, silent_views: 3}\n")
            environment = {k: v for k, v in os.environ.items() if not k.startswith("FOGMARCH_")}
            server = subprocess.Popen([SERVER, "--listen", "127.0.0.1:0", "--workers", "1", "--log-level",
                                       "error", "--port-file", path / "port"], env=environment)
            try:
                while not (path / "port").exists():
                    assert server.poll() is None
                    time.sleep(0.02)
                address = "127.0.0.1:" + (path / "port").read_text().strip()
                for _ in range(2):  # the first run must leave no world behind that disturbs the second
                    done = run("--scenario", path / "silent.yaml", "--connect", address, "--json")
                    result = json.loads(done.stdout)
                    check_result(result, 300)
                    assert result["views"] == 6 and result["server_cpus"] == 0
                assert server.poll() is None
            finally:
                server.terminate()
                assert server.wait(PATIENCE) == 0

    def test_find_max(self):
        """A map with room for only a few agents limits the search."""
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder)
            (path / "small.map").write_text(SMALL_MAP)
            done = run("--scenario", "skirmish", "--map", path / "small.map", "--agents", 16,
                       "--workers", 1, "--find-max", "--seconds-per-try", 1, "--json", "--output", path / "results")
            found = json.loads(done.stdout)["find_max"]
            assert json.loads((path / "results" / "skirmish-max.json").read_text())["find_max"] == found
            with open(path / "results" / "skirmish-max.csv", newline="") as file:
                header, values = list(csv.reader(file))
            assert float(dict(zip(header, values, strict=True))["agents_per_core"]) == found[0]["agents"]
            assert len(found) == 1 and found[0]["workers"] == 1
            assert found[0]["agents_per_core"] == found[0]["agents"]
            assert found[0]["agents_over"] > found[0]["agents"]

    def test_from_another_folder(self):
        """A scenario is found by name from any working folder; a wrong name lists the right ones."""
        with tempfile.TemporaryDirectory() as folder:
            done = run("--scenario", "skirmish", "--agents", 40, "--duration", 1, "--warm-up", 0.5, "--json",
                       "--quiet", cwd=folder)
            assert json.loads(done.stdout)["scenario"] == "skirmish"
            done = run("--scenario", "skirmsh", code=2, cwd=folder)
            assert "skirmsh: no such scenario; there are: " in done.stderr and "skirmish" in done.stderr, done.stderr
            (pathlib.Path(folder) / "mine").write_text("name: mine\nagents: {count: nine}\n")
            done = run("--scenario", "mine", code=2, cwd=folder)
            assert done.stderr.startswith("fogmarch-load: mine:2: agents.count"), done.stderr

    def test_mapf_stuck(self):
        """Two units have the same goal: one stands on it at the end, the other is stuck and costs all ticks."""
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder)
            (path / "small.map").write_text(SMALL_MAP)
            lines = ["0\tsmall.map\t9\t6\t0\t5\t8\t5\t8.0", "0\tsmall.map\t9\t6\t0\t4\t8\t5\t8.4"]
            (path / "small.scen").write_text("version 1\n" + "\n".join(lines) + "\n")
            result = json.loads(run("--mapf", path / "small.map", path / "small.scen", "--json").stdout)
            assert (result["on_goal_at_end"], result["stuck"], result["collisions"]) == (1, 1, 0), result
            assert [(one["agent"] in (0, 1), one["goal"]) for one in result["stuck_agents"]] == [(True, [8, 5])]
            assert result["stuck_agents"][0]["cell"] != [8, 5], result
            assert result["makespan"] == result["ticks"], result
            assert result["ticks"] + 8 <= result["sum_of_costs"] < 2 * result["ticks"], result

    def test_report(self):
        """A capacity report: every cell is there, all formats agree, the page is a single file that loads no other."""
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder)
            (path / "small.map").write_text(SMALL_MAP)
            (path / "mix.yaml").write_text(
                "name: small\nserver:\n  workers: 1\nagents:\n  count: 24\n  teams: 2\n"
                "orders:\n  group_size: [1, 2]\n  goal_distance: [1, 8]\n")
            done = run("report", "--map", path / "small.map", "--mix", path / "mix.yaml", "--seconds", 5, "--json",
                       "--output", path / "results")
            report = json.loads(done.stdout)
            assert [(cell["workers"], cell["tick_hz"]) for cell in report["cells"]] == [
                (1, 30), (1, 20), (1, 10), (1, 5)], report["cells"]
            assert json.loads((path / "results/report.json").read_text()) == report
            for cell in report["cells"]:
                assert abs(cell["budget_ms"] * cell["tick_hz"] - 500) < 1e-4, cell
                if cell["agents"] > 0:
                    assert cell["result"]["agents"] == cell["agents"]
                    assert cell["result"]["tick_ms"]["p99"] <= cell["budget_ms"]
                assert cell["agents_over"] == 0 or cell["agents_over"] > cell["agents"], cell
            assert len(report["tries"]) >= 4
            with open(path / "results/report.csv", newline="") as file:
                assert all(row["part"] in ("carried", "held", "budget") for row in csv.DictReader(file))
            page = (path / "results/report.html").read_text()
            data = page.split('id="data">')[1].split("</script>")[0]
            assert json.loads(data) == report
            assert "@DATA@" not in page and "@CODE@" not in page and "@LOOK@" not in page
            assert " src=" not in page and "<link" not in page, "the page needs another file"
        for flags in (("--mix", "skirmish"), ("--quick",), ("report",), ("report", "--mix", "skirmish", "--find-max"),
                      ("report", "--mix", "skirmish", "--connect", "127.0.0.1:1"),
                      ("report", "--mix", "skirmish", "--seconds", "4")):
            run(*flags, code=2)

    def test_curve(self):
        columns = ["agents", "budget_ms", "moves_per_second", "waiting_percent", "expansions_per_second",
                   "first_move_p50_ticks", "first_move_p99_ticks", "tick_p99_ms"]
        short = ("--scenario", "skirmish", "--duration", 1.5, "--warm-up", 1, "--quiet")
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder)
            points = json.loads(run(*short, "--curve", "50,200", "--json", "--output", path).stdout)["curve"]
            assert [point["agents"] for point in points] == [50, 200]
            for point in points:
                assert list(point)[:len(columns)] == columns
                assert point["tick_p99_ms"] == point["result"]["tick_ms"]["p99"] > 0
                assert point["result"]["agents"] == point["agents"] and point["moves_per_second"] > 0
                assert point["errors_total"] == 0
            with open(path / "curve.csv", newline="") as file:
                header, *rows = list(csv.reader(file))
            assert header[:len(columns)] == columns and len(rows) == 2
            assert [float(row[7]) for row in rows] == [point["tick_p99_ms"] for point in points]
            assert json.loads((path / "curve.json").read_text())["curve"] == points
            chart = xml.etree.ElementTree.parse(path / "curve.svg").getroot()
            texts = ["".join(text.itertext()) for text in chart.iter("{http://www.w3.org/2000/svg}text")]
            for text in ("moves a second", "time of a tick, ms", "agents", "budget"):
                assert text in texts, texts
            assert len(list(chart.iter("{http://www.w3.org/2000/svg}circle"))) >= 2 * 4
        lines = run(*short, "--curve", "60").stdout.splitlines()
        assert len(lines) == 4 and lines[3].split()[:2] == ["60", "40"], lines

    def test_curve_keeps_what_it_has(self):
        """A size that does not fit on the map ends the curve; the sizes before it are still reported."""
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder)
            (path / "small.map").write_text(SMALL_MAP)
            done = run("--scenario", "skirmish", "--map", path / "small.map", "--duration", 1, "--warm-up", 0.5,
                       "--quiet", "--curve", "8,5000", "--output", path / "results", code=2)
            assert "5000 agents: agents.count: 5000 do not fit" in done.stderr, done.stderr
            assert done.stdout.splitlines()[-1].split()[0] == "8", done.stdout
            assert len((path / "results/curve.csv").read_text().splitlines()) == 2

    def test_wrong_curve(self):
        for sizes, wrong in (("5,x", "'x' is not a number of agents"), ("9,4", "4 comes after 9"),
                             ("5,,9", "number 2 of the list is empty"), ("2,9", "agents.teams")):
            done = run("--scenario", "skirmish", "--curve", sizes, code=2)
            assert "--curve: " in done.stderr and wrong in done.stderr, done.stderr
        for flags in (("--agents", 5), ("--find-max",), ("--tick-times", "/dev/null")):
            run("--scenario", "skirmish", "--curve", "5,9", *flags, code=2)
        run("--crash-rounds", 1, "--curve", "5", code=2)

    def test_wrong_scenario(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "wrong.yaml"
            path.write_text("name: wrong\nagents:\n  count: plenty\n")
            done = run("--scenario", path, code=2)
            assert f"{path}:3: agents.count" in done.stderr, done.stderr
        run("--scenario", "skirmish", "--agents", 0, code=2)
        run("--no-such-flag", code=2)

    def test_reference_without_its_map(self):
        """A missing map is noticed before half an hour of runs, not after it."""
        done = subprocess.run(["bash", "loadtest/reference.sh", "/dev/null/results", "no/such.map"], capture_output=True,
                              text=True, timeout=PATIENCE, cwd=ROOT, check=False)
        assert done.returncode == 1 and "no/such.map: there is no such map" in done.stderr and not done.stdout, done

    def test_game_commands_where_nobody_moves(self):
        """A tick in which nothing changed has no delta: the script must not wait for it."""
        done = subprocess.run([sys.executable, "loadtest/game_commands.py", "--build", SERVER.parent.parent, "--agents", "20",
                               "--budget-ms", "0.05", "--runs", "cost", "--rounds", "1"], capture_output=True, text=True,
                              timeout=PATIENCE, cwd=ROOT, check=False)
        if "No module named 'msgpack'" in done.stderr:
            self.skipTest("install the Debian package python3-msgpack")
        assert done.returncode == 0 and done.stdout.splitlines()[-1].startswith("cost,20,"), done

    def test_interrupt(self):
        """Ctrl-C ends the run, and the server that it started."""
        load = subprocess.Popen([LOAD, "--scenario", "skirmish", "--agents", "50", "--quiet"],
                                stderr=subprocess.PIPE, text=True, cwd=ROOT)
        children = pathlib.Path(f"/proc/{load.pid}/task/{load.pid}/children")
        while not (server := children.read_text().split()):
            assert load.poll() is None
            time.sleep(0.05)
        time.sleep(1)
        load.send_signal(signal.SIGINT)
        _, errors = load.communicate(timeout=PATIENCE)
        assert load.returncode == 1 and "interrupted" in errors, errors
        assert not os.path.exists(f"/proc/{server[0]}"), "the server is still there"


if __name__ == "__main__":
    unittest.main(verbosity=2)
