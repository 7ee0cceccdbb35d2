"""Nodes that die while their world is being played.

Goal    whatever happens to its node, a world goes on: each answered command is carried out exactly
        once, no tick has two digests, epochs rise, and a node that was presumed dead says nothing
        more about a world that another node has.
Method  real nodes and real etcd on loopback. A client sends orders and watches all the time, follows
        the world and sends unanswered commands again; nodes are killed, stopped and told to end; etcd
        dies and comes back. The results are compared with the world's counts and the records in etcd.
"""

import os
import random
import time

import cluster
from cluster import Etcd, Follower, Node, RequestError, is_here, move, until
from fogmarch_server import run, seed
from match import Match, by_name, close_all, epochs_rise, owner_of

cluster.skip_without_etcd()

def a_node_is_killed_and_another_is_told_to_end():
    source = random.Random(seed())
    with Etcd(int(os.environ.get("FOGMARCH_ETCD_MEMBERS", "1"))) as etcd:
        nodes = [Node(etcd, name, "--keyframe-ticks", "40") for name in "abc"]
        try:
            match = Match(nodes, source)
            match.goes_on()
            killed = by_name(nodes, owner_of(etcd, match.world)[1])
            killed.kill()
            match.goes_on()
            epoch, name = owner_of(etcd, match.world)
            assert epoch == 2 and name != killed.name
            ended = by_name(nodes, name)
            ended.process.terminate()
            ended.process.wait(cluster.PATIENCE)  # it hands the world to the third node
            match.goes_on()
            assert owner_of(etcd, match.world)[0] == 3
            killed.start()  # as a new process, which may take worlds again
            by_name(nodes, owner_of(etcd, match.world)[1]).kill()
            match.goes_on()
            assert owner_of(etcd, match.world) == (4, killed.name)
            match.finish()
            epochs_rise(etcd, match.world)
        finally:
            close_all(nodes)


def a_frozen_node_says_nothing_more():
    source = random.Random(seed())
    with Etcd() as etcd:
        nodes = [Node(etcd, name, "--keyframe-ticks", "40") for name in "ab"]
        try:
            match = Match(nodes, source)
            match.goes_on()
            frozen = by_name(nodes, owner_of(etcd, match.world)[1])
            witness = frozen.connect()
            witness.call("subscribe", world=match.world)
            # A world that the node's last look at the directory has not seen, and that has nothing to write.
            late = witness.call("world.create", name="late", generator="open", width=16, height=16,
                                paused=True)["world"]
            frozen.pause()
            # Requests to the frozen node, which still takes the world for its own.
            asked = witness.send("agent.order", world=match.world, kind="stop",
                                 agents=match.agents)
            late_asked = witness.send("stats", world=late)
            until(lambda: owner_of(etcd, match.world)[0] == 2, "a takeover")
            until(lambda: owner_of(etcd, late)[1] != frozen.name, "another takeover")
            taken_at = match.tick()
            match.goes_on()
            frozen.wake()
            for number in (asked, late_asked):
                try:
                    answer = witness.answer(number)
                    raise AssertionError(f"a node without the world has answered: {answer}")
                except RequestError as error:
                    assert error.name == "moved", (error, frozen.log())
            told = [params["tick"] for name, params in witness.notifications
                    if name in ("delta", "keyframe")]
            assert all(tick <= taken_at + 1 for tick in told), (told, taken_at)
            for world in (match.world, late):
                refusal = witness.refused("stats", world=world)
                assert refusal == "moved", (refusal, frozen.log())
            until(lambda: all(world["node"] != frozen.name for world in
                              witness.call("cluster.status")["worlds"]), "the directory")
            place = witness.call("world.locate", world=match.world)
            assert not place["here"] and place["node"] != frozen.name
            # Status and log report that its lease expired and that it has joined again.
            status = until(lambda: (said := witness.call("cluster.status"))["member"] and said, "the node to join again")
            assert status["engine"]["leases_lost"] == 1, status["engine"]
            until(lambda: "state=lease_over" in frozen.log(), frozen.log)
            assert "the node's lease was over" in frozen.log() and frozen.log().count("joined the cluster") == 2
            witness.close()
            match.finish()
            epochs_rise(etcd, match.world)
        finally:
            close_all(nodes)


