"""The files of configs/monitoring for Prometheus and Grafana match the metrics of a server.

Goal    no panel and no alert uses a metric or a label that does not exist; alerts fire when they should.
Method  a real server's /metrics; promtool checks the expressions, the alerts' tests and the config.
"""

import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

from e2e_http import WebServer
from fogmarch_server import run, until

FOLDER = pathlib.Path(__file__).resolve().parents[2] / "configs/monitoring"
NAME = re.compile(r"fogmarch_\w+")


def dashboard():
    return json.loads((FOLDER / "dashboard.json").read_text())


def expressions():
    """The expressions of all panels, with Grafana's variables replaced."""
    for panel in dashboard()["panels"]:
        for target in panel.get("targets", []):
            expression = target["expr"].replace("$__rate_interval", "1m")
            yield panel["title"], expression.replace("$instance", ".+").replace("$world", ".+")


def promtool(*arguments):
    result = subprocess.run(["promtool", *arguments], capture_output=True, text=True, cwd=FOLDER)
    assert result.returncode == 0, result.stdout + result.stderr


def names_are_those_of_a_server():
    with WebServer() as server:
        client = server.connect()
        world = client.call("world.create", name="arena", generator="open", width=16, height=16)["world"]
        client.call("team.create", world=world)
        text = server.get("/metrics")[2]
    # Without a standby nothing is sent, and that can be seen. A relay, and a node: what they need cannot be reached,
    # and their metrics are there all the same.
    with tempfile.TemporaryDirectory() as folder, \
            WebServer("--durability", "replica", "--journal-dir", folder) as server:
        until(lambda: "\nfogmarch_standby_blocked 1\n" in server.get("/metrics")[2], "the metric")
        text += server.get("/metrics")[2]
    with WebServer("--relay-of", "127.0.0.1:1") as server:
        text += server.get("/metrics")[2]
    with tempfile.TemporaryDirectory() as folder, \
            WebServer("--cluster-name", "c", "--cluster-endpoints", "127.0.0.1:1", "--journal-dir", folder) as server:
        text += server.get("/metrics")[2]
    labels = {}
    for line in text.splitlines():
        if not line.startswith("#"):
            name, _, rest = line.partition("{")
            labels.setdefault(name.split(" ")[0], set()).update(re.findall(r'(\w+)="', rest))
    asked = [(f"panel {title}", expression) for title, expression in expressions()]
    asked.append(("alerts", (FOLDER / "alerts.yaml").read_text().replace("annotations", "")))
    count = 0
    for where, expression in asked:
        for name in NAME.findall(expression):
            assert name in labels or name + "_bucket" in labels, f"{where}: the server has no {name}"
            count += 1
        selectors = re.findall(r"(fogmarch_\w+)\{([^}]*)\}", expression)
        for name, selector in selectors if where.startswith("panel") else []:
            for label in re.findall(r"(\w+)=", selector):
                assert label in labels[name] | {"instance", "job"}, f"{where}: {name} has no label {label}"
        for by, inside in re.findall(r"by \(([\w, ]+)\) \((.*)", expression) if where.startswith("panel") else []:
            for label in by.split(", "):
                assert label in labels[NAME.search(inside)[0]] | {"instance"}, f"{where}: no label {label}"
    assert count > 40


def the_journals_alert_can_fire():
    """A world waits when too many of its ticks do, so more never wait."""
    bound = int(re.search(r"define FM_JOURNAL_TICKS_WAITING_MAX (\d+)u",
                          (FOLDER / "../../server/journal/journal.h").read_text())[1])
    limit = int(re.search(r"fogmarch_journal_backlog_ticks > (\d+)", (FOLDER / "alerts.yaml").read_text())[1])
    assert limit < bound, f"the alert waits for {limit} ticks, and there are {bound} at most"


def the_dashboard_is_the_one_that_is_written():
    made = subprocess.run([sys.executable, "-B", str(FOLDER / "dashboard.py")], capture_output=True, text=True, check=True)
    assert made.stdout == (FOLDER / "dashboard.json").read_text(), "configs/monitoring/dashboard.py was changed: renew it"
    ids = [panel["id"] for panel in dashboard()["panels"]]
    assert len(ids) == len(set(ids)) > 20


def promtool_agrees():
    if not shutil.which("promtool"):
        print("[ SKIPPED  ] promtool: install the Debian package prometheus")
        return
    promtool("check", "config", "prometheus.yaml")
    promtool("check", "rules", "alerts.yaml")
    promtool("test", "rules", "alerts_test.yaml")
    with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:  # each expression is checked as a recording rule
        json.dump({"groups": [{"name": "panels", "rules": [
            {"record": f"panel_{i}", "expr": expression} for i, (_, expression) in enumerate(expressions())]}]}, file)
        file.flush()
        promtool("check", "rules", file.name)


if __name__ == "__main__":
    run([names_are_those_of_a_server, the_journals_alert_can_fire, the_dashboard_is_the_one_that_is_written, promtool_agrees])
