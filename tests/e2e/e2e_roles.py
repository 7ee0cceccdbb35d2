"""Who may do what: roles, tokens, seats.

Goal    every method is open to exactly the roles that proto/protocol.json gives it; a player acts
        for one team of one world, and everything else seems not to exist.
Method  the whole matrix of methods and roles, with parameters made from their types; then players
        who name what is not theirs: but for the request's number, the answers must equal byte by
        byte those about things that do not exist.
"""

import json
import os
import subprocess
import tempfile

from fogmarch_server import msgpack, REQUEST, RequestError, Server, run

FOLDER = os.path.dirname(os.path.abspath(__file__))
with open(os.path.join(FOLDER, "..", "..", "proto", "protocol.json")) as protocol_file:
    PROTOCOL = json.load(protocol_file)
ROLES = [role["name"] for role in PROTOCOL["roles"]]
ORDERS = ("agent.order", "agent.cancel", "agent.resume", "building.place", "building.remove")
TOKENS = {role: f"the-secret-of-{role:_<9}" for role in ROLES[1:]}


def make_world(client, name="w", teams=2, **params):
    options = dict(generator="open", width=32, height=32, paused=True, sense_radius=3)
    options.update(params)
    world = client.call("world.create", name=name, **options)["world"]
    for _ in range(teams):
        client.call("team.create", world=world)
    return world


def token_lines():
    return "\n".join(f"{role} {'w 1 ' if role == 'player' else ''}{token}"
                     for role, token in TOKENS.items())


def enter(server, role=None, token=None):
    client = server.connect(hello=False)
    if role != "none":
        client.welcome = client.call("hello", protocol=1, token=token or TOKENS[role])
        assert role is None or client.welcome["role"] == role
    return client


def value_of(param):
    """A harmless value of the parameter's type."""
    name, kind, minimum = param["name"], param["type"], param["minimum"]
    if name == "number":
        return 2**40  # no token has this number
    if kind in ("uint", "real"):
        return minimum
    if kind == "bool":
        return False
    if kind == "text":
        return "x" * minimum
    if kind == "bytes":
        return b"x" * minimum
    assert kind == "[uint]", kind
    return [1] * minimum


def outcome(client, method, params):
    try:
        client.call(method, **params)
    except RequestError as error:
        return error.name
    return "ok"


def matrix():
    with Server(environment={"FOGMARCH_TOKENS": token_lines()}) as server:
        admin = enter(server, "admin")
        make_world(admin, players_build=1)
        methods = sorted(PROTOCOL["methods"], key=lambda method: method["name"] == "world.destroy")
        tried = 0
        for role in ROLES:
            client = enter(server, role)
            for method in methods:
                params = {param["name"]: value_of(param) for param in method["params"]
                          if param["required"]}
                if method["name"] == "hello" and role == "none":
                    continue  # the client would have a role afterwards
                result = outcome(client, method["name"], params)
                allowed = ROLES.index(role) >= ROLES.index(method["role"])
                if method["name"] in ORDERS and role in ("observer", "debug"):
                    allowed = False  # these roles only look
                assert (result != "denied") == allowed, (role, method["name"], result)
                tried += 1
        assert tried == len(ROLES) * len(methods) - 1


def what_roles_see():
    with Server(environment={"FOGMARCH_TOKENS": token_lines()}) as server:
        admin = enter(server, "admin")
        world = make_world(admin)
        for role in ("observer", "debug"):
            client = enter(server, role)
            assert client.welcome.get("team") is None
            for team in (0, 1, 2):
                client.call("subscribe", world=world, team=team)
            assert client.refused("stats", world=world, reset=True) == "denied"
        player = enter(server, "player")
        assert player.welcome["world"] == world and player.welcome["team"] == 1
        assert player.refused("subscribe", world=world, team=2) == "denied"
        player.call("subscribe", world=world)
        assert player.notification("keyframe")[1]["team"] == 1


def wrong_tokens():
    secret = TOKENS["admin"]
    with Server(environment={"FOGMARCH_TOKENS": token_lines()}) as server:
        for token in ("", secret + "x", secret[:-1], "x" * len(secret)):
            client = server.connect(hello=False)
            assert client.refused("hello", protocol=1, token=token) == "denied"
            assert client.disconnected()
        client = server.connect(hello=False)
        assert client.refused("hello", protocol=1) == "denied"
        assert client.disconnected()
        log = server.log()
        assert not any(token in log for token in TOKENS.values())


def token_file_with_hashes():
    digest = subprocess.run(["b2sum", "-l", "256"], input=TOKENS["observer"].encode(),
                            capture_output=True, check=True).stdout.split()[0].decode()
    with tempfile.NamedTemporaryFile("w", suffix=".tokens") as file:
        file.write(f"# two of them\n{TOKENS['admin']}\nobserver blake2b:{digest}\n")
        file.flush()
        os.chmod(file.name, 0o600)
        with Server("--token-file", file.name) as server:
            enter(server, "admin")
            enter(server, "observer")
            client = server.connect(hello=False)
            assert client.refused("hello", protocol=1, token="blake2b:" + digest) == "denied"