def members_of_etcd_die_and_come_back():
    source = random.Random(seed())
    with Etcd(3) as etcd:
        nodes = [Node(etcd, name) for name in "ab"]
        try:
            match = Match(nodes, source)
            match.goes_on()
            status = nodes[0].connect()
            term = status.call("cluster.status")["engine"]["term"]
            leader = etcd.leader()
            etcd.kill(leader)
            match.goes_on()
            until(lambda: status.call("cluster.status")["engine"]["term"] > term, "the next leader to be known")
            other = next(index for index in range(3) if index != leader)
            etcd.kill(other)
            until(lambda: status.call("cluster.status")["state"] == "no_majority", "the loss of the majority")
            assert "majority" in status.call("cluster.status")["what_to_do"]
            # Nobody calls the world running: its own node knows that it stands still, another one knows nothing.
            for node in nodes:
                with node.connect() as asked:
                    until(lambda: asked.call("cluster.status")["state"] == "no_majority", "a state")
                    [listed] = asked.call("cluster.status")["worlds"]
                    assert listed["state"] in (("halted", "unknown") if listed["node"] == node.name else ("unknown",)), \
                        (node.name, listed)
            answered, tick = len(match.answers), match.tick()
            time.sleep(0.5)
            # The node sends nothing that a crash could undo.
            assert len(match.answers) <= answered + 1 and match.tick() <= tick + 1
            etcd.start(leader), etcd.start(other)
            match.goes_on()
            until(lambda: status.call("cluster.status")["state"] == "good", "a good state")
            status.close()
            match.finish()
            epochs_rise(etcd, match.world)
        finally:
            close_all(nodes)


def etcds_leader_and_the_owner_die_together():
    """Its next leader lets all leases last for their whole time again; then the world is taken over."""
    source = random.Random(seed())
    with Etcd(3) as etcd:
        nodes = [Node(etcd, name) for name in "ab"]
        try:
            match = Match(nodes, source)
            match.goes_on()
            owner = by_name(nodes, owner_of(etcd, match.world)[1])
            other = next(node for node in nodes if node is not owner)
            leader = etcd.leader()
            etcd.kill(leader)
            owner.kill()
            match.goes_on()
            assert owner_of(etcd, match.world) == (2, other.name)
            etcd.start(leader)
            match.finish()
            epochs_rise(etcd, match.world)
        finally:
            close_all(nodes)


def worlds_end_and_names_are_shared():
    with Etcd() as etcd:
        nodes = [Node(etcd, name) for name in "ab"]
        try:
            one, two = (node.connect() for node in nodes)
            made = one.call("world.create", name="w", generator="open", width=16, height=16)
            assert two.refused("world.create", name="w", generator="open", width=16,
                               height=16) == "exists"
            other = two.call("world.create", name="v", generator="open", width=16, height=16)
            assert other["world"] != made["world"]
            until(lambda: any(world["name"] == "w" for world in
                              two.call("cluster.status")["worlds"]), "the directory")
            assert two.refused("world.pause", world=made["world"]) == "moved"
            place = two.call("world.locate", name="w")
            assert (place["node"], place["here"]) == ("a", False)
            assert place["tcp"] == f"127.0.0.1:{nodes[0].port}"
            assert two.refused("world.locate", name="x") == "no_world"
            status = two.call("cluster.status")
            assert sorted(node["node"] for node in status["nodes"]) == ["a", "b"]
            one.call("world.destroy", world=made["world"])
            number = f"{made['world']:016x}"  # /fogmarch/test/KIND/NUMBER...
            until(lambda: all(key.split("/")[4:5] != [number] and not key.endswith("names/w")
                              for key in etcd.range("/fogmarch/test/")), "the keys to go")
            again = two.call("world.create", name="w", generator="open", width=16, height=16)
            assert again["world"] > other["world"]
            one.close(), two.close()
        finally:
            close_all(nodes)


