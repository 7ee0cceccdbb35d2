"""What clients with views of several worlds do, when these worlds part.

Goal    The rule of clients/README.md, "Views of several worlds", in each library: the client stays with the worlds that
        its node has; a view whose world went elsewhere ends with a reason that names the address, and the others go on
        undisturbed. When the node dies, the client goes where its oldest view's world is, and waits there for the
        worlds that no node has yet. Views that the program has ended play no part.
Method  Nodes that are not there (fake_cluster.py), so that each order of events can be had. One watcher for each
        library (watch_*, Watch.cs) prints what its views show, and why they end.
"""

import asyncio
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../e2e"))
from fake_cluster import FakeCluster  # noqa: E402
from fogmarch_server import PATIENCE, run  # noqa: E402
from watchers import KINDS, Watcher, each  # noqa: E402

A, B, C = 1, 2, 3


def scene(worlds=(A, B), option="", starts=True, kinds=tuple(KINDS), **first):
    """Makes a case of a function: the worlds are on node a, where each library has a view of each, in this order.
    `first`: attributes of that node (FakeNode)."""
    def decorate(case):
        async def whole():
            async with FakeCluster() as cluster:
                cluster.worlds = dict.fromkeys(sorted(worlds), "a")
                cluster.explained = {1: "ends", 2: "goes on"}
                nodes = cluster.nodes
                nodes["a"].shows = starts
                vars(nodes["a"]).update(first)
                watchers = [await Watcher(kind).start(nodes["a"].address, worlds, option) for kind in kinds
                            if kind in KINDS]
                try:
                    if starts:
                        ends = option in ("drop", "again", "early")
                        shown = worlds[1:] if ends else worlds
                        await each(watchers, lambda one: one.until(lambda said: not ends or "dropped" in said, "start"))
                        for world in [world for world in shown if world not in nodes["a"].leaving]:
                            await each(watchers, lambda one: one.shows(world, nodes["a"], cluster.tick))
                    await case(cluster, watchers, **nodes)
                finally:
                    for watcher in watchers:
                        await watcher.close()

        def run_whole():
            asyncio.run(whole())
        run_whole.__name__ = case.__name__
        return run_whole
    return decorate


async def goes_on(cluster, watchers, world, node):
    """The views of a world go on at a node for ten ticks more."""
    await each(watchers, lambda one: one.shows(world, node, cluster.tick + 10))
    for one in watchers:
        one.lives_with(world)


async def second_leaves(cluster, watchers, a, b, moves):
    before = a.count("subscribe")
    moves()
    await each(watchers, lambda one: one.ends(B, b))
    await goes_on(cluster, watchers, A, a)
    assert a.count("subscribe") == before and b.count("subscribe") == 0, "the other view was disturbed"


@scene()
async def the_second_world_moves(cluster, watchers, a, b, c):
    await second_leaves(cluster, watchers, a, b, lambda: cluster.move(B, "b"))


@scene((B, A))
async def the_first_world_moves(cluster, watchers, a, b, c):
    await second_leaves(cluster, watchers, a, b, lambda: cluster.move(B, "b"))


@scene()
async def a_world_moves_and_its_node_does_not_know_yet_where(cluster, watchers, a, b, c):
    def moves():
        cluster.move(B, "b", is_known=False)
        cluster.worlds[B] = None
        asyncio.get_running_loop().call_later(0.5, cluster.worlds.update, {B: "b"})
    await second_leaves(cluster, watchers, a, b, moves)


@scene((B, A))
async def a_world_is_lost_to_another_node(cluster, watchers, a, b, c):
    await second_leaves(cluster, watchers, a, b, lambda: cluster.leave(B, "b"))


@scene()
async def the_last_world_is_followed(cluster, watchers, a, b, c):
    cluster.move(B, "b")
    await each(watchers, lambda one: one.ends(B, b))
    cluster.move(A, "c")
    await goes_on(cluster, watchers, A, c)


