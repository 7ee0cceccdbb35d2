"""Tokens, resume and tickets in a cluster.

Goal    a token made on one node is valid on all nodes as soon as it is answered, and on none as soon as its
        revocation is answered; `resume` works on every node, even across a change of the shared secret;
        `moved` says where a world is, with a ticket that gives the session's rights there, and no
        more; a node that ends sends `moved`, not `going_down`, for worlds that have already left it. etcd
        holds no secret.
Method  two nodes and etcd on loopback, one file of tokens; clients that know only the tokens that they are
        given.
"""

import base64
import os
import signal
import sys
import time

import cluster
from cluster import Etcd, Node, RequestError, is_here, move, until
from fogmarch_server import Client, run

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../clients/python"))
import fogmarch  # noqa: E402

cluster.skip_without_etcd()

ADMIN = "an-admin-of-both-nodes"
LONELY = "an-observer-of-one-node-only"
OLD, NEW = "the-old-secret-of-all", "the-new-secret-of-all"


def hello(node, **fields):
    client = Client(node.port)
    try:
        return client, client.call("hello", protocol=1, client="tokens", **fields)
    except RequestError:
        client.close()
        raise


def refused(node, **fields):
    try:
        hello(node, **fields)
    except RequestError as error:
        return error.name
    raise AssertionError("hello was not refused")


def error_of(client, method, **params):
    try:
        raise AssertionError(f"{method} was answered: {client.call(method, **params)}")
    except RequestError as error:
        return error.sent


class Cluster:
    """Two nodes that share tokens and secrets, and an admin on each."""

    def __init__(self, etcd):
        self.tokens = os.path.join(etcd.folder, "tokens")
        self.secrets = os.path.join(etcd.folder, "secrets")
        with open(self.tokens, "w", opener=lambda path, flags: os.open(path, flags, 0o600)) as file:
            file.write(f"admin {ADMIN}\n")
        self.write_secrets(OLD)
        self.nodes = [Node(etcd, name, "--token-file", self.tokens, "--cluster-secret-file", self.secrets)
                      for name in "ab"]
        self.admins = [hello(node, token=ADMIN)[0] for node in self.nodes]
        until(lambda: all(len(admin.call("cluster.status")["nodes"]) == 2 for admin in self.admins), "both nodes")

    def write_secrets(self, *secrets):
        with open(self.secrets, "w") as file:
            file.write("".join(secret + "\n" for secret in secrets))

    def change_secrets(self, *secrets):
        """Changes the secrets and waits until both nodes use the new ones."""
        self.write_secrets(*secrets)
        for node in self.nodes:
            count = node.log().count("secrets read again")
            node.process.send_signal(signal.SIGHUP)
            until(lambda: node.log().count("secrets read again") > count, "the secrets to be read")

    def close(self):
        for admin in self.admins:
            admin.close()
        logs = [node.close() for node in self.nodes]
        for node, log in zip(self.nodes, logs):
            if node.hung or node.process.returncode != 0 or "Sanitizer" in log:
                print(log)
                raise AssertionError(f"node {node.name} ended with {node.process.returncode}")


def tokens_are_good_on_all_nodes(both, etcd):
    (a, b), (one, other) = both.nodes, both.admins
    world = one.call("world.create", name="arena", generator="open", width=16, height=16)["world"]
    one.call("team.create", world=world)
    made = one.call("token.create", role="player", world=world, team=1)
    lasting = other.call("token.create", role="observer", expires_s=3600)
    assert made["number"] != lasting["number"]
    player, welcome = hello(b, token=made["token"])  # at once, on the other node
    assert (welcome["role"], welcome["team"]) == ("player", 1), welcome
    assert hello(a, token=lasting["token"])[1]["role"] == "observer"
    numbers = [token["number"] for token in other.call("token.list")["tokens"]]
    assert numbers == [made["number"], lasting["number"]], numbers
    kept = etcd.range("/fogmarch/test/tokens")
    assert len(kept) == 4 and not any(made["token"].encode() in value for value in kept.values()), kept

    resume = welcome["resume"]
    again, welcome = hello(a, resume=resume)
    assert welcome["resumed"] and (welcome["role"], welcome["world"]) == ("player", world), welcome
    one.call("token.revoke", number=made["number"])
    assert refused(b, token=made["token"]) == refused(a, token=made["token"]) == "denied"
    assert refused(b, resume=resume) == "denied"
    for client in (player, again):
        assert client.disconnected()
        client.close()
    # A client that revokes its own token is disconnected.
    admin = one.call("token.create", role="admin")
    own = hello(b, token=admin["token"])[0]
    own.call("token.revoke", number=admin["number"])
    assert own.disconnected() and refused(a, token=admin["token"]) == "denied"
    own.close()
    return world