def wait_for_move(match, admin, etcd, name):
    """Waits until the world is there and its clients have found it."""
    until(lambda: owner_of(etcd, match.world)[1] == name or match.errors, f"the world to be at {name}")
    match.goes_on()
    until(lambda: any(world["node"] == name and world["state"] == "running" and world["to"] == ""
                      for world in admin.call("cluster.status")["worlds"]), "the directory")


def knows_what_it_has(client, node, world):
    """A node to which a world moves knows at once that it is the owner, not at its next look at the directory. In
    between it may already own the world and still open its journal."""
    place = {"here": False}
    while not place["here"]:
        try:
            place = client.call("world.locate", world=world)
        except RequestError as error:
            assert error.name == "not_ready", error
        status = client.call("cluster.status")
    assert place["node"] == node.name, place
    [listed] = [one for one in status["worlds"] if one["world"] == world]
    assert (listed["node"], listed["to"], listed["state"]) == (node.name, "", "running"), listed


def view_continues(watcher, view, node, world):
    """On the next node, without a keyframe."""
    shown = [(name, params) for name, params in watcher.notifications if name in ("keyframe", "delta", "moved")]
    name, moved = shown[-1]
    assert name == "moved" and moved["tick"] >= shown[-2][1]["tick"] > 0, shown[-2:]
    assert moved == dict(subscription=view["subscription"], world=world, node=node.name, http="",
                         tcp=f"127.0.0.1:{node.port}", ticket="", tick=moved["tick"])
    client = node.connect()

    def subscribe():
        try:
            return client.call("subscribe", world=world, stream=view["stream"], since=moved["tick"])
        except RequestError as error:
            assert error.name in ("no_world", "not_ready", "moved"), error
            return None
    again = until(subscribe, "the world to come")
    assert again["resumed"] and again["stream"] == view["stream"], again
    name, params = client.notification("keyframe", "delta")
    assert name == "delta" and params["tick"] > moved["tick"], (name, params)
    client.close()


def is_draining(client, node):
    [entry] = [one for one in client.call("cluster.status")["nodes"] if one["node"] == node.name]
    return entry["draining"]


def worlds_move_and_nodes_drain():
    source = random.Random(seed())
    with Etcd() as etcd:
        nodes = [Node(etcd, name, "--keyframe-ticks", "70", metrics=True) for name in "abc"]
        try:
            match = Match(nodes, source)
            match.goes_on()
            first = by_name(nodes, owner_of(etcd, match.world)[1])
            others = [node for node in nodes if node is not first]
            admin, watcher = others[0].connect(), first.connect()
            view = watcher.call("subscribe", world=match.world)
            until(lambda: admin.refused("cluster.move", world=match.world, node="nobody") == "bad_value",
                  "the other node to know the world")
            assert admin.refused("cluster.move", world=match.world + 1) == "no_world"
            assert admin.call("cluster.move", world=match.world, node=first.name)["node"] == first.name

            # There and back, while the world is played and watched.
            place = admin.call("cluster.move", world=match.world, node=others[0].name)
            assert place["tcp"] == f"127.0.0.1:{others[0].port}", place
            knows_what_it_has(admin, others[0], match.world)
            until(lambda: watcher.call("ping") and any(name == "moved" for name, _ in watcher.notifications),
                  "the world to move")
            view_continues(watcher, view, others[0], match.world)
            wait_for_move(match, admin, etcd, others[0].name)
            for node in (first, others[1]):
                until(lambda: len([n for n in admin.call("cluster.status")["nodes"]]) == 3, "all nodes")
                place = admin.call("cluster.move", world=match.world, node=node.name)
                assert place["tcp"] == f"127.0.0.1:{node.port}", place
                wait_for_move(match, admin, etcd, node.name)
            assert owner_of(etcd, match.world) == (4, others[1].name)
            watcher.call("ping")
            watcher.close()

            metrics = others[1].metrics()
            assert metrics['fogmarch_cluster_state{state="good"}'] == 1
            assert metrics[f'fogmarch_cluster_move_seconds_count{{node="{others[1].name}"}}'] == 1
            assert metrics["fogmarch_cluster_nodes"] == 3 and metrics["fogmarch_cluster_leader_term"] > 0

            # A node that drains, as it does when told to end, keeps no world and gets none.
            drained = admin.call("cluster.drain", node=others[1].name)
            assert (drained["node"], drained["worlds"]) == (others[1].name, 1)
            until(lambda: owner_of(etcd, match.world)[0] == 5, "the drained node's world to move")
            assert admin.refused("cluster.move", world=match.world, node=others[1].name) == "not_ready"
            match.goes_on()
            # Taken back: it takes worlds again, and keeps them; asked of another node, and of itself.
            assert admin.call("cluster.undrain", node=others[1].name)["node"] == others[1].name
            until(lambda: not is_draining(admin, others[1]), "the node to take worlds again")
            for node in (others[1], by_name(nodes, owner_of(etcd, match.world)[1])):
                admin.call("cluster.move", world=match.world, node=node.name)
                wait_for_move(match, admin, etcd, node.name)
            own = others[1].connect()
            assert own.call("cluster.drain")["node"] == others[1].name
            until(lambda: is_draining(admin, others[1]), "the node to drain")
            assert own.call("cluster.undrain")["node"] == others[1].name
            until(lambda: not is_draining(admin, others[1]), "the node to take worlds again")
            assert admin.refused("cluster.undrain", node="nobody") == "bad_value"
            admin.call("cluster.drain", node=others[1].name)
            until(lambda: is_draining(own, others[1]) and is_draining(admin, others[1]), "the node to drain again")
            own.close()
            # A new world begins where there is room for it, no matter which node is asked.
            client = others[1].connect()
            late = client.call("world.create", name="late", generator="open", width=16, height=16)["world"]
            client.close()
            assert owner_of(etcd, late)[1] != others[1].name
            Follower(nodes, "late").call("world.pause")
            owner = by_name(nodes, owner_of(etcd, match.world)[1])
            admin.close()
            owner.process.terminate()
            owner.process.wait(cluster.PATIENCE)
            match.goes_on()
            epoch, last = owner_of(etcd, match.world)
            assert epoch == 8 and last not in (owner.name, others[1].name)
            assert "worlds_left=0" in owner.log()
            match.finish()
            epochs_rise(etcd, match.world)
        finally:
            close_all(nodes)


