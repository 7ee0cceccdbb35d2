#!/usr/bin/env python3
"""Writes dashboard.json, the Grafana dashboard of fogmarchd's metrics.

    configs/monitoring/dashboard.py > configs/monitoring/dashboard.json

A panel is one line below: its title, its unit, and its queries with their legends. Rows group panels by
subject; four panels fit beside each other.
"""

import json

WORLD = 'instance=~"$instance",world=~"$world"'
SERVER = 'instance=~"$instance"'
BY_WORLD = "{{world}}"


def quantile(share, metric, by="world"):
    return (f"histogram_quantile({share}, sum by ({by}, le) (rate({metric}_bucket{{{WORLD}}}[$__rate_interval])))")


def rate(metric, by, labels=WORLD):
    return f"sum by ({by}) (rate({metric}{{{labels}}}[$__rate_interval]))"


def gauge(metric, by, how="sum", labels=WORLD):
    return f"{how} by ({by}) ({metric}{{{labels}}})"


ROWS = [
    ("At a glance", [
        ("Agents", "short", [(gauge("fogmarch_agents", "state"), "{{state}}")]),
        ("Moves a second", "short", [(rate("fogmarch_moves_total", "world"), BY_WORLD)]),
        ("Tick, 99th percentile, and budget", "s",
         [(quantile(0.99, "fogmarch_tick_duration_seconds"), BY_WORLD),
          (gauge("fogmarch_search_budget_seconds", "world", "max"), "{{world}} budget")]),
        ("Clients", "short", [(gauge("fogmarch_clients", "role", labels=SERVER), "{{role}}")]),
    ]),
    ("Ticks", [
        ("Tick, median", "s", [(quantile(0.5, "fogmarch_tick_duration_seconds"), BY_WORLD)]),
        ("Mean time by stage", "s",
         [("sum by (stage) (rate(fogmarch_tick_stage_seconds_sum{%s}[$__rate_interval])) / "
           "sum by (stage) (rate(fogmarch_tick_stage_seconds_count{%s}[$__rate_interval]))" % (WORLD, WORLD),
           "{{stage}}")]),
        ("Over budget, 99th percentile", "s", [(quantile(0.99, "fogmarch_tick_overrun_seconds"), BY_WORLD)]),
        ("Late, skipped, degraded ticks a second", "short",
         [(rate("fogmarch_ticks_late_total", "world"), "{{world}} late"),
          (rate("fogmarch_ticks_skipped_total", "world"), "{{world}} skipped"),
          (rate("fogmarch_ticks_degraded_total", "world"), "{{world}} degraded")]),
    ]),
    ("Searching and walking", [
        ("Order to first move, 99th percentile, ticks", "short",
         [(quantile(0.99, "fogmarch_first_move_delay_ticks"), BY_WORLD)]),
        ("Expansions a second by planner", "short",
         [(rate("fogmarch_planner_expansions_total", "planner"), "{{planner}}")]),
        ("Replans a second by cause", "short", [(rate("fogmarch_replans_total", "cause"), "{{cause}}")]),
        ("Conflicts a second, and stuck units", "short",
         [(rate("fogmarch_conflicts_total", "kind"), "{{kind}}"),
          (gauge("fogmarch_stuck_agents", "world"), "{{world}} stuck")]),
    ]),
    ("Orders and teams", [
        ("Orders a second", "short", [(rate("fogmarch_orders_total", "world"), BY_WORLD)]),
        ("Orders that end, a second, by reason", "short",
         [(rate("fogmarch_orders_ended_total", "reason"), "{{reason}}")]),
        ("Share of the map that a team knows", "percentunit",
         [(gauge("fogmarch_known_cells_ratio", "world", "avg"), BY_WORLD)]),
        ("Cells changed by edits, a second", "short", [(rate("fogmarch_map_cells_changed_total", "world"), BY_WORLD)]),
    ]),
    ("Clients and wire", [
        ("Bytes a second", "Bps", [(rate("fogmarch_client_tx_bytes_total", "instance", SERVER), "{{instance}} out"),
                                   (rate("fogmarch_client_rx_bytes_total", "instance", SERVER), "{{instance}} in")]),
        ("Ticks that the slowest client is behind", "short",
         [(gauge("fogmarch_client_lag_ticks", "instance", "max", SERVER), "{{instance}}")]),
        ("Merged deltas, forced keyframes, resumed streams a second", "short",
         [(rate("fogmarch_client_coalesced_ticks_total", "instance", SERVER), "merged"),
          (rate("fogmarch_client_forced_keyframes_total", "instance", SERVER), "keyframes"),
          (rate("fogmarch_client_resumed_streams_total", "instance", SERVER), "resumed")]),
        ("Refused a second", "short",
         [(rate("fogmarch_wrong_tokens_total", "instance", SERVER), "wrong tokens"),
          (rate("fogmarch_connections_turned_away_total", "instance", SERVER), "turned away"),
          (rate("fogmarch_rate_refusals_total", "instance", SERVER), "beyond their rates"),
          (rate("fogmarch_protocol_errors_total", "instance", SERVER), "malformed")]),
    ]),
    ("Memory and disk", [
        ("Memory", "bytes", [(gauge("fogmarch_resident_memory_bytes", "instance", "max", SERVER), "process"),
                             (gauge("fogmarch_world_memory_bytes", "world"), BY_WORLD),
                             (gauge("fogmarch_search_memory_bytes", "world"), "{{world}} searches"),
                             (gauge("fogmarch_knowledge_memory_bytes", "world"), "{{world}} knowledge")]),
        ("Journal: bytes a second", "Bps", [(rate("fogmarch_journal_bytes_total", "world"), BY_WORLD)]),
        ("Journal: ticks that wait for the disk", "short",
         [(gauge("fogmarch_journal_backlog_ticks", "world"), BY_WORLD),
          (gauge("fogmarch_journal_failing", "world", "max"), "{{world}} failing")]),
        ("Journal: commit, 99th percentile", "s", [(quantile(0.99, "fogmarch_journal_commit_seconds"), BY_WORLD)]),
    ]),
]

