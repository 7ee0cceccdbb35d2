"""What users see when something other than a node fails, and what the operators' page says to do about it.

Goal    etcd's database is full, clocks jump, clients cannot reach their world's node, a node cannot reach etcd or
        has lost its lease, two versions of the program run side by side: worlds stop or go on as server/cluster/README.md says;
        `cluster.status`, metrics and log report the cause; the remedy of configs/CLUSTER.md works. No answered
        command is lost in any of these.
Method  real nodes and real etcd on loopback, under the load of match.py. The database is filled until etcd refuses
        writes; clocks are set by set_clock.c; lines that can be cut are proxies (line.py); the other version is the
        same program under another version's name.
"""

import json
import os
import random
import signal
import struct
import subprocess
import tempfile
import time

import cluster
from cluster import Etcd, Node, fill, make_room, move, printed_status, until
from fogmarch_server import Client, RequestError, library_in, run, seed
from line import Line
from match import Match, by_name, close_all, epochs_rise, owner_of

cluster.skip_without_etcd()

QUOTA = 24 << 20


def state_is(client, name):
    return client.call("cluster.status")["state"] == name


def stands_still(match):
    """Nothing is answered and no tick is shown, except what was already under way."""
    answered, tick = len(match.answers), match.tick()
    time.sleep(0.5)
    assert len(match.answers) <= answered + 1 and match.tick() <= tick + 1


def etcd_is_full(match, etcd, node):
    client = node.connect()
    fill(etcd)
    until(lambda: state_is(client, "quota_full"), "a state")
    said = client.call("cluster.status")
    assert "compact" in said["what_to_do"] and said["member"] and said["engine"]["lease_ms"] > 0, said
    until(lambda: node.metrics()['fogmarch_cluster_state{state="quota_full"}'] == 1, "the metric")
    assert {world["state"] for world in said["worlds"]} == {"halted"}, said
    until(lambda: json.loads(node.page("/healthz"))["status"] == "quota_full", "the state of health")
    assert node.page("/readyz") == "ok\n", "a restart would not help"
    until(lambda: "state=quota_full" in node.log(), node.log)
    until(lambda: "etcd's database is full" in printed_status(node), lambda: printed_status(node))
    stands_still(match)
    assert owner_of(etcd, match.world)[0] == 1, "the lease goes on"
    assert client.refused("world.create", name="no-room", generator="open", width=16, height=16) == "io"
    make_room(etcd)
    match.goes_on()
    until(lambda: state_is(client, "good"), "a good state")
    client.close()


def clocks_jump(match, etcd, set_clock, node):
    day = node.log().splitlines()[-1][:10]
    for days in (400, -400, 0):
        set_clock(days)
        match.goes_on()
    client = node.connect()
    engine = client.call("cluster.status")["engine"]
    assert engine["leases_lost"] == 0 and owner_of(etcd, match.world)[0] == 1, engine
    set_clock(400)
    client.call("world.create", name="later", generator="open", width=16, height=16)
    until(lambda: node.log().splitlines()[-1][:10] != day, "a line of another day: the clock was set")
    set_clock(0)
    client.close()


def a_full_database_and_clocks_that_jump():
    source = random.Random(seed())
    with open(os.environ["FOGMARCHD"], "rb") as file:
        if b"__asan_init" in file.read():
            print("             a sanitizer wants to be preloaded alone")
            return
    with tempfile.TemporaryDirectory() as folder, tempfile.NamedTemporaryFile(prefix="fogmarch-clock-") as clock, \
            Etcd(1, "--quota-backend-bytes", str(QUOTA)) as etcd:
        def set_clock(days):
            clock.seek(0)
            clock.write(struct.pack("=q", days * 86400))
            clock.flush()

        set_clock(0)
        library = library_in(folder, "set_clock.so")
        nodes = [Node(etcd, "a", metrics=True, environment={"LD_PRELOAD": library, "FOGMARCH_CLOCK_FILE": clock.name})]
        try:
            match = Match(nodes, source)
            match.goes_on()
            clocks_jump(match, etcd, set_clock, nodes[0])
            etcd_is_full(match, etcd, nodes[0])
            match.finish()
            epochs_rise(etcd, match.world)
        finally:
            close_all(nodes)


class Door:
    """A node that its clients reach over a line."""

    host, token = "127.0.0.1", None

    def __init__(self, etcd, name):
        self.line = Line()
        self.node = Node(etcd, name, "--cluster-advertise", f"127.0.0.1:{self.line.port}")
        self.line.target = self.node.port
        self.name, self.port = name, self.line.port

    def connect(self, patience=cluster.PATIENCE):
        client = Client(self.port, patience=patience)
        client.call("hello", protocol=1, client="door")
        return client