def what_has_begun_is_not_sent_on():
    """`moved` tells a client to send its request again: not where a part of it is done or is carried on."""
    with Etcd() as etcd:
        nodes = [Node(etcd, name, "--order-agents-per-tick", "10") for name in "ab"]
        try:
            admin, other = (node.connect() for node in nodes)
            world = admin.call("world.create", name="steps", generator="open", width=64, height=64, paused=True)["world"]
            team = admin.call("team.create", world=world)["team"]
            cells = [place for number in range(900) for place in (number % 30, number // 30)]
            spawned = admin.call("agent.spawn", world=world, team=team, cells=cells)["agents"]

            with nodes[0].connect() as stepping:
                request = stepping.send("world.step", world=world, ticks=10000)
                until(lambda: admin.call("world.info", world=world)["tick"] > 0, "the first tick")
                move(admin, world, "b")
                answer = stepping.answer(request)
            until(lambda: is_here(other, world), "the world at b")
            assert 0 < answer["tick"] < 10000, answer
            info = other.call("world.info", world=world)
            assert (info["tick"], info["digest"]) == (answer["tick"], answer["digest"]), (info, answer)

            other.call("world.resume", world=world)
            with nodes[1].connect() as ordering:
                request = ordering.send("agent.order", world=world, agents=spawned, kind="hold")
                begun = other.call("world.info", world=world)["tick"]
                until(lambda: other.call("world.info", world=world)["tick"] > begun + 3, "the first parts of the order")
                move(other, world, "a")
                answer = ordering.answer(request)
            until(lambda: is_here(admin, world), "the world at a")
            assert answer["count"] == 900, answer
            until(lambda: admin.call("stats", world=world)["world"]["orders_given"] == 900, "the order to reach all")
        finally:
            close_all(nodes)


run([worlds_move_and_nodes_drain, what_has_begun_is_not_sent_on, a_node_is_killed_and_another_is_told_to_end, a_frozen_node_says_nothing_more,
     members_of_etcd_die_and_come_back, etcds_leader_and_the_owner_die_together, worlds_end_and_names_are_shared])