SOURCE = {"type": "prometheus", "uid": "${datasource}"}


def panel(number, title, unit, queries, x, y):
    return {
        "id": number, "type": "timeseries", "title": title, "datasource": SOURCE,
        "gridPos": {"x": x, "y": y, "w": 6, "h": 7},
        "fieldConfig": {"defaults": {"unit": unit, "min": 0, "custom": {"fillOpacity": 8, "showPoints": "never"}},
                        "overrides": []},
        "options": {"legend": {"displayMode": "list", "placement": "bottom", "showLegend": True},
                    "tooltip": {"mode": "multi", "sort": "desc"}},
        "targets": [{"refId": chr(ord("A") + i), "datasource": SOURCE, "expr": expression, "legendFormat": legend,
                     "range": True} for i, (expression, legend) in enumerate(queries)],
    }


def variable(name, label, metric):
    return {
        "name": name, "label": label, "type": "query", "datasource": SOURCE, "refresh": 2, "sort": 1,
        "query": {"query": f"label_values({metric}, {name})", "refId": name},
        "includeAll": True, "multi": True, "current": {"text": ["All"], "value": ["$__all"]},
    }


def dashboard():
    panels = []
    y = 0
    for title, row in ROWS:
        panels.append({"id": len(panels) + 1, "type": "row", "title": title, "collapsed": False, "panels": [],
                       "gridPos": {"x": 0, "y": y, "w": 24, "h": 1}})
        for i, (name, unit, queries) in enumerate(row):
            panels.append(panel(len(panels) + 1, name, unit, queries, 6 * i, y + 1))
        y += 8
    return {
        "uid": "fogmarch", "title": "fogmarch", "tags": ["fogmarch"], "timezone": "browser", "schemaVersion": 39,
        "version": 1, "editable": True, "graphTooltip": 1, "refresh": "10s",
        "time": {"from": "now-30m", "to": "now"}, "annotations": {"list": []}, "links": [],
        "templating": {"list": [
            {"name": "datasource", "label": "Prometheus", "type": "datasource", "query": "prometheus",
             "current": {"text": "", "value": ""}, "refresh": 1},
            variable("instance", "server", "fogmarch_uptime_seconds"),
            variable("world", "world", "fogmarch_ticks_total"),
        ]},
        "panels": panels,
    }


if __name__ == "__main__":
    print(json.dumps(dashboard(), indent=1))