def connect_all(nodes):
    """Clients that bypass the line, connected once all nodes know each other."""
    admins = {node.name: node.connect() for node in nodes}
    until(lambda: all(len(admin.call("cluster.status")["nodes"]) == len(nodes) for admin in admins.values()), "all nodes")
    return admins


def clients_do_not_reach_their_node():
    """But etcd reaches it: for the cluster nothing is wrong, so an operator moves the world."""
    with Etcd() as etcd:
        doors = [Door(etcd, name) for name in "ab"]
        nodes = [door.node for door in doors]
        try:
            match = Match(doors, random.Random(seed()))
            admins = connect_all(nodes)
            match.goes_on()
            first = by_name(doors, owner_of(etcd, match.world)[1])
            second = next(door for door in doors if door is not first)
            first.line.cut()
            stands_still(match)
            said = admins[second.name].call("cluster.status")
            assert said["state"] == "good" and [world["state"] for world in said["worlds"]] == ["running"], said
            assert admins[second.name].refused("stats", world=match.world) == "moved"  # back
            move(admins[second.name], match.world, second.name)
            match.goes_on()
            assert owner_of(etcd, match.world) == (2, second.name)
            match.finish()
            epochs_rise(etcd, match.world)
            for admin in admins.values():
                admin.close()
        finally:
            for door in doors:
                door.line.close()
            close_all(nodes)


def a_node_does_not_reach_etcd():
    """But its clients do: it falls silent, and another node takes the world."""
    with Etcd() as etcd:
        lines = [Line(etcd.client_ports[0]) for _ in "ab"]
        nodes = [Node(line, name) for line, name in zip(lines, "ab")]
        try:
            match = Match(nodes, random.Random(seed()))
            admins = connect_all(nodes)
            match.goes_on()
            parted = by_name(nodes, owner_of(etcd, match.world)[1])
            other = next(node for node in nodes if node is not parted)
            line, admin = lines[nodes.index(parted)], admins[parted.name]
            line.cut()
            until(lambda: state_is(admin, "no_majority"), "a state")
            assert "majority" in admin.call("cluster.status")["what_to_do"]
            until(lambda: owner_of(etcd, match.world) == (2, other.name), "a takeover")
            assert admin.refused("world.locate", world=match.world) == "not_ready", "it cannot know"
            assert admin.refused("world.info", world=match.world) == "moved"
            match.goes_on()
            line.mend()
            until(lambda: "state=lease_over" in parted.log(), parted.log)
            said = until(lambda: (said := admin.call("cluster.status"))["member"] and said, "the node to join again")
            assert said["engine"]["leases_lost"] == 1, said
            assert admin.refused("stats", world=match.world) == "moved"
            match.finish()
            epochs_rise(etcd, match.world)
            for one in admins.values():
                one.close()
        finally:
            for line in lines:
                line.mend()
            close_all(nodes)
            for line in lines:
                line.close()


def made_when_ready(client):
    """Makes a world. A machine that is too busy may have cost the node its lease. Returns its number, or None."""
    try:
        return client.call("world.create", name="w", generator="open", width=16, height=16)["world"]
    except RequestError as error:
        if error.name == "not_ready":
            return None
        raise


def a_client_whose_requests_wait_hears_of_its_node():
    """While etcd stands still more requests wait than the node reads: it says that it lives, and answers all later."""
    with Etcd() as etcd:
        node = Node(etcd, "a")
        try:
            client = node.connect()
            world = until(lambda: made_when_ready(client), "the node to have its lease")
            client.call("world.pause", world=world)
            cluster.pause(etcd.processes[0])
            try:
                made = [client.send("team.create", world=world) for _ in range(1500)]
                client.notification("idle")
                client.notification("idle")
            finally:
                etcd.processes[0].send_signal(signal.SIGCONT)
            for number in made:
                try:
                    client.answer(number)
                except RequestError as error:
                    assert error.name in ("limit", "busy"), error
            client.close()
        finally:
            close_all([node])


