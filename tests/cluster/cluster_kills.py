"""fogmarch-load --cluster kills a node and finds nothing lost.

Goal    its JSON holds the figures that loadtest/README.md names, and they belong to this run.
Method  one kill, one move and one fault of etcd, two nodes.
"""

import json
import os
import subprocess
import sys

import cluster
from fogmarch_server import PATIENCE, run

cluster.skip_without_etcd()

PROGRAM = os.path.join(os.path.dirname(os.environ["FOGMARCHD"]), "fogmarch-load")


def nothing_is_lost():
    python = os.path.dirname(sys.executable)  # which has msgpack
    done = subprocess.run([PROGRAM, "--cluster", "2", "--kills", "1", "--moves", "1", "--engine-faults", "1", "--agents",
                           "20", "--json"], capture_output=True, text=True, timeout=2 * PATIENCE, check=False,
                          env={**os.environ, "PATH": f"{python}:{os.environ['PATH']}"})
    assert done.returncode == 0, done.stdout + done.stderr
    said = json.loads(done.stdout)
    assert said["commands"] > 20 and said["ticks_seen"] > 0 and said["append_ms"]["mean"] > 0, said
    assert 0 < said["move_pause_ms"]["median"] <= said["move_pause_ms"]["max"], said
    assert said["engine_faults"] == 1 and said["engine_gap_ms"]["max"] > 0, said
    assert 0 < said["takeover_ms"]["median"] <= said["takeover_ms"]["max"], said
    assert not any(said[name] for name in ("lost_commands", "carried_out_twice", "digest_differences",
                                           "two_speakers")), said


run([nothing_is_lost])
