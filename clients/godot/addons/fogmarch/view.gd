# view.gd: what a team sees, kept up to date by keyframes and deltas (proto/PROTOCOL.md, Views). A client makes
# it: client.subscribe(world, team). Signals say what changed, when all of a message is applied.

const Port = preload("engine.gd")

# Everything may be different: the first keyframe, a later one, another rectangle. Draw all cells again; signals of
# agents come as usual.
signal replaced(view)
# So many cells from x, y eastward have a new look.
signal cells_changed(view, x, y, count)
# An agent left the view: reason 0 fog, 1 removed, 2 outside the rectangle, 3 it belongs to another team now, 4 it
# boarded a carrier.
signal left(view, id, reason)
# An agent came into view, moved, or changed its state.
signal entered(view, agent)
signal moved(view, agent)
# An agent's tag changed or was removed; after a keyframe: it has a tag.
signal tagged(view, agent)
# So many cells from x, y eastward came into sight or left it. Only in a view with sight.
signal sight_changed(view, x, y, count)
signal buildings_changed(view)
# More orders ended, or alerts came, than the server keeps for a view. Those that it kept come with the next message, the
# others never; agent.report tells which orders units still have.
signal untold(view)
# An order ended: {order, agent, reason, x, y}; reason_name(reason) says why.
signal order_ended(view, order)
# A unit stopped for an enemy: {order, agent, seen, x, y}, seen 0 when the enemy is out of sight again.
signal alerted(view, alert)
# An own agent died while another one carried it; it had left the view before.
signal died(view, id)
# All signals of a message have been emitted.
signal changed(view)
# The subscription is over, or was refused. Other views go on; see moved_to.
signal ended(view, why)

const TERRAINS = ["unknown", "ground", "out_of_bounds", "trees", "swamp", "water", "wall", "building"]
const HIDDEN = 0 # never seen
const EXPLORED = 1 # seen once, not now
const VISIBLE = 2
const STATES = ["idle", "moving", "waiting", "blocked", "holding", "carried"]
const REASONS = ["arrived", "nearest_reached", "unreachable", "replaced", "cancelled", "died", "out_of_memory",
	"target_lost", "target_died", "explored", "crowded", "deadline", "boarded"]

var world = 0
var team = 0
var subscription = 0 # 0: not answered yet
var stream = 0
var every = 1 # ticks between two deltas, as it was subscribed
var resumed = false # the server continued where a lost connection ended
var is_over = false
var moved_to = "" # of a view that is over: the node that has its world now, as HOST:PORT; "": none is known
var asked = [] # the rectangle that was asked for
var asked_at = -1 # when it was subscribed to, where that has not been done yet; -1: it has
var tick = -1
var x = 0 # the rectangle that is shown
var y = 0
var width = 0
var height = 0
var has_sight = false # it was subscribed with sight
var has_motion = false # it was subscribed with motion
# id: {id, team, x, y, state, movement_class}, and tag (bytes) where one has a tag. In a view with motion also `motion`,
# where it is known: {heading, speed, waypoints}. Heading of the last step: 0 east, 1 south-east ... 7, 8 unknown; speed of
# it in cells a tick, 0 unknown; waypoints: [[x, y], ...] in cells, where the middle of an own agent goes next.
var agents = {}
var buildings = {} # number: {number, team, x, y, width, height}

var _looks = []
var _visible = [] # by cell, as _looks; empty without sight


# Why an order ended, in a word; of a reason that only a newer server knows, its number.
static func reason_name(reason):
	return REASONS[reason] if reason < REASONS.size() else str(reason)


# Terrain and cost of a cell in one number; 0: unknown, or not in view.
func look(at_x, at_y):
	if at_x < x or at_y < y or at_x >= x + width or at_y >= y + height:
		return 0
	return _looks[(at_y - y) * width + at_x - x]


# A place in TERRAINS.
func terrain(at_x, at_y):
	return look(at_x, at_y) & 15


# How many times the cost of open floor a known cell has.
func cost(at_x, at_y):
	return (look(at_x, at_y) >> 4) + 1


# How an agent moves, in a view with motion; null: nothing is known.
func motion(id):
	return agents[id].get("motion") if agents.has(id) else null


# HIDDEN, EXPLORED or VISIBLE; the last only in a view with sight.
func fog(at_x, at_y):
	var is_inside = at_x >= x and at_y >= y and at_x < x + width and at_y < y + height
	if has_sight and is_inside and _visible[(at_y - y) * width + at_x - x]:
		return VISIBLE # its look comes with the next tick
	return HIDDEN if look(at_x, at_y) == 0 else EXPLORED


# ---- messages ------------------------------------------------------------------------------------

func apply(is_keyframe, message):
	var gone = []
	var come = []
	tick = message["tick"]
	if is_keyframe:
		_replace(message, gone, come)
	else:
		_change(message, gone, come)
	_tell(is_keyframe, message, gone, come)


func _replace(message, gone, come):
	_set_rect(message["rect"])
	_looks = []
	_looks.resize(width * height)
	var place = 0
	var runs = message["cells"]
	for i in range(0, runs.size(), 2):
		for _j in range(runs[i]):
			_looks[place] = runs[i + 1]
			place += 1
	var before = agents
	agents = {}
	_enter(message["agents"], come, before)
	for id in before:
		if not agents.has(id):
			gone.push_back([id, 2])
	_classify(message)
	_write_tags(message)
	_set_motions(message)
	_see_all(message.get("visible", []))
	_build(message.get("buildings", []))