@scene()
async def one_world_ends(cluster, watchers, a, b, c):
    cluster.end(B)
    await each(watchers, lambda one: one.ends(B))
    await goes_on(cluster, watchers, A, a)
    assert b.count("hello") == 0 == c.count("hello")
    # It plays no part any more.
    cluster.worlds[A] = "b"
    a.die()
    await goes_on(cluster, watchers, A, b)


@scene((B, A))
async def the_first_world_ends(cluster, watchers, a, b, c):
    cluster.end(B)
    await each(watchers, lambda one: one.ends(B))
    await goes_on(cluster, watchers, A, a)
    cluster.worlds[A] = "b"
    a.die()
    await goes_on(cluster, watchers, A, b)


@scene()
async def a_node_dies_and_its_worlds_part(cluster, watchers, a, b, c):
    cluster.worlds = {A: "c", B: "b"}
    a.die()
    await each(watchers, lambda one: one.ends(B, b))
    await goes_on(cluster, watchers, A, c)


@scene()
async def a_node_dies_and_one_world_is_taken_over_later(cluster, watchers, a, b, c):
    cluster.worlds = {A: "b", B: None}
    a.die()
    await each(watchers, lambda one: one.until(lambda said: said.get("node") == b.address, "view at b"))
    await asyncio.sleep(0.5)
    cluster.worlds[B] = "b"
    for world in (A, B):
        await goes_on(cluster, watchers, world, b)


@scene()
async def a_node_dies_and_one_world_is_not_known_yet(cluster, watchers, a, b, c):
    cluster.worlds = {A: "b"}
    a.die()
    await each(watchers, lambda one: one.until(lambda said: said.get("node") == b.address, "view at b"))
    await asyncio.sleep(0.5)
    cluster.worlds[B] = "c"
    await each(watchers, lambda one: one.ends(B, c))
    await goes_on(cluster, watchers, A, b)


@scene()
async def a_node_dies_and_the_first_world_with_it(cluster, watchers, a, b, c):
    cluster.worlds = {B: "b"}
    a.die()
    await each(watchers, lambda one: one.ends(A))
    await goes_on(cluster, watchers, B, b)


@scene()
async def the_next_node_dies_while_views_go_on_there(cluster, watchers, a, b, c):
    cluster.worlds = {A: "b", B: "b"}
    b.dies_after = "subscribe"
    a.die()
    while b.lives:
        await asyncio.sleep(0.01)
    cluster.worlds = {A: "c", B: "c"}
    for world in (A, B):
        await goes_on(cluster, watchers, world, c)


@scene(option="drop")
async def a_view_that_the_program_has_ended_holds_nothing(cluster, watchers, a, b, c):
    del cluster.worlds[A]
    cluster.move(B, "b")
    await goes_on(cluster, watchers, B, b)
    cluster.worlds[B] = "c"
    b.die()
    await goes_on(cluster, watchers, B, c)
    assert all(params["world"] == B for node in (b, c) for method, params in node.asked if method == "subscribe")


@scene((A,), option="rect", starts=False)
async def a_rectangle_is_kept(cluster, watchers, a, b, c):
    while a.count("subscribe") < len(watchers):
        await asyncio.sleep(0.01)
    await asyncio.sleep(0.1)
    cluster.move(A, "b")
    await goes_on(cluster, watchers, A, b)
    rects = [params.get("rect") for method, params in b.asked if method == "subscribe"]
    assert rects == [[4, 4, 8, 8]] * len(watchers), rects


@scene(leaving={B: "b"})
async def the_second_world_leaves_at_once(cluster, watchers, a, b, c):
    while a.count("subscribe") < 2 * len(watchers):  # a slow one shows the first world before it asks for the other
        await asyncio.sleep(0.01)
    await second_leaves(cluster, watchers, a, b, lambda: None)


@scene((A,))
async def a_world_comes_back_and_leaves_at_once(cluster, watchers, a, b, c):
    cluster.leave(A, None)
    await asyncio.sleep(0.2)
    a.leaves_first = True  # when it has said that the world is here
    a.leaving[A] = "b"
    cluster.worlds[A] = "a"
    await goes_on(cluster, watchers, A, b)


