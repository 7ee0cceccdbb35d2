"""etcd is lost for good: `fogmarch cluster restore`.

Goal    the journals of the old nodes bring every world back into a cluster with a new etcd, under its
        name and number, in the state that clients saw last; a command that was answered before is
        still known; losses are reported, also by the exit status.
Method  two nodes; one world that moves from one to the other, one whose journal is damaged. All
        processes are killed and etcd's data removed. The restored world is compared with what clients
        were told.
"""

import glob
import os
import subprocess

import cluster
from cluster import Etcd, Node, is_here, move, until
from fogmarch_server import PATIENCE, run

cluster.skip_without_etcd()


def restore(*words):
    program = os.path.join(os.path.dirname(os.environ["FOGMARCHD"]), "fogmarch")
    done = subprocess.run([program, "cluster", "restore", *words], capture_output=True, text=True,
                          timeout=PATIENCE, check=False)
    return done.returncode, done.stdout + done.stderr


def play(node, name):
    """Makes a world and orders something. Returns its number and the answer."""
    client = node.connect()
    world = client.call("world.create", name=name, generator="open", width=32, height=32, tick_hz=50,
                        paused=True)["world"]
    client.call("team.create", world=world)
    client.call("agent.spawn", world=world, team=1, cells=[1, 1, 2, 2])
    order = client.call("agent.order", **order_of(world))
    client.call("world.step", world=world, ticks=10)
    client.close()
    return world, order


def order_of(world):
    return dict(world=world, agents=[1, 2], kind="move", goal=[30, 20], command_id=77)


def cells_of(client, world):
    return [client.call("debug.inspect", world=world, agent=agent)["cell"] for agent in (1, 2)]


def lose_everything(etcd, nodes):
    """Plays, moves, kills. Returns what clients were told of the world that must come back, and the other's number."""
    a, b = nodes
    world, order = play(a, "arena")
    torn, _ = play(a, "torn")
    admin = b.connect()
    until(lambda: len(admin.call("cluster.status")["worlds"]) == 2, "the directory")
    move(admin, world, "b")
    until(lambda: is_here(admin, world), "the world to move")
    admin.call("world.step", world=world, ticks=5)
    # After the last tick: accepted and answered, but not part of any tick yet.
    late = admin.call("agent.order", world=world, agents=[1], kind="hold", command_id=78)
    told = admin.call("world.info", world=world)
    told["cells"] = cells_of(admin, world)
    admin.close()
    for node in nodes:
        node.kill()
    etcd.kill(0)
    for path in glob.glob(os.path.join(a.journals, f"{torn}-torn.journal*")):
        with open(path, "r+b") as file:
            file.truncate(3000)
    return world, torn, order, late, told


def worlds_come_back():
    with Etcd() as etcd:
        nodes = [Node(etcd, name) for name in "ab"]
        folders = [node.journals for node in nodes]
        try:
            world, torn, order, late, told = lose_everything(etcd, nodes)
            code, said = restore(*folders, "--dry-run")
            assert code == 1 and f"world {world}, arena" in said and "to tick 15" in said, said
            assert "1 worlds can be restored, 0 left alone" in said, said
            with Etcd() as fresh:
                nodes += [Node(fresh, name) for name in "cd"]
                where = f"127.0.0.1:{nodes[2].port}"
                code, said = restore(*folders, "--connect", where)
                assert code == 1 and "1 worlds restored, 0 left alone, 1 with losses or lost" in said, said
                assert f"{torn}-torn.journal" in said and "it ends where it was written to" in said, said
                place = nodes[3].connect()
                until(lambda: place.call("cluster.status")["worlds"], "the directory")
                found = place.call("world.locate", name="arena")
                owner = next(node for node in nodes[2:] if node.name == found["node"]).connect()
                until(lambda: is_here(owner, world), "the world to be there")
                info = owner.call("world.info", name="arena")
                info["cells"] = cells_of(owner, world)
                for key in ("world", "name", "tick", "paused", "tick_hz", "budget_ms", "agents", "cells"):
                    assert info[key] == told[key], (key, info, told)
                assert owner.call("agent.order", **order_of(world)) == order
                again = owner.call("agent.order", world=world, agents=[1], kind="hold", command_id=78)
                assert again == late, (again, late)
                next_one = owner.call("world.create", name="next", generator="open", width=8, height=8)["world"]
                assert next_one > world
                code, said = restore(folders[1], "--connect", where)
                assert code == 0 and "0 worlds restored, 1 left alone" in said, said
                owner.close(), place.close()
                for node in nodes[2:]:
                    log = node.close()
                    assert not node.hung and node.process.returncode == 0 and "Sanitizer" not in log, log
        finally:
            for node in nodes:
                if os.path.exists(node.folder):
                    node.close()


run([worlds_come_back])