def seats_end_with_their_world(both, etcd):
    """All sent at once: a token is made before its world is gone, or not at all."""
    admin = both.admins[0]
    for i in range(10):
        world = admin.call("world.create", name=f"short-{i}", generator="open", width=16, height=16)["world"]
        admin.call("team.create", world=world)
        made = [admin.send("token.create", role="player", world=world, team=1, expires_s=3600) for _ in range(8)]
        admin.call("world.destroy", world=world)
        for number in made:
            try:
                admin.answer(number)
            except RequestError as error:
                assert error.name in ("no_world", "io"), error
        kept = f"/fogmarch/test/tokens/{world:016x}/"
        until(lambda: not etcd.range(kept), "the seats of a world that is gone")


def secrets_are_changed(both):
    a, b = both.nodes
    before = hello(a, token=ADMIN)[1]["resume"]
    both.change_secrets(NEW, OLD)
    between = hello(a, token=ADMIN)[1]["resume"]
    assert hello(b, resume=before)[1]["resumed"]
    both.change_secrets(NEW)
    assert hello(b, resume=between)[1]["resumed"]
    assert refused(a, resume=before) == "denied"


def tickets_lead_to_the_next_node(both, world):
    (a, b), (one, other) = both.nodes, both.admins
    made = one.call("token.create", role="player", world=world, team=1)
    player = hello(a, token=made["token"])[0]
    player.call("subscribe", world=world)
    move(one, world, "b")
    _, moved = player.notification("moved")
    assert moved["tcp"] == f"127.0.0.1:{b.port}" and moved["node"] == "b", moved
    sent = error_of(player, "world.info", world=world)
    assert (sent["name"], sent["world"], sent["tcp"], sent["node"]) == ("moved", world, moved["tcp"], "b"), sent
    for ticket in (moved["ticket"], sent["ticket"]):
        guest, welcome = hello(b, ticket=ticket)
        assert (welcome["role"], welcome["team"]) == ("player", 1) and not welcome["resumed"], welcome
        until(lambda: hello(b, ticket=ticket)[1]["world"] == world, "the world to be there")
        assert error_of(guest, "world.pause", world=world)["name"] == "denied"
    wrong = ("B" if ticket[40] != "B" else "C").join((ticket[:40], ticket[41:]))
    assert refused(b, ticket=wrong) == refused(b, ticket="nonsense") == "denied"
    assert hello(b, ticket=wrong, token=ADMIN)[1]["role"] == "admin"
    admin_ticket = error_of(one, "world.pause", world=world)["ticket"]
    assert hello(b, ticket=admin_ticket)[1]["role"] == "admin"
    other.call("token.revoke", number=made["number"])
    assert refused(b, ticket=ticket) == refused(a, ticket=ticket) == "denied"
    player.close(), guest.close()


def ticket_of(client, world):
    """What `moved` says once the world has gone from the client's node."""
    told = []

    def has_moved():
        try:
            client.call("stats", world=world)
        except RequestError as error:
            told.append(error.sent["ticket"])
        return told

    until(has_moved, "the world to go")
    return told[0]


def expires_s(ticket):
    """Unix time: bytes 24 to 31 of what is signed."""
    return int.from_bytes(base64.urlsafe_b64decode(ticket + "=" * (-len(ticket) % 4))[24:32], "little")