@scene((A,), kinds=["python", "asyncio", "js"])
async def a_subscription_that_comes_too_late_is_ended(cluster, watchers, a, b, c):
    cluster.leave(A, None)
    await asyncio.sleep(0.2)
    a.late = "subscribe"
    cluster.worlds[A] = "a"
    while a.count("unsubscribe") < len(watchers):
        await asyncio.sleep(0.01)
    await goes_on(cluster, watchers, A, a)
    assert all(len(session.views) == 1 for session in a.sessions)


@scene((A,))
async def a_world_leaves_the_next_node_at_once(cluster, watchers, a, b, c):
    b.leaving[A] = "c"  # behind the answer to subscribe
    cluster.move(A, "b")
    await goes_on(cluster, watchers, A, c)
    assert b.count("subscribe") == len(watchers) == c.count("subscribe")


@scene(option="debug", kinds=["c"])
async def what_debug_subscribe_shows_holds_no_view(cluster, watchers, a, b, c):
    while a.count("debug.subscribe") < 2 * len(watchers):
        await asyncio.sleep(0.01)
    await goes_on(cluster, watchers, A, a)
    cluster.worlds = {A: "b", B: "b"}
    cluster.explained = {}
    a.die()
    for world in (A, B):
        await goes_on(cluster, watchers, world, b)
    assert b.count("debug.subscribe") == len(watchers), "the one that had ended was repeated"


@scene(option="late", kinds=["c", "python", "asyncio"])
async def the_number_of_a_view_that_is_over_ends_no_other(cluster, watchers, a, b, c):
    cluster.move(A, "b")
    await each(watchers, lambda one: one.ends(A, b))
    cluster.worlds[B] = "c"
    a.die()
    for one in watchers:
        said = await one.until(lambda said: "tidied" in said, "end of the first view")
        assert not said["tidied"], f"{one.kind}: it was the node's number of the other one"
    await goes_on(cluster, watchers, B, c)


@scene((A, B, C), kinds=["c", "cpp"])
async def the_last_world_comes_back_and_the_first_is_elsewhere(cluster, watchers, a, b, c):
    for world in (A, C):
        cluster.move(world, "b", is_known=False)
        cluster.worlds[world] = None
    await goes_on(cluster, watchers, B, a)
    hellos, subscribes = a.count("hello"), a.count("subscribe")
    cluster.worlds[C] = "a"
    await goes_on(cluster, watchers, C, a)
    cluster.worlds[A] = "c"
    await each(watchers, lambda one: one.ends(A, c))
    for world in (B, C):
        await goes_on(cluster, watchers, world, a)
    assert a.count("hello") == hellos and a.count("subscribe") == subscribes + len(watchers), "B was disturbed"


@scene(option="again", kinds=["cpp"])
async def what_is_under_way_for_a_view_that_was_ended_goes_to_no_other(cluster, watchers, a, b, c):
    await goes_on(cluster, watchers, A, a)
    assert a.count("subscribe") == 3 * len(watchers) and a.count("unsubscribe") == len(watchers)


@scene()
async def a_view_that_comes_back_is_refused(cluster, watchers, a, b, c):
    hellos, subscribes = a.count("hello"), a.count("subscribe")
    cluster.move(B, "b", is_known=False)
    cluster.worlds[B] = None
    await asyncio.sleep(0.2)
    a.refuses["subscribe", B] = "limit"
    cluster.worlds[B] = "a"
    await each(watchers, lambda one: one.ends(B, why="limit"))
    await goes_on(cluster, watchers, A, a)
    assert a.count("hello") == hellos and a.count("subscribe") == subscribes + len(watchers), "A was disturbed"


