"""Lost connections: whoever comes back goes on where it was.

Goal    a client that lost its connection and subscribes again with `stream` and `since` gets what it
        missed, as deltas, and then holds what a fresh keyframe shows; each order ends exactly once for it.
        Where that is not remembered any more, or was never its own, it gets a keyframe and is told so.
Method  random worlds and moments, with a printed seed.
"""

import random
import time

from fogmarch_server import PATIENCE, Server, run, seed
from mirror import Mirror
from play import Play, Watcher


class Follower(Watcher):
    """A client that holds a view, and may lose its connection."""

    def __init__(self, server, world, **params):
        self.server = server
        self.params = dict(world=world, **params)
        self.mirror = Mirror()
        self.client = server.connect()
        self._subscribe()

    def _subscribe(self, **more):
        answer = self.client.call("subscribe", **{**self.params, **more})
        self.subscription, self.stream = answer["subscription"], answer["stream"]
        return answer["resumed"]

    def lose(self):
        """Hangs up, after some of what was sent has been read."""
        self.client.close()

    def come_back(self):
        """Returns whether it goes on with deltas."""
        keyframes = self.mirror.keyframes
        self.client = self.server.connect()
        resumed = self._subscribe(stream=self.stream, since=self.mirror.tick, rect=list(self.mirror.rect))
        self.take_all()
        assert self.mirror.keyframes == keyframes + (not resumed), "a keyframe, or none, against what was said"
        return resumed


def goes_on_after_the_last_tick():
    source = random.Random(seed())
    for rules in (dict(sense_radius=3), dict(omniscient=True)):
        with Server() as server:
            play = Play(server, source, 40, 2, **rules)
            play.spawn(30)
            views = [dict(), dict(team=play.teams[0]), dict(rect=[5, 3, 20, 17]), dict(every=3),
                     dict(team=play.teams[1], rect=[0, 0, 31, 9])]
            followers = [Follower(server, play.world, **view) for view in views]
            for follower in followers:
                follower.take_all()
            for _ in range(12):
                lost = [follower for follower in followers if source.random() < 0.5]
                for follower in lost:
                    follower.lose()
                for _ in range(source.randrange(1, 5)):
                    play.act()
                    play.step(source.randrange(1, 4))
                for follower in lost:
                    assert follower.come_back(), f"{follower.params} was not resumed"
                    follower.check()
                for follower in followers:
                    follower.take_all()
            assert play.client.call("stats")["server"]["streams_resumed"] > 5
            ended = followers[0].mirror.ended
            assert len(ended) == len({entry[0] for entry in ended}), "an order ended twice"
            assert {entry[0] for entry in ended} <= set(play.orders)
            fresh = Follower(server, play.world)
            fresh.take_all()
            assert fresh.mirror.keyframes == 1 and followers[0].mirror.keyframes == 1


def keyframes_where_it_is_not_known():
    with Server() as server:
        play = Play(server, random.Random(1), 32, 2)
        play.spawn(10)

        def refused(**more):
            follower = Follower(server, play.world)
            follower.take_all()
            play.order(5)
            play.step(2)
            follower.lose()
            follower.stream = more.get("stream", follower.stream)
            follower.mirror.tick = more.get("since", follower.mirror.tick)
            assert not follower.come_back(), more
            follower.check()
            follower.client.close()

        keeper = Follower(server, play.world)  # so that the view is there in any case
        keeper.take_all()
        for stream in (1, keeper.stream ^ 1, keeper.stream ^ 2, 2**53 - 1):
            refused(stream=stream)
        refused(since=2**53 - 1)
        follower = Follower(server, play.world, team=play.teams[0])
        follower.take_all()
        follower.lose()
        assert follower.come_back(), "forgotten too soon"
        follower.client.call("unsubscribe", subscription=follower.subscription)
        assert not follower.come_back(), "who leaves does not come back"
        for wrong in (dict(stream=2**53, since=0), dict(stream=5), dict(since=5),
                      dict(stream=5, since=5, follow=play.agents[0])):
            assert play.client.refused("subscribe", world=play.world, **wrong) == "bad_field", wrong


def forgotten_in_time():
    for seconds in ("0", "0.2"):
        with Server("--resume-s", seconds) as server:
            play = Play(server, random.Random(2), 32, 1)
            follower = Follower(server, play.world)
            follower.take_all()
            end = time.monotonic() + PATIENCE
            wait = 0.5
            follower.lose()
            time.sleep(wait)
            while follower.come_back():
                assert time.monotonic() < end, "never forgotten"
                follower.lose()
                wait *= 2
                time.sleep(wait)


def worlds_end_with_lost_views():
    """A view that waits for its client keeps neither its world nor the server."""
    with Server() as server:
        play = Play(server, random.Random(3), 32, 1)
        follower = Follower(server, play.world)
        follower.take_all()
        follower.lose()
        play.step()
        play.client.call("world.destroy", world=play.world)
        other = Play(server, random.Random(4), 32, 1)
        again = Follower(server, other.world)
        again.take_all()
        again.lose()
        other.step()


if __name__ == "__main__":
    run([goes_on_after_the_last_tick, keyframes_where_it_is_not_known, forgotten_in_time,
         worlds_end_with_lost_views])