def a_ticket_is_not_renewed_where_its_token_is_unknown(both, world):
    """One node alone knows a token, so no other hears of its end: a ticket from there lasts no longer than that which
    the client came with. The world is on b."""
    (a, b), (one, other) = both.nodes, both.admins
    count = a.log().count("tokens read again")
    with open(both.tokens, "a") as file:
        file.write(f"observer {LONELY}\n")
    a.process.send_signal(signal.SIGHUP)
    until(lambda: a.log().count("tokens read again") > count, "the tokens to be read")
    watcher = hello(a, token=LONELY)[0]
    first = ticket_of(watcher, world)
    assert refused(b, token=LONELY) == "denied"
    guest, welcome = hello(b, ticket=first)
    assert welcome["role"] == "observer", welcome
    time.sleep(2.1)
    move(other, world, "a")
    second = ticket_of(guest, world)
    assert expires_s(second) <= expires_s(first), (expires_s(first), expires_s(second))
    move(one, world, "b")
    assert expires_s(ticket_of(watcher, world)) > expires_s(first), "one that knows it renews"
    until(lambda: is_here(other, world), "the world to be on b")
    watcher.close(), guest.close()


def a_client_goes_by_its_ticket(both, world):
    """The world is on b and comes back; the client has nothing but the ticket from `moved`."""
    a, b = both.nodes
    client = fogmarch.connect_plain(f"127.0.0.1:{a.port}", token=ADMIN, name="ticket")
    for node in (b, a):
        client._hello = {"protocol": 1, "client": "ticket"}
        client.world_pause(world=world)
        assert client.address == f"127.0.0.1:{node.port}", (client.address, node.name)
        if node is b:
            move(both.admins[1], world, "a")
            until(lambda: is_here(both.admins[0], world), "the world to move")
    move(both.admins[0], world, "b")
    until(lambda: is_here(both.admins[1], world), "the world to go back")
    client.close()


def who_ends_says_where_its_worlds_are(both, world):
    a, b = both.nodes
    client = hello(b, token=ADMIN)[0]
    view = client.call("subscribe", world=world)["subscription"]
    b.process.terminate()
    names, asked = set(), []
    try:
        while "moved" not in names:
            asked.append(client.send("stats", world=world))
            try:
                client.answer(asked[-1])
            except RequestError as error:
                names.add(error.name)
    except (AssertionError, OSError):
        pass  # the node has ended
    while client.take():
        pass
    names |= {answer[0]["name"] for answer in client.answers.values() if answer[0] is not None}
    assert names <= {"moved"}, names
    told = [(name, params) for name, params in client.notifications if name in ("moved", "going_down")]
    name, params = told[0]
    assert name == "moved" and params["subscription"] == view, told
    assert params["tcp"] == f"127.0.0.1:{a.port}", told
    assert hello(a, ticket=params["ticket"])[1]["role"] == "admin"
    client.close()


def a_cluster_with_a_secret():
    with Etcd() as etcd:
        both = Cluster(etcd)
        try:
            world = tokens_are_good_on_all_nodes(both, etcd)
            seats_end_with_their_world(both, etcd)
            secrets_are_changed(both)
            tickets_lead_to_the_next_node(both, world)
            a_ticket_is_not_renewed_where_its_token_is_unknown(both, world)
            a_client_goes_by_its_ticket(both, world)
            who_ends_says_where_its_worlds_are(both, world)
        finally:
            both.close()


def a_node_that_ends_answers_what_it_writes():
    """Token changes that wait for etcd when a node is told to end are answered before it disconnects."""
    with Etcd() as etcd:
        node = Node(etcd, "a")
        try:
            admin = node.connect()
            until(lambda: admin.call("cluster.status")["member"], "the node to join")
            first = admin.call("token.create", role="observer")
            cluster.pause(etcd.processes[0])
            made = [admin.send("token.create", role="observer") for _ in range(3)]
            made += [admin.send("token.revoke", number=first["number"])]
            admin.call("ping")  # they were taken
            node.process.terminate()
            until(lambda: "going down" in node.log(), "the node to take the signal")
            etcd.processes[0].send_signal(signal.SIGCONT)
            answers = [admin.answer(number) for number in made]
            assert len({answer["token"] for answer in answers[:3]}) == 3, answers
            assert admin.disconnected()
            node.process.wait(cluster.PATIENCE)
            assert node.process.returncode == 0, node.log()
            admin.close()
        finally:
            node.close()


run([a_cluster_with_a_secret, a_node_that_ends_answers_what_it_writes])