def a_world_is_made_after_the_lease():
    """As after a freeze: etcd has ended the node's lease, and the node has not noticed yet."""
    with Etcd() as etcd:
        nodes = [Node(etcd, "a")]
        try:
            client = nodes[0].connect()
            for i in range(5):
                until(lambda: etcd.range("/fogmarch/test/nodes/"), "the node to join")
                lost = client.call("cluster.status")["engine"]["leases_lost"]
                for lease in etcd.ask("lease/leases")["leases"]:
                    etcd.ask("lease/revoke", ID=lease["ID"])
                made = client.call("world.create", name=f"early-{i}", generator="open", width=16, height=16)
                assert made["world"] > 0, made
                until(lambda: client.call("cluster.status")["engine"]["leases_lost"] > lost, "its lease to be over")
            client.close()
        finally:
            close_all(nodes)


def own_version():
    return subprocess.run([os.environ["FOGMARCHD"], "--version"], check=True, capture_output=True,
                          text=True).stdout.split()[1]


def next_version():
    own = own_version()
    return own[:-1] + ("8" if own.endswith("9") else "9")  # as long as the other, for other_version()


def other_version(folder):
    """Makes a program that calls itself the next version, whose ticks may therefore come out differently."""
    with open(os.environ["FOGMARCHD"], "rb") as file:
        program = file.read()
    path = os.path.join(folder, "fogmarchd")
    with open(path, "wb") as file:
        file.write(program.replace(own_version().encode() + b"\0", next_version().encode() + b"\0"))
    os.chmod(path, 0o700)
    return path


def versions(client):
    return {node["node"]: node["version"] for node in client.call("cluster.status")["nodes"]}


def the_program_is_upgraded():
    """Node by node. If a node dies meanwhile, its world goes to a node of its own version, even if another has more
    room."""
    source = random.Random(seed())
    with Etcd() as etcd, tempfile.TemporaryDirectory(prefix="fogmarch-version-") as folder:
        old = [Node(etcd, name) for name in "ab"]
        nodes = list(old)
        try:
            match = Match(nodes, source)
            match.goes_on()
            nodes.append(Node(etcd, "c", program=other_version(folder)))
            new = nodes[-1]
            admin = new.connect()
            until(lambda: versions(admin) == {"a": own_version(), "b": own_version(), "c": next_version()},
                  lambda: versions(admin))
            killed = by_name(old, owner_of(etcd, match.world)[1])
            left = next(node for node in old if node is not killed)
            busy = left.connect()  # the other old node has a world already, the new one has none
            killed.kill()
            match.goes_on()
            assert owner_of(etcd, match.world) == (2, left.name)

            # To the new version: searches restart, orders and clients go on.
            move(admin, match.world, "c")
            until(lambda: owner_of(etcd, match.world) == (3, "c"), "the move")
            match.goes_on()
            assert "world left" not in new.log() and "damaged" not in new.log(), new.log()

            # And back, as when an upgrade is rolled back.
            move(busy, match.world, left.name)
            until(lambda: owner_of(etcd, match.world) == (4, left.name), "the move back")
            match.goes_on()

            # The last node of the old version ends: its world goes to the new one.
            left.process.terminate()
            left.process.wait(cluster.PATIENCE)
            match.goes_on()
            assert owner_of(etcd, match.world) == (5, "c")
            match.finish()
            epochs_rise(etcd, match.world)
            admin.close(), busy.close()
        finally:
            close_all(nodes)


def where(client, world):
    try:
        return client.call("world.locate", world=world)["node"]
    except RequestError as error:
        return error.name


def a_node_that_gives_a_world_away_does_not_name_itself():
    """It refuses requests with `moved` long before the next node has a large world: clients that it sent back to
    itself would connect again and again."""
    with Etcd() as etcd, tempfile.TemporaryDirectory(prefix="fogmarch-leaving-") as folder:
        nodes = [Node(etcd, "a"), Node(etcd, "b", program=other_version(folder))]  # which wants all of it
        try:
            admin, client = nodes[0].connect(), nodes[0].connect()
            world = client.call("world.create", name="large", generator="maze", width=2047, height=2047)["world"]
            move(admin, world, "b")
            said = []
            while said[-1:] != ["b"]:
                try:
                    client.call("world.pause", world=world)
                except RequestError as error:
                    assert error.name == "moved", error
                    said.append(where(client, world))
            assert set(said) == {"not_ready", "b"}, set(said)
        finally:
            close_all(nodes)


run([a_client_whose_requests_wait_hears_of_its_node, a_full_database_and_clocks_that_jump,
     clients_do_not_reach_their_node, a_node_does_not_reach_etcd, a_world_is_made_after_the_lease,
     a_node_that_gives_a_world_away_does_not_name_itself, the_program_is_upgraded])
