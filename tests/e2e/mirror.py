"""The state of a subscribed view, built from keyframes and deltas."""


import msgpack


def numbers_of(data):
    """A generator of a dense delta's bytes and LEB128 numbers; send it "byte" or "number" for the next one."""
    at = 0
    wanted = yield None
    while at < len(data):
        if wanted == "byte":
            value, at = data[at], at + 1
        else:
            value = shift = 0
            while True:
                byte, at = data[at], at + 1
                value |= (byte & 127) << shift
                shift += 7
                if byte < 128:
                    break
        wanted = yield value, at < len(data)


class Mirror:
    def __init__(self):
        self.sizes = {}  # bytes of each entry of the last delta
        self.tick = None
        self.rect = None
        self.looks = {}
        self.agents = {}
        self.ended = []
        self.alerts = []
        self.died = []  # while others carried them
        self.buildings = {}  # number: owner, x, y, width, height
        self.classes = {}  # only agents whose movement class is not the first
        self.tags = {}  # only agents that have a tag
        self.motions = {}  # heading, speed and waypoints (in half cells) of agents for which they are known
        self.visible = None  # cells; None: subscribed without `sight`
        self.keyframes = 0
        self.untold = 0  # keyframes before which orders may have ended that nobody tells
        self.deltas = 0

    def apply(self, name, params):
        if name == "keyframe":
            self._keyframe(params)
        elif name == "delta":
            self._delta(params)

    def _keyframe(self, params):
        self.keyframes += 1
        self.untold += params.get("untold", False)
        self.tick = params["tick"]
        self.rect = tuple(params["rect"])
        x, y, width, height = self.rect
        self.looks = {}
        place = 0
        cells = params["cells"]
        for i in range(0, len(cells), 2):
            for _ in range(cells[i]):
                self.looks[(x + place % width, y + place // width)] = cells[i + 1]
                place += 1
        assert place == width * height, "runs do not fill the rectangle"
        self.visible = None
        if "visible" in params:
            counts = params["visible"]
            assert sum(counts) == width * height and 0 not in counts[1:], "counts of what is visible"
            cells = [i % 2 for i, count in enumerate(counts) for _ in range(count)]
            self.visible = {(x + at % width, y + at // width) for at, seen in enumerate(cells) if seen}
        agents = params["agents"]
        self.agents = {agents[i]: tuple(agents[i + 1:i + 5]) for i in range(0, len(agents), 5)}
        self.classes = {}
        self._set_classes(params)
        self.tags = {}
        self._set_tags(params)
        self.motions = {}
        self._set_motions(params)
        self._set_buildings(params)

    def _delta(self, params):
        self.deltas += 1
        assert params["tick"] >= self.tick, "time runs backwards"
        self.tick = params["tick"]
        for name in ("moved", "enter", "leave", "cells", "ended", "alerts", "died", "classes", "tagged", "visible"):
            assert params.get(name) != [], f"{name} is empty"
        for name in ("steps", "runs", "sight"):
            assert params.get(name) != b"", f"{name} is empty"
        self.sizes = {name: len(msgpack.packb(value)) for name, value in params.items()}
        leave = params.get("leave", [])
        for i in range(0, len(leave), 2):
            assert leave[i] in self.agents, "an agent leaves that was not there"
            assert leave[i + 1] in (0, 1, 2, 3, 4)
            del self.agents[leave[i]]
            self.classes.pop(leave[i], None)
            self.tags.pop(leave[i], None)
            self.motions.pop(leave[i], None)
        if "rect" in params:
            self.rect = tuple(params["rect"])
            x, y, width, height = self.rect
            self.looks = {(i, j): self.looks.get((i, j), 0)
                          for j in range(y, y + height) for i in range(x, x + width)}
        enter = params.get("enter", [])
        for i in range(0, len(enter), 5):
            assert enter[i] not in self.agents, "an agent enters that was there"
            self.agents[enter[i]] = tuple(enter[i + 1:i + 5])
        self._set_classes(params)
        self._set_tags(params)
        self._set_motions(params)
        if "buildings" in params:
            self._set_buildings(params)
        moved = params.get("moved", [])
        for i in range(0, len(moved), 4):
            team = self.agents[moved[i]][0]
            self.agents[moved[i]] = (team, *moved[i + 1:i + 4])
        if "steps" in params:
            self._step(params["steps"])
        if "runs" in params:
            self._fill(params["runs"])
        cells = params.get("cells", [])
        for i in range(0, len(cells), 4):
            x, y, count, look = cells[i:i + 4]
            for offset in range(count):
                assert (x + offset, y) in self.looks, "a cell outside the rectangle"
                self.looks[(x + offset, y)] = look
        self._see(params)
        ended = params.get("ended", [])
        self.ended += [tuple(ended[i:i + 5]) for i in range(0, len(ended), 5)]
        alerts = params.get("alerts", [])
        self.alerts += [tuple(alerts[i:i + 5]) for i in range(0, len(alerts), 5)]
        self.died += params.get("died", [])

    def _step(self, steps):
        ids = {number % 2**32: number for number in self.agents}
        assert len(ids) == len(self.agents), "two agents of one place"
        source, place, more = numbers_of(steps), 0, True
        next(source)
        while more:
            head, more = source.send("byte")
            gap, direction = head >> 5, head & 15
            if gap == 7:
                rest, more = source.send("number")
                gap += rest
            place += gap + 1
            team, x, y, state = self.agents[ids[place]]
            if direction == 9:
                x, more = source.send("number")
                y, more = source.send("number")
            else:
                x += {7: 1, 0: 1, 1: 1, 3: -1, 4: -1, 5: -1}.get(direction, 0)
                y += {1: 1, 2: 1, 3: 1, 5: -1, 6: -1, 7: -1}.get(direction, 0)
                assert direction <= 8
            if head & 16:
                before = state
                state, more = source.send("byte")
                assert state != before, "a state that is none of news"
            assert direction != 8 or head & 16, "an entry that says nothing"
            self.agents[ids[place]] = (team, x, y, state)

    def _fill(self, runs):
        left, top, width, height = self.rect
        source, at, look, more = numbers_of(runs), 0, None, True
        next(source)
        while more:
            gap, more = source.send("number")
            length, more = source.send("number")
            if length % 2 == 0:
                look, more = source.send("number")
            at += gap
            for _ in range(length // 2 + 1):
                assert at < width * height, "a cell outside the rectangle"
                self.looks[(left + at % width, top + at // width)] = look
                at += 1

    def _see(self, params):
        left, top, width, height = self.rect
        assert self.visible is not None or not {"visible", "sight"} & set(params), "nobody asked for it"
        if "rect" in params and self.visible is not None:
            assert "visible" in params or "sight" in params, "another rectangle, and nothing of what is visible"
            self.visible = set()
        runs = params.get("visible", [])
        for i in range(0, len(runs), 4):
            x, y, count, seen = runs[i:i + 4]
            begin = (y - top) * width + x - left
            assert 0 <= begin and begin + count <= width * height and count > 0
            change = self.visible.add if seen else self.visible.discard
            for at in range(begin, begin + count):
                change((left + at % width, top + at // width))
        if "sight" in params:
            marks = self._marks(params["sight"])
            self.visible = self.visible ^ marks if params["sight"][0] else marks

    def _marks(self, sight):
        left, top, width, height = self.rect
        source, at, edges, more = numbers_of(sight), 0, set(), True
        next(source)
        kind, more = source.send("byte")
        assert kind in (0, 1)
        while more:
            gap, more = source.send("number")
            length, more = source.send("number")
            edges |= set(range(at + gap, at + gap + length + 1))
            at += gap + length + 1
        assert at <= width * height, "a cell outside the rectangle"
        marks, above = set(), set()
        for begin in range(0, width * height, width):
            above = {at + width for at in above} ^ {at for at in range(begin, begin + width) if at in edges}
            marks |= above
        return {(left + at % width, top + at // width) for at in marks}

    def _set_classes(self, params):
        classes = params.get("classes", [])
        for i in range(0, len(classes), 2):
            assert classes[i] in self.agents, "the class of an agent that is not there"
            self.classes[classes[i]] = classes[i + 1]

    def _set_tags(self, params):
        numbers, tags, at = params.get("tagged", []), params.get("tags", b""), 0
        assert len(tags) == sum(numbers[1::2]), "tags and their sizes"
        for i in range(0, len(numbers), 2):
            assert numbers[i] in self.agents, "the tag of an agent that is not there"
            tag, at = tags[at:at + numbers[i + 1]], at + numbers[i + 1]
            if tag:
                self.tags[numbers[i]] = tag
            else:
                self.tags.pop(numbers[i], None)

    def _set_motions(self, params):
        numbers, at = params.get("motion", []), 0
        while at < len(numbers):
            agent, heading, speed, count = numbers[at:at + 4]
            assert agent in self.agents, "the motion of an agent that is not there"
            assert heading <= 8 and count <= 4
            points = tuple(numbers[at + 4:at + 4 + 2 * count])
            assert len(points) == 2 * count, "a waypoint is cut off"
            self.motions[agent] = (heading, speed, points)
            at += 4 + 2 * count

    def _set_buildings(self, params):
        numbers = params.get("buildings", [])
        self.buildings = {numbers[i]: tuple(numbers[i + 1:i + 6])
                          for i in range(0, len(numbers), 6)}

    def state(self):
        motions = {agent: motion for agent, motion in self.motions.items() if motion != (8, 0, ())}
        asked = ([] if self.visible is None else [self.visible]) + ([motions] if motions else [])
        tags = [self.tags] if self.tags else []
        return (self.rect, self.looks, self.agents, self.classes, self.buildings, *asked, *tags)