@scene()
async def a_node_dies_and_the_next_refuses_the_first_view(cluster, watchers, a, b, c):
    b.refuses["subscribe", A] = "no_team"
    cluster.worlds = {A: "b", B: "b"}
    a.die()
    await each(watchers, lambda one: one.ends(A, why="no_team"))
    await goes_on(cluster, watchers, B, b)
    assert b.count("hello") == len(watchers)


@scene()
async def the_next_node_is_busy_with_both_views(cluster, watchers, a, b, c):
    b.refuses.update({("subscribe", A): "busy", ("subscribe", B): "going_down"})
    cluster.worlds = {A: "b", B: "b"}
    a.die()
    while b.count("subscribe") < 6 * len(watchers) or b.count("hello") < len(watchers):
        await asyncio.sleep(0.01)
    await asyncio.sleep(1)
    subscribes = b.count("subscribe")
    assert b.count("hello") == len(watchers) and subscribes < 20 * len(watchers), (b.count("hello"), subscribes)
    b.refuses = {}
    for world in (A, B):
        await goes_on(cluster, watchers, world, b)


@scene()
async def the_other_nodes_are_busy_for_a_while(cluster, watchers, a, b, c):
    for node, why in ((b, "busy"), (c, "going_down")):
        node.refuses["hello", None] = why
    cluster.worlds = {A: "b", B: "b"}
    a.die()
    while min(b.count("hello"), c.count("hello")) < 3 * len(watchers):
        await asyncio.sleep(0.01)
    b.refuses = {}
    for world in (A, B):
        await goes_on(cluster, watchers, world, b)


@scene()
async def the_other_nodes_deny(cluster, watchers, a, b, c):
    for node, why in ((b, "denied"), (c, "bad_value")):
        node.refuses["hello", None] = why
    cluster.worlds = {A: "b", B: "b"}
    a.lives = False  # so that nobody names it
    a.refuses["hello", None] = "denied"
    for session in list(a.sessions):
        session.writer.close()
    await each(watchers, lambda one: one.until(lambda said: "closed" in said, "end"))
    for node in (b, c):
        assert node.count("hello") == len(watchers), node.count("hello")


@scene((A,), option="call", starts=False, shows=True, refuses={("world.info", A): "moved"})
async def a_node_says_moved_and_that_the_world_is_here(cluster, watchers, a, b, c):
    while a.count("world.info") < 5 * len(watchers):
        await asyncio.sleep(0.01)
    before = a.count("hello")
    await asyncio.sleep(1)
    assert a.count("hello") - before < 8 * len(watchers), f"{a.count('hello') - before} in a second"
    a.refuses = {}
    await each(watchers, lambda one: one.until(lambda said: "called" in said, "answer"))
    await goes_on(cluster, watchers, A, a)


@scene((A,), option="brief", starts=False, shows=True, refuses={("world.info", A): "moved"})
async def a_call_that_is_answered_moved_for_ever_ends_in_time(cluster, watchers, a, b, c):
    late = [asyncio.create_task(one.until(lambda said: "late" in said or "called" in said, "end of the call")) for one in watchers]
    for one in watchers:
        await one.until(lambda said: "tick" in said, "start")
    done, open_still = await asyncio.wait(late, timeout=PATIENCE)
    assert not open_still, [one.kind for one, task in zip(watchers, late) if task in open_still]
    assert all("world.info" in task.result().get("late", "") for task in done), [task.result() for task in done]
    await goes_on(cluster, watchers, A, a)


@scene((A,), option="never", starts=False, shows=True)
async def a_view_that_is_answered_moved_for_ever_ends(cluster, watchers, a, b, c):
    await each(watchers, lambda one: one.shows(A, a, 0))
    a.refuses["subscribe", A] = "moved"
    for node in (b, c):
        node.refuses["hello", None] = "denied"
    cluster.leave(A, "a")
    await each(watchers, lambda one: one.until(lambda said: "closed" in said or "ended" in said, "end of the view"))