def seats_that_are_handed_out():
    with Server() as server:  # on loopback and without tokens everybody is admin ...
        admin = server.connect()
        world = make_world(admin)
        other = make_world(admin, "other")
        seat = admin.call("token.create", role="player", world=world, team=2)
        assert admin.refused("token.create", role="player", world=99, team=1) == "no_world"
        assert admin.refused("token.create", role="player", world=world) == "bad_field"
        assert admin.refused("token.create", role="observer", team=1) == "bad_field"
        assert admin.refused("token.create", role="none") == "bad_value"
        player = enter(server, "player", seat["token"])  # ... except clients that show one
        assert (player.welcome["world"], player.welcome["team"]) == (world, 2)
        second = enter(server, "player", seat["token"])
        assert server.connect(hello=False).refused("hello", protocol=1, token="x" * 43) == "denied"
        assert admin.call("token.revoke", number=seat["number"]) == {}
        assert player.disconnected() and second.disconnected()
        # A revoked token is refused, although no token at all means admin here.
        assert server.connect(hello=False).refused("hello", protocol=1,
                                                   token=seat["token"]) == "denied"
        assert admin.refused("token.revoke", number=seat["number"]) == "bad_value"
        seats = [admin.call("token.create", role="player", world=w, team=1)["token"]
                 for w in (world, other)]
        players = [enter(server, "player", token) for token in seats]
        admin.call("world.destroy", world=world)
        assert players[0].disconnected()
        players[1].call("world.info", world=other)
        assert seats[0] not in server.log()


def raw_answer(client, method, params):
    """The bytes of an answer, without the request's number."""
    number = client.send(method, **params)
    while number not in client.answers:
        assert client.take()
    return msgpack.packb(client.answers.pop(number))


def other_worlds_do_not_exist():
    with Server() as server:
        admin = server.connect()
        world, other = make_world(admin, "mine"), make_world(admin, "theirs", teams=3)
        token = admin.call("token.create", role="player", world=world, team=1)["token"]
        player = enter(server, "player", token)
        assert [w["name"] for w in player.call("world.list")["worlds"]] == ["mine"]
        assert player.call("world.info", name="mine")["teams"] == 0
        assert player.refused("world.info", name="theirs") == "no_world"
        for method in PROTOCOL["methods"]:
            if method["role"] != "player" or not any(p["name"] == "world"
                                                     for p in method["params"]):
                continue
            params = {param["name"]: value_of(param) for param in method["params"]
                      if param["required"]}
            params["world"] = other
            if method["name"] == "agent.order":
                params.update(kind="stop")
            there = raw_answer(player, method["name"], params)
            params["world"] = 1000
            assert raw_answer(player, method["name"], params) == there, method["name"]
            assert b"no_world" in there, (method["name"], there)


def other_teams_do_not_exist():
    with Server() as server:
        admin = server.connect()
        world = make_world(admin)
        spawned = admin.call("agent.spawn", world=world, team=1, cells=[3, 3, 4, 3])
        enemy = admin.call("agent.spawn", world=world, team=2, cells=[25, 25, 5, 5, 26, 25])["agents"]
        third = admin.call("agent.spawn", world=world, team=1, cells=[3, 4])
        assert spawned["names"] == [1, 3] and third["names"] == [5]
        assert third["agents"] != third["names"]  # ids count the agents of all teams
        token = admin.call("token.create", role="player", world=world, team=1)["token"]
        player = enter(server, "player", token)
        player.call("subscribe", world=world)
        admin.call("world.step", world=world)
        agents = player.notification("keyframe")[1]["agents"]
        shown = {agents[i]: agents[i + 1] for i in range(0, len(agents), 5)}
        assert [name for name, team in shown.items() if team == 1] == [1, 3, 5]
        assert len(shown) == 4, "one enemy is in view"
        seen = [name for name, team in shown.items() if team == 2][0]
        order = dict(world=world, kind="move", goal=[9, 9])
        nothing = raw_answer(player, "agent.order", dict(order, agents=[777]))
        assert b"no such agent" in nothing
        for name in (seen, 2**40, *[i for i in enemy + third["agents"] if i not in shown]):
            assert raw_answer(player, "agent.order", dict(order, agents=[name])) == nothing
        for team in (2, 3, 65536):
            params = {"world": world, "team": team, "from": [3, 3], "to": [4, 4]}
            assert player.refused("path.query", **params) == "denied"
        # Orders of other teams leave no gap in the numbers.
        numbers = []
        for _ in range(3):
            numbers.append(player.call("agent.order", agents=[1], **order)["order"])
            admin.call("agent.order", agents=enemy, **order)
        assert numbers == [1, 2, 3]
        # A goal is never refused for a reason that the player does not know.
        admin.call("terrain.set", world=world, set="blocked", cells=[30, 30])
        for goal in ([30, 30], [29, 30]):
            player.call("agent.order", agents=[3], world=world, kind="move", goal=goal)
        query = {"world": world, "from": [3, 3]}
        blocked = player.call("path.query", to=[30, 30], **query)
        assert blocked["complete"], "a wall that nobody has seen is in the way"
        assert not admin.call("path.query", to=[30, 30], **query)["complete"]


run([matrix, what_roles_see, wrong_tokens, token_file_with_hashes, seats_that_are_handed_out,
     other_worlds_do_not_exist, other_teams_do_not_exist])
