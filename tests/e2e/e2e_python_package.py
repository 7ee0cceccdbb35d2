"""The Python library as a user gets it: packed, installed into a clean environment, used from there.

Goal    `pip install` of the wheel and of the sdist works; the example of the README runs unchanged;
        the client without asyncio calls, follows views, times out and notices the end of the connection.
Method  wheel and sdist are built with Debian's setuptools, without a network, and installed into a
        virtual environment that sees Debian's msgpack. The programs below run there, in an empty folder.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile

from fogmarch_server import Server, run

SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../clients/python")

PLAIN = '''
import os, sys
import fogmarch
address = os.environ["FOGMARCH_ADDRESS"]
assert os.sep + "site-packages" + os.sep in fogmarch.__file__, fogmarch.__file__
assert os.path.exists(os.path.join(os.path.dirname(fogmarch.__file__), "py.typed"))
with fogmarch.connect_plain(address) as client, fogmarch.connect_plain(address, timeout_s=5) as other:
    world = client.world_create(name="plain", generator="skirmish", width=64, height=64, seed=3,
                                paused=True)["world"]
    team = client.team_create(world=world)["team"]
    bases = client.world_info(world=world)["bases"]
    view = client.view(world=world, team=team)
    agents = client.agent_spawn(world=world, team=team, cells=bases[:2] * 5)["agents"]
    client.agent_order(world=world, agents=agents, kind="move", goal=[bases[2], bases[3]])
    client.world_step(world=world, ticks=20)
    while view.mirror.tick < 20:  # deltas that came while the calls waited
        assert view.next(timeout_s=10) is view.mirror
    seen = {agent.id: (agent.x, agent.y) for agent in view.mirror.agents.values()}
    fresh = other.view(world=world, team=team)
    assert seen == {agent.id: (agent.x, agent.y) for agent in fresh.mirror.agents.values()}
    assert len(seen) == 5 and set(seen.values()) != {tuple(bases[:2])}
    try:
        view.next(timeout_s=0.05)
        sys.exit("a paused world said something")
    except TimeoutError:
        pass
    try:
        client.agent_order(world=world, agents=[999], kind="move", goal=[1, 1])
        sys.exit("an order to nobody was taken")
    except fogmarch.RequestError as error:
        assert error.status == "no_agent", error.status
    fresh.end()
    other.world_destroy(world=world)
    assert list(view) == [], "a world that ended goes on"
    client.close()
    try:
        client.ping()
        sys.exit("a closed client answered")
    except fogmarch.ConnectionEnded:
        pass
try:
    fogmarch.connect_plain("nowhere")
    sys.exit("an address without a port was taken")
except ValueError as error:
    assert "nowhere" in str(error)
'''


def pip(python, *arguments):
    done = subprocess.run([python, "-m", "pip", "--disable-pip-version-check", "-q", *arguments],
                          capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr


def packed(folder):
    """Builds the sdist and the wheel from a copy, which leaves nothing in the source tree."""
    copy = os.path.join(folder, "source")
    shutil.copytree(SOURCE, copy, ignore=shutil.ignore_patterns("__pycache__", "*.egg-info", "build"))
    code = ("import sys; from setuptools import build_meta as b; out = sys.argv[1]; "
            "b.build_sdist(out); b.build_wheel(out)")
    subprocess.run([sys.executable, "-c", code, folder], cwd=copy, check=True, capture_output=True,
                   timeout=300)
    files = [name for name in os.listdir(folder) if name.endswith((".whl", ".tar.gz"))]
    assert len(files) == 2, files
    return sorted(os.path.join(folder, name) for name in files)


def readme_example():
    with open(os.path.join(SOURCE, "README.md"), encoding="utf-8") as file:
        return re.search(r"```python\n(.*?)```", file.read(), re.DOTALL).group(1)


def installed_and_used():
    with tempfile.TemporaryDirectory() as folder, Server() as server:
        for package in packed(folder):
            home = package + ".venv"
            subprocess.run([sys.executable, "-m", "venv", "--system-site-packages", home], check=True,
                           timeout=300)
            python = os.path.join(home, "bin", "python3")
            pip(python, "install", "--no-index", "--no-build-isolation", package)
            empty = package + ".empty"
            os.mkdir(empty)
            environment = {"PATH": os.environ["PATH"], "FOGMARCH_ADDRESS": f"127.0.0.1:{server.port}"}
            example = readme_example().replace("127.0.0.1:7421", f"127.0.0.1:{server.port}")
            example = example.replace("name=\"arena\"", f"name=\"arena-{len(package)}\"")
            for program in PLAIN, example:
                done = subprocess.run([python, "-c", program], cwd=empty, env=environment,
                                      capture_output=True, text=True, timeout=120)
                assert done.returncode == 0, done.stderr
            assert "tick" in done.stdout


run([installed_and_used])