@scene((A,), option="cancel", starts=False, shows=True, kinds=["asyncio"], late="subscribe")
async def a_subscribe_that_is_cancelled_leaves_nothing(cluster, watchers, a, b, c):
    await goes_on(cluster, watchers, A, a)
    while a.count("unsubscribe") < len(watchers):
        await asyncio.sleep(0.01)
    assert a.count("subscribe") == 2 * len(watchers) and all(len(session.views) == 1 for session in a.sessions)


@scene(option="early", kinds=["cpp", "csharp", "godot"])
async def a_view_is_ended_before_its_subscribe_is_answered(cluster, watchers, a, b, c):
    await goes_on(cluster, watchers, B, a)
    for one in watchers:
        assert not [said for said in one.said if said.get("view") == A or "refused" in said], one.said
    assert a.count("unsubscribe") == len(watchers) and all(len(session.views) == 1 for session in a.sessions)


@scene(option="next", kinds=["csharp", "godot"])
async def a_view_is_ended_before_it_is_subscribed_to_again(cluster, watchers, a, b, c):
    b.late = "subscribe"
    cluster.worlds = {A: "b", B: "b"}
    a.die()
    await goes_on(cluster, watchers, B, b)
    for one in watchers:
        said = [said for said in one.said if said.get("view") == A and said.get("node") == b.address or "refused" in said]
        assert not said and not [said for said in one.said if "ended" in said], said
    assert all(len(session.views) == 1 for session in b.sessions)


@scene(option="lost", kinds=["c"])
async def a_view_that_comes_back_is_ended_before_its_subscribe_is_answered(cluster, watchers, a, b, c):
    cluster.move(B, "b", is_known=False)
    cluster.worlds[B] = None
    a.late, a.quiet = "subscribe", {B}
    cluster.worlds[B] = "a"
    await each(watchers, lambda one: one.until(lambda said: "dropped" in said, "end of the lost view"))
    while any(len(session.views) > 1 for session in a.sessions):  # until the answer has come
        await asyncio.sleep(0.01)
    await goes_on(cluster, watchers, A, a)


@scene((A,), option="clock", kinds=["js"])
async def a_silent_node_is_left_though_the_clock_is_set(cluster, watchers, a, b, c):
    a.shows, a.late = False, "ping"
    cluster.worlds[A] = "b"
    await goes_on(cluster, watchers, A, b)


run([the_second_world_moves, the_first_world_moves, a_world_moves_and_its_node_does_not_know_yet_where,
     a_world_is_lost_to_another_node, the_last_world_is_followed, one_world_ends, the_first_world_ends,
     a_node_dies_and_its_worlds_part, a_node_dies_and_one_world_is_taken_over_later,
     a_node_dies_and_one_world_is_not_known_yet, a_node_dies_and_the_first_world_with_it,
     the_next_node_dies_while_views_go_on_there, a_view_that_the_program_has_ended_holds_nothing, a_rectangle_is_kept,
     a_subscription_that_comes_too_late_is_ended, the_second_world_leaves_at_once, a_world_comes_back_and_leaves_at_once, a_world_leaves_the_next_node_at_once,
     what_debug_subscribe_shows_holds_no_view, the_number_of_a_view_that_is_over_ends_no_other,
     the_last_world_comes_back_and_the_first_is_elsewhere, what_is_under_way_for_a_view_that_was_ended_goes_to_no_other,
     a_view_that_comes_back_is_refused, a_node_dies_and_the_next_refuses_the_first_view, the_next_node_is_busy_with_both_views,
     the_other_nodes_are_busy_for_a_while, the_other_nodes_deny, a_node_says_moved_and_that_the_world_is_here,
     a_call_that_is_answered_moved_for_ever_ends_in_time, a_view_that_is_answered_moved_for_ever_ends,
     a_subscribe_that_is_cancelled_leaves_nothing, a_view_is_ended_before_its_subscribe_is_answered,
     a_view_is_ended_before_it_is_subscribed_to_again,
     a_view_that_comes_back_is_ended_before_its_subscribe_is_answered, a_silent_node_is_left_though_the_clock_is_set])
