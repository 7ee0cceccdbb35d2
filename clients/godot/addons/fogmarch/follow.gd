# follow.gd: in a cluster, where a client goes when its node dies, or no longer has its world. client.gd asks what to do
# next and does it; nothing here connects.
#
# A client is on one node at a time, and does not leave the world of a view for that of another one (clients/README.md,
# Views of several worlds). It asks the nodes that it knows where the world is (world.locate), the best guess first,
# again and again with growing pauses.

const Port = preload("engine.gd")

const NODE_PATIENCE_MS = 2000 # for one node to answer
const QUIET_MS = 1000 # after so long without a message a client asks whether its node is there
const GONE_MS = 3000 # for how long all must deny the world: a new node knows of none yet
const FIRST_MS = 5000 # so long only the oldest view's world is looked for, then those of the others as well
const PAUSE_FIRST_MS = 50
const PAUSE_LAST_MS = 1000
const NODES_MAX = 64

# These take a command_id: sent twice, they are carried out once.
const COMMANDS = ["team.create", "team.cost", "agent.spawn", "agent.remove", "agent.order", "agent.cancel", "agent.resume",
	"agent.planner", "agent.set", "agent.place", "agent.board", "agent.unboard", "terrain.set", "building.place",
	"building.remove"]

# Sent again, these might be done twice, or name something that only one node has.
const ONCE = ["map.upload", "replay.close", "replay.open", "replay.pause", "replay.play", "replay.seek", "save.download",
	"subscription.move", "token.create", "token.revoke", "unsubscribe", "debug.unsubscribe", "world.create", "world.destroy",
	"world.load", "world.save", "world.step"]

var nodes = [] # ADDRESS:PORT, the best guess first
var is_node = false # the server is a node of a cluster
var is_seeking = false
var worlds = [] # the node of the first is sought, or of another one; []: any node will do
var why = "" # why the last node was not the right one
var since = 0
var is_right = false # the node that is asked has the world, as another one says
var ticket = "" # for the node where the world is
var refused = {} # nodes that refused hello in this search for good: true
var silent = "" # the node that the client has left because it was silent

var _left = "" # the node that it left last because of an answer
var _left_at = 0
var _left_pause = 0 # before it looked for the next one
var _guess = ""
var _at = 0
var _pause_until = 0
var _pause_ms = 0
var _gone_since = -1
var _command = 0


# The client is on a node, whose hello names the others.
func settle(address, welcome):
	is_node = str(welcome.get("node", "")) != ""
	is_seeking = false
	silent = ""
	ticket = ""
	_guess = ""
	nodes.erase(address)
	nodes.push_front(address)
	for seed_node in welcome.get("seeds", []):
		var at = seed_node.get("tcp", "")
		if at != "" and not nodes.has(at) and nodes.size() < NODES_MAX:
			nodes.push_back(at)


# `moved` says where a world is, and has the ticket for that node.
func note_place(place):
	if not is_seeking:
		_guess = str(place.get("tcp", ""))
		ticket = str(place.get("ticket", ""))


func seek(numbers, reason):
	is_seeking = true
	is_right = false
	worlds = numbers
	why = reason
	since = Port.now_ms()
	_at = 0
	_pause_until = 0
	_pause_ms = PAUSE_FIRST_MS
	_gone_since = -1
	refused = {}


# A node has said that the world is not there. Where it does so again and again, and has the world as others say, the
# search begins after a pause.
func leave(address):
	var again = address == _left and Port.now_ms() - _left_at < GONE_MS
	_left_pause = min(max(2 * _left_pause, PAUSE_FIRST_MS), PAUSE_LAST_MS) if again else 0
	_left = address
	_left_at = Port.now_ms() + _left_pause
	_pause_until = _left_at


# Whether to give up.
func is_over(follow_ms):
	var now = Port.now_ms()
	return now - since >= follow_ms or (_is_gone() and worlds.size() < 2) or _have_all_refused()


func _have_all_refused():
	for node in nodes:
		if not refused.has(node):
			return false
	return true


func _is_gone():
	return _gone_since >= 0 and Port.now_ms() - _gone_since > GONE_MS


# Whether a node that does not know the first world is asked for the others.
func tries_others():
	return Port.now_ms() - since > FIRST_MS or _is_gone()


# The node to ask next; "": none for now.
func next():
	var now = Port.now_ms()
	is_right = false
	if now < _pause_until:
		return ""
	if _guess != "":
		var address = _guess
		_guess = ""
		return address
	while _at < nodes.size() and (is_silent(nodes[_at]) or refused.has(nodes[_at])):
		_at += 1
	if _at < nodes.size():
		_at += 1
		return nodes[_at - 1]
	_at = 0
	_pause_until = now + _pause_ms
	_pause_ms = PAUSE_LAST_MS if 2 * _pause_ms > PAUSE_LAST_MS else 2 * _pause_ms
	return ""


# Whether not to ask a node yet: the others will soon say who has its worlds.
func is_silent(address):
	return address == silent and nodes.size() > 1 and Port.now_ms() - since < NODE_PATIENCE_MS


# A node was not the right one. `denies`: it says that there is no such world.
func failed(reason, denies):
	why = reason
	if not denies:
		_gone_since = -1
	elif _gone_since < 0:
		_gone_since = Port.now_ms()


# Another node says where the world is.
func go_to(address):
	_guess = address


# The next command's id. Two clients must not have the same ones.
func command_id():
	if _command == 0:
		var random = RandomNumberGenerator.new()
		random.randomize()
		_command = ((random.randi() & 0x7ffff) << 32) | (random.randi() ^ (get_instance_id() & 0xffff))
	_command += 1
	return _command
