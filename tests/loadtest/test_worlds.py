#!/usr/bin/env python3
"""Runs loadtest/worlds.py with a few small worlds, and checks what must hold at any speed of the machine.

Goal:   it ends, its JSON has the documented numbers, worlds tick and units move.
Method: runs it as a user would, against the server of this build. Run as: test_worlds.py PROGRAM, where PROGRAM is
        fogmarchd. Skipped without python3-msgpack.
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

PROGRAM = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "build/release/bin/fogmarchd").resolve()
ROOT = pathlib.Path(__file__).resolve().parents[2]


def worlds(*flags):
    with tempfile.TemporaryDirectory() as folder:
        output = pathlib.Path(folder) / "out.json"
        done = subprocess.run([sys.executable, "-B", "loadtest/worlds.py", "--build", str(PROGRAM.parents[1]), "--worlds", "3",
                               "--units", "8", "--side", "64", "--seconds", "3", "--output", str(output), *flags],
                              cwd=ROOT, capture_output=True, text=True,
                              env={**os.environ, "PYTHONPATH": str(ROOT / "clients/python")})
        assert done.returncode == 0, done.stderr
        assert json.loads(done.stdout) == json.loads(output.read_text())
        return json.loads(done.stdout)


class Worlds(unittest.TestCase):
    def test_numbers(self):
        told = worlds("--seed", "7", "--workers", "2")
        self.assertEqual((told["worlds"], told["units"], told["side"], told["seed"]), (3, 8, 64, 7))
        for name in ("ticks", "moves_per_second", "server_cpus", "tick_ms_p50", "order_answer_ms_p99",
                     "counted_bytes_per_world"):
            self.assertGreater(told[name], 0, told)


try:
    import msgpack  # noqa: F401
except ImportError:
    print("skipped: python3-msgpack is missing")
    sys.exit(77)
unittest.main(argv=[sys.argv[0]], verbosity=2)