func _change(message, gone, come):
	var leave = message.get("leave", [])
	for i in range(0, leave.size(), 2):
		if agents.erase(leave[i]):
			gone.push_back([leave[i], leave[i + 1]])
	if message.has("rect"):
		_move_rect(message["rect"])
	_enter(message.get("enter", []), come, {})
	_classify(message)
	_write_tags(message)
	_set_motions(message)
	if message.has("buildings"):
		_build(message["buildings"])
	var moves = message.get("moved", [])
	for i in range(0, moves.size(), 4):
		var agent = agents.get(moves[i])
		if agent != null:
			agent["x"] = moves[i + 1]
			agent["y"] = moves[i + 2]
			agent["state"] = moves[i + 3]
	var cells = message.get("cells", [])
	for i in range(0, cells.size(), 4):
		var at = (cells[i + 1] - y) * width + cells[i] - x
		for j in range(at, at + cells[i + 2]):
			_looks[j] = cells[i + 3]
	var seen = message.get("visible", []) if has_sight else []
	for i in range(0, seen.size(), 4):
		var at = (seen[i + 1] - y) * width + seen[i] - x
		for j in range(at, at + seen[i + 2]):
			_visible[j] = seen[i + 3] != 0


func _set_rect(rect):
	x = rect[0]
	y = rect[1]
	width = rect[2]
	height = rect[3]


# The rectangle has moved: cells that it did not show before are unknown.
func _move_rect(rect):
	var looks = []
	looks.resize(rect[2] * rect[3])
	var at = 0
	for j in range(rect[1], rect[1] + rect[3]):
		for i in range(rect[0], rect[0] + rect[2]):
			looks[at] = look(i, j)
			at += 1
	_looks = looks
	_set_rect(rect)
	_see_all([]) # the same message has what is visible


func _enter(list, come, before):
	for i in range(0, list.size(), 5):
		agents[list[i]] = {"id": list[i], "team": list[i + 1], "x": list[i + 2], "y": list[i + 3],
			"state": list[i + 4], "movement_class": 0}
		if not before.has(list[i]):
			come.push_back(list[i])


func _classify(message):
	var classes = message.get("classes", [])
	for i in range(0, classes.size(), 2):
		agents[classes[i]]["movement_class"] = classes[i + 1]


# `tagged` has each agent and the size of its tag, `tags` the bytes of all tags.
func _write_tags(message):
	var numbers = message.get("tagged", [])
	var at = 0
	for i in range(0, numbers.size(), 2):
		var size = numbers[i + 1]
		if size > 0:
			agents[numbers[i]]["tag"] = Port.part_of(message["tags"], at, size)
		else:
			agents[numbers[i]].erase("tag")
		at += size


# For each agent: id, heading, speed in thousandths, count of waypoints, and x, y of each in half cells.
func _set_motions(message):
	var numbers = message.get("motion", [])
	var at = 0
	while at < numbers.size():
		var points = []
		var end = at + 4 + 2 * numbers[at + 3]
		for i in range(at + 4, end, 2):
			points.push_back([numbers[i] / 2.0, numbers[i + 1] / 2.0])
		agents[numbers[at]]["motion"] = {"heading": numbers[at + 1], "speed": numbers[at + 2] / 1000.0, "waypoints": points}
		at = end


# Runs of cells that are not visible and runs that are, in turn.
func _see_all(runs):
	if not has_sight:
		return
	_visible = []
	_visible.resize(width * height)
	var place = 0
	for i in range(runs.size()):
		for _j in range(runs[i]):
			_visible[place] = i % 2 == 1
			place += 1
	for j in range(place, width * height):
		_visible[j] = false


func _build(list):
	buildings = {}
	for i in range(0, list.size(), 6):
		buildings[list[i]] = {"number": list[i], "team": list[i + 1], "x": list[i + 2], "y": list[i + 3],
			"width": list[i + 4], "height": list[i + 5]}


# A run continues at the beginning of the next row.
func _tell_sight(from_x, from_y, left):
	while left > 0:
		var count = min(left, x + width - from_x)
		emit_signal("sight_changed", self, from_x, from_y, count)
		left -= count
		from_x = x
		from_y += 1


func _tell(is_keyframe, message, gone, come):
	if is_keyframe or message.has("rect"):
		emit_signal("replaced", self)
	else:
		var cells = message.get("cells", [])
		for i in range(0, cells.size(), 4):
			emit_signal("cells_changed", self, cells[i], cells[i + 1], cells[i + 2])
		var seen = message.get("visible", []) if has_sight else []
		for i in range(0, seen.size(), 4):
			_tell_sight(seen[i], seen[i + 1], seen[i + 2])
	for one in gone:
		emit_signal("left", self, one[0], one[1])
	for id in come:
		emit_signal("entered", self, agents[id])
	var moves = message["agents"] if is_keyframe else message.get("moved", [])
	for i in range(0, moves.size(), 5 if is_keyframe else 4):
		if agents.has(moves[i]):
			emit_signal("moved", self, agents[moves[i]])
	var tags = message.get("tagged", [])
	for i in range(0, tags.size(), 2):
		emit_signal("tagged", self, agents[tags[i]])
	if is_keyframe or message.has("buildings"):
		emit_signal("buildings_changed", self)
	if is_keyframe and message.get("untold", false):
		emit_signal("untold", self)
	var ends = message.get("ended", [])
	for i in range(0, ends.size(), 5):
		emit_signal("order_ended", self, {"order": ends[i], "agent": ends[i + 1], "reason": ends[i + 2],
			"x": ends[i + 3], "y": ends[i + 4]})
	var alerts = message.get("alerts", [])
	for i in range(0, alerts.size(), 5):
		emit_signal("alerted", self, {"order": alerts[i], "agent": alerts[i + 1], "seen": alerts[i + 2],
			"x": alerts[i + 3], "y": alerts[i + 4]})
	for id in message.get("died", []):
		emit_signal("died", self, id)
	emit_signal("changed", self)
