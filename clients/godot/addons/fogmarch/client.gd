# client.gd: a session with a server, over TCP. Add it to the scene tree: it runs by itself, once a frame. Without
# a tree, call update().
#
#   CONNECTING ── hello was answered ──> OPEN ── in a cluster: its world is elsewhere ──> SEEKING
#    │  ^                                 ^                                                  │
#    └──┘ no answer: the next address      └── views go on, requests are sent again ──────────┘
#
#   var client = preload("res://addons/fogmarch/client.gd").new()
#   add_child(client)
#   client.open("127.0.0.1", 7421)

extends Node

signal opened(client) # the server said hello; `welcome` is what it said
signal followed(client) # it is on another node of the cluster, where its world is
signal closed(client, why)
signal refused(method, error) # a request without a target; error: {code, name, message}
signal notified(name, params) # a notification of no view, such as going_down

const Port = preload("engine.gd")
const Packer = preload("packer.gd")
const Unpacker = preload("unpacker.gd")
const View = preload("view.gd")
const Follow = preload("follow.gd")
const Message = preload("message.gd")

const NOT_HERE = ["moved", "not_ready", "no_world"] # answers after which a world may still come

const FOR_NOW = ["busy", "going_down"] # answers after which the same node is asked again

const CONNECTING = "connecting"
const OPEN = "open"
const SEEKING = "seeking"
const CLOSED = "closed"
const PATIENCE_MS = 10000 # for a server to answer
const UNSENT_MAX = 64 << 20
const LARGE_REQUEST = 65536 # bytes; a larger one may take long to send
const SLOW_LINE = 64 # bytes in a millisecond that a line carries at least

var tls = false # set it before open(): use TLS and check the certificate
var trusted = null # an X509Certificate to trust; null: those that Godot trusts
# Set it before open(): more addresses as HOST:PORT, for instance of a cluster's other nodes. They are asked in turn,
# where the first does not answer.
var nodes = []
# In a cluster: for how long it looks for the next node when its own dies or no longer has its world. Its views continue
# there, and each command is carried out once. A client is on one node: a view whose world goes to another one, while other
# views stay, ends, and its `moved_to` is the address for another client.
var follow_ms = 30000 # 0: it does not
# For how long a request is waited for, with all its repeats in a cluster; then it fails with the name "timeout". 0: for
# ever.
var timeout_ms = 30000
var address = "" # of the server, as HOST:PORT
var state = CLOSED
var why = "" # why it is closed
var welcome = {} # answer to hello: role, world and team of the seat, and so on

var _peer
var _tcp # the TCP stream below _peer
var _host
var _hello
var _since
var _last = 0 # the last id
# id: {method, target, function, view (or null), message, since, is_refused (nothing was done)}
var _waiting = {}
var _token = ""
var _resume = ""
var _start_at = 0 # which address is asked for the first hello
var _follow = Follow.new()
var _probing = {} # id: [method, function]; of the requests to a node that may be the right one
var _probed = 0 # which of the worlds that are sought it is asked for
var _is_tried = false # such a node is connected, or about to be
var _last_world = 0 # that a request has named
var _heard_at = 0 # when the node said something, or was asked whether it is there
var _is_asked = false
var _sent_by = 0 # when large requests have been sent, on a slow line; the ping waits behind them
var _views = {} # by subscription
var _living = [] # views that go on, the oldest first
# Of views whose world is not on this node: {view, had_it, since, next_ms, pause_ms, denied_since, id, refusal}. `id` of
# world.locate; -1: it is being subscribed to; 0: nothing is under way. `refusal`: of subscribe, "" where there was none.
var _looks = []
var _to_subscribe = [] # views; the first of them is being answered
var _output
var _early = [] # requests that wait for hello's answer
var _input


# Begins to connect. `token` decides the role, where the server wants one; `resume` is welcome["resume"] of a session
# whose connection broke.
func open(host, port, token = "", resume = ""):
	_token = token
	_resume = resume
	_start_at = 0
	_early = []
	state = CONNECTING
	_follow.nodes = ["%s:%d" % ["[%s]" % host if host.find(":") >= 0 else host, port]]
	for node in nodes:
		if not _is_address(node):
			_end("'%s' is not of the form HOST:PORT" % node)
			return
		if not _follow.nodes.has(node):
			_follow.nodes.push_back(node)
	_ask_for_hello()


static func _is_address(node):
	var colon = node.rfind(":")
	var port = int(node.substr(colon + 1))
	return colon > 0 and port > 0 and port < 65536 and node.substr(colon + 1) == str(port)


func _ask_for_hello():
	for id in _waiting.keys():
		if _waiting[id]["method"] == "hello":
			_waiting.erase(id) # of the address before
	if not _connect(_follow.nodes[_start_at], _resume):
		_lose("no server there")


# None has said hello yet. Asks the next address, if there is one.
func _start_elsewhere(reason):
	var last = "%s: %s" % [address, reason]
	if _start_at + 1 < _follow.nodes.size():
		_start_at += 1
		_ask_for_hello()
	elif _start_at == 0:
		_end(last)
	else:
		_end("no server answers at %s; the last is %s" % [str(_follow.nodes), last])


func _connect(node, resume):
	var colon = node.rfind(":")
	_host = node.substr(0, colon).replace("[", "").replace("]", "")
	address = node
	_tcp = StreamPeerTCP.new()
	_peer = _tcp
	_input = Unpacker.new()
	_output = StreamPeerBuffer.new()
	_output.big_endian = true
	_hello = {"protocol": 1, "client": "godot"}
	if _token != "":
		_hello["token"] = _token
	if resume != "":
		_hello["resume"] = resume
	if _follow.ticket != "":
		_hello["ticket"] = _follow.ticket
	_since = Port.now_ms()
	return _tcp.connect_to_host(_host, int(node.substr(colon + 1))) == OK


func close():
	if state != CLOSED:
		state = CLOSED
		why = "closed by this program"
		_tcp.disconnect_from_host()
		emit_signal("closed", self, why)


func _end(reason):
	if state == CLOSED:
		return
	state = CLOSED
	why = reason
	if _tcp != null:
		_tcp.disconnect_from_host()
	_tell_of(self, "closed", "the connection is over: " + why)
	emit_signal("closed", self, why)
	var what = "was not sent: " + why if welcome.size() == 0 else "may have been carried out, or not"
	for id in _waiting.keys(): # those of views are not answered: resume() continues them
		if _waiting.has(id) and _waiting[id]["view"] == null and _waiting[id]["method"] != "hello":
			_answer_with(id, "io", "connection lost: %s %s" % [_waiting[id]["method"], what])


# What nobody listens for is in Godot's output: a program that shows nothing says why.
static func _tell_of(source, name, text):
	if source.get_signal_connection_list(name).size() == 0:
		push_warning("fogmarch: " + text)


# Calls a method of the protocol. The answer calls `function` of `target` with {ok, result, error}; without a
# target, the signal `refused` reports errors.
func request(method, params = {}, target = null, function = ""):
	_request(method, params, target, function, null)


func _request(method, params, target, function, view):
	if state == CLOSED:
		var error = {"code": 0, "name": "io", "message": "the client is closed: " + why}
		if target != null:
			target.call(function, {"ok": false, "error": error, "result": null})
		elif view == null: # otherwise it is an unsubscribe, which has been done
			_tell_of(self, "refused", "%s was refused: %s" % [method, error["message"]])
			emit_signal("refused", method, error)
		return
	_last += 1
	_last_world = params.get("world", _last_world)
	if Follow.COMMANDS.has(method) and not params.has("command_id") and (_follows() or state == CONNECTING):
		params = params.duplicate()
		params["command_id"] = _follow.command_id()
	var message = [0, _last, method, [params]]
	_waiting[_last] = {"method": method, "target": target, "function": function, "view": view, "message": message,
		"since": Port.now_ms(), "is_refused": false}
	if state == OPEN or method == "hello":
		_put(message)
	elif state == CONNECTING: # what comes while it seeks is sent with the rest, when it has found
		_early.push_back(message)


# Subscribes to what a team sees; 0: a player's own team, for others everything. `rect`: [x, y, width, height], or [].
# `sight`: with which cells are visible; `motion`: with how agents move.
func subscribe(world, team = 0, rect = [], every = 1, sight = false, motion = false):
	var view = View.new()
	view.every = every
	view.world = world
	view.team = team
	view.has_sight = sight
	view.has_motion = motion
	view.asked = rect
	_subscribe(view, rect, every, {})
	return view


# Continues a view of a session whose connection broke, with what it missed, or with a keyframe.
func resume(view):
	var more = {"stream": view.stream, "since": view.tick}
	_subscribe(view, [view.x, view.y, view.width, view.height], view.every, more)


func _subscribe(view, rect, every, more):
	var params = {"world": view.world, "every": every}
	if view.team != 0:
		params["team"] = view.team
	if rect.size() == 4:
		params["rect"] = rect
	if view.has_sight:
		params["sight"] = true
	if view.has_motion:
		params["motion"] = true
	for key in more:
		params[key] = more[key]
	view.subscription = 0
	view.is_over = false
	view.moved_to = ""
	if view.asked_at < 0:
		view.asked_at = Port.now_ms()
	if not _living.has(view):
		_living.push_back(view)
	_to_subscribe.push_back([view, params])
	if _to_subscribe.size() == 1 and state != SEEKING:
		_send_subscribe()


# One at a time: a keyframe may come before the answer, and names only its subscription.
func _send_subscribe():
	while _to_subscribe.size() > 0 and _to_subscribe[0][0].is_over:
		_to_subscribe.pop_front() # the program has ended it meanwhile
	if _to_subscribe.size() > 0:
		_request("subscribe", _to_subscribe[0][1], self, "_on_subscribed", _to_subscribe[0][0])


func _on_subscribed(answer):
	var view = _to_subscribe.pop_front()[0]
	_send_subscribe()
	if answer["ok"]:
		view.stream = answer["result"]["stream"]
		view.resumed = answer["result"]["resumed"]
		view.asked_at = -1
		for look in _looks:
			if look["view"] == view and look["id"] == -1:
				_looks.erase(look)
				break
		_adopt(view, answer["result"]["subscription"])
		if view.is_over: # the program has ended it meanwhile
			_send_unsubscribe(view)
	elif not view.is_over:
		_refuse(view, answer["error"])


func _adopt(view, subscription):
	view.subscription = subscription
	_views[subscription] = view


func unsubscribe(view):
	var is_here = not _stop_looking(view) and not _is_to_subscribe(view) and not view.is_over
	view.is_over = true # later messages of it are dropped
	_living.erase(view)
	if is_here: # otherwise when the subscribe is answered
		_send_unsubscribe(view)


func _send_unsubscribe(view):
	_request("unsubscribe", {"subscription": view.subscription}, null, "", view)


func _is_to_subscribe(view):
	for one in _to_subscribe:
		if one[0] == view:
			return true
	return false


func _view_of(subscription):
	if not _views.has(subscription) and _to_subscribe.size() > 0:
		_adopt(_to_subscribe[0][0], subscription)
	return _views.get(subscription)


# ---- what goes out and comes in ------------------------------------------------------------------

func _put(message):
	_output.seek(_output.get_size())
	var before = _output.get_size()
	Packer.pack(_output, message)
	var size = _output.get_size() - before
	if size > LARGE_REQUEST:
		_sent_by = max(_sent_by, Port.now_ms()) + size / SLOW_LINE
	if _output.get_size() > UNSENT_MAX:
		_end("the server does not read")


func _process(_delta):
	update()


# Sends what waits, reads what has come, emits the signals. Never waits.
func update():
	if state == CLOSED:
		return
	if state == SEEKING and not _try_node():
		_expire()
		return
	_poll()
	var tcp = _tcp
	var status = _peer.get_status() # the numbers are those of StreamPeerTCP, over TLS as well
	if tls and _peer == _tcp and status == StreamPeerTCP.STATUS_CONNECTED:
		_peer = Port.secure(_tcp, _host, trusted)
		status = StreamPeerTCP.STATUS_ERROR if _peer == null else _peer.get_status()
	if _hello != null and status == StreamPeerTCP.STATUS_CONNECTED:
		_tcp.set_no_delay(true)
		if state == SEEKING:
			_probe("hello", _hello, "_on_probe_hello")
		else:
			_request("hello", _hello, self, "_on_hello", null)
			_since = Port.now_ms() # the game may have stood still, as when it loads a scene
		_hello = null
	elif state == SEEKING and Port.now_ms() - _since > Follow.NODE_PATIENCE_MS:
		_lose("no answer in time")
	elif state == CONNECTING and Port.now_ms() - _since > PATIENCE_MS:
		_lose("no answer in time")
	elif status != StreamPeerTCP.STATUS_CONNECTED and status != StreamPeerTCP.STATUS_CONNECTING:
		var what = "no server there" if _peer == _tcp else "no TLS with the server"
		_lose(what if _hello != null else "the server disconnected")
	if tcp == _tcp and status == StreamPeerTCP.STATUS_CONNECTED and state != CLOSED and (state != SEEKING or _is_tried):
		if state == OPEN:
			_update_looks()
		_flush()
		if tcp == _tcp:
			_read()
		_watch()
	_expire()


# Requests that have taken too long, with all their repeats. Subscribes are waited for: see _has_asked_long().
func _expire():
	if timeout_ms <= 0 or state == CONNECTING or state == CLOSED:
		return
	var now = Port.now_ms()
	for id in _waiting.keys():
		if _waiting.has(id) and _waiting[id]["view"] == null and now - _waiting[id]["since"] > timeout_ms:
			_answer_with(id, "timeout", "no answer to %s within %d ms" % [_waiting[id]["method"], timeout_ms])


func _answer_with(id, name, text):
	_deliver(id, {"code": 0, "name": name, "message": text}, null)


# A node that is frozen, or without power, does not disconnect.
func _watch():
	if state != OPEN or not _follows():
		return
	if Port.now_ms() < _sent_by:
		_heard_at = Port.now_ms()
		_is_asked = false
	var quiet_ms = Port.now_ms() - _heard_at
	if _is_asked and quiet_ms > Follow.NODE_PATIENCE_MS:
		_follow.silent = address
		_lose("the node is silent")
	elif not _is_asked and quiet_ms > Follow.QUIET_MS:
		_heard_at = Port.now_ms()
		_is_asked = true
		_put([0, 0, "ping", [{}]]) # nobody waits for its answer


func _poll():
	Port.poll(_tcp)
	if _peer != _tcp:
		_peer.poll()


func _flush():
	var size = _output.get_size()
	if size == 0:
		return
	_output.seek(0)
	var all = _output.get_data(size)[1]
	var done = _peer.put_partial_data(all)
	_output.clear()
	if done[0] != OK:
		_lose("the server is gone")
	elif done[1] < size:
		var rest = StreamPeerBuffer.new()
		rest.data_array = all
		rest.seek(done[1])
		_output.put_data(rest.get_data(size - done[1])[1])


func _read():
	var peer = _peer
	while state != CLOSED and peer == _peer and (state != SEEKING or _is_tried):
		var size = _peer.get_available_bytes()
		if size <= 0:
			return
		var data = _peer.get_partial_data(size)
		if data[0] != OK:
			_lose("the server disconnected")
			return
		_heard_at = Port.now_ms()
		_is_asked = false
		var input = _input
		input.feed(data[1])
		var message = input.take()
		while message != null and state != CLOSED and (state != SEEKING or _is_tried):
			_take(message)
			message = input.take()
		if input != _input or state == CLOSED:
			return
		if _input.error != "":
			_end(_input.error)
		elif _peer != _tcp:
			_peer.poll() # the next record


func _take(message):
	if _is_answer(message):
		_take_answer(message)
	elif _is_notification(message):
		_take_notification(message[1], message[2][0])
	else:
		_end("the server sent something else than answers and notifications")


func _is_answer(message):
	return (typeof(message) == TYPE_ARRAY and message.size() == 4 and typeof(message[0]) == TYPE_INT and message[0] == 1 and
		typeof(message[1]) == TYPE_INT and (message[2] == null or
		(typeof(message[2]) == TYPE_DICTIONARY and Message.are_known(message[2]))))


func _is_notification(message):
	return (typeof(message) == TYPE_ARRAY and message.size() == 3 and typeof(message[0]) == TYPE_INT and message[0] == 2 and
		typeof(message[1]) == TYPE_STRING and typeof(message[2]) == TYPE_ARRAY and message[2].size() == 1 and
		typeof(message[2][0]) == TYPE_DICTIONARY and Message.are_known(message[2][0]))


func _take_answer(message):
	var method = "" # "": nobody waits for it
	if _probing.has(message[1]):
		method = _probing[message[1]][0]
	elif _waiting.has(message[1]):
		method = _waiting[message[1]]["method"]
	if message[2] == null and not Message.is_result(method, message[3]):
		_end("the server answered %s with something else than its result" % method)
		return
	if _probing.has(message[1]):
		var function = _probing[message[1]][1]
		_probing.erase(message[1])
		call(function, {"ok": message[2] == null, "error": message[2], "result": message[3], "id": message[1]})
		return
	if _waiting.has(message[1]) and not _has_moved(message[1], message[2]):
		_deliver(message[1], message[2], message[3])


func _deliver(id, error, result):
	var waiting = _waiting[id]
	_waiting.erase(id)
	if waiting["method"] == "unsubscribe" and waiting["view"] != null:
		_views.erase(waiting["view"].subscription)
	if waiting["target"] != null:
		waiting["target"].call(waiting["function"], {"ok": error == null, "error": error, "result": result})
	elif error != null:
		_tell_of(self, "refused", "%s was refused: %s" % [waiting["method"], error.get("message", "")])
		emit_signal("refused", waiting["method"], error)


func _on_hello(answer):
	if not answer["ok"]:
		_end(str(answer["error"].get("message", "")))
		return
	state = OPEN
	welcome = answer["result"]
	_follow.settle(address, welcome)
	for message in _early:
		_put(message)
	for id in _waiting: # on its way from now on: the game may have stood still
		_waiting[id]["since"] = Port.now_ms()
	_early = []
	emit_signal("opened", self)


func _take_notification(name, params):
	if name == "keyframe" or name == "delta":
		var view = _view_of(params.get("subscription", 0))
		var wrong = "" if view == null or view.is_over else Message.what_is_wrong(view, name == "keyframe", params)
		if wrong != "":
			unsubscribe(view)
			_tell_end(view, "the server sent a keyframe or a delta that is none: " + wrong)
		elif view != null and not view.is_over:
			view.apply(name == "keyframe", params)
	elif name == "idle": # the server checks whether the client is alive
		_put([2, "ping", [{"time": params.get("time", 0)}]])
	elif (name == "world_ended" or name == "moved") and _views.has(params.get("subscription", 0)):
		_leave(_views[params.get("subscription", 0)], params, name == "moved")
	else:
		emit_signal("notified", name, params)


# ---- a cluster -----------------------------------------------------------------------------------

func _follows():
	return _follow.is_node and follow_ms > 0 and state != CLOSED


# A client with views stays with their worlds.
func _may_go(world):
	for view in _living:
		if view.world != world:
			return false
	return _follows() and world != 0


# The connection, or the node that was tried, is over.
func _lose(reason):
	if state == SEEKING:
		_drop_node(reason, false)
	elif state == OPEN and _follows():
		_seek(_living[0].world if _living.size() > 0 else _last_world, reason, false)
	elif state == CONNECTING:
		_start_elsewhere(reason)
	else:
		_end(reason)


# The world of a view is not on this node any more.
func _leave(view, params, is_moved):
	_views.erase(params.get("subscription", 0))
	if view.is_over:
		return # by the program
	if not is_moved and not _follows():
		_end_view(view, "the world has ended")
	elif not _follows() or (str(params.get("tcp", "")) != "" and not _may_go(view.world)):
		_end_moved(view, params)
	elif is_moved and _may_go(view.world):
		_follow.note_place(params)
		_seek(view.world, "the world is on another node now")
	else:
		_stop_looking(view) # it had come back, and the subscribe is not answered yet
		_look_for(view, not is_moved)


# A subscribe was refused.
func _refuse(view, error):
	var name = error.get("name", "")
	var is_moved = name == "moved" and str(error.get("tcp", "")) != ""
	if is_moved:
		_end_moved(view, error)
	elif _follows() and view.stream != 0 and not _has_asked_long(view) and (NOT_HERE.has(name) or FOR_NOW.has(name)):
		_look_later(view, str(error.get("message", "")))
	else:
		_end_view(view, str(error.get("message", "")))


func _end_moved(view, place):
	view.moved_to = str(place.get("tcp", ""))
	var where = "and not known yet where" if view.moved_to == "" else "at " + view.moved_to
	_end_view(view, "world %d is on another node now, %s" % [view.world, where])


func _end_view(view, reason):
	if _views.get(view.subscription) == view:
		_views.erase(view.subscription)
	_living.erase(view)
	_stop_looking(view)
	view.is_over = true
	_tell_end(view, reason)


func _tell_end(view, reason):
	_tell_of(view, "ended", "the view of world %d has ended: %s" % [view.world, reason])
	view.emit_signal("ended", view, reason)


# ---- worlds that are not here --------------------------------------------------------------------

# The world may come, or be elsewhere: asks where it is. `had_it`: this node has had it, so when it knows no such world,
# there is none.
func _look_for(view, had_it):
	var now = Port.now_ms()
	_looks.push_back({"view": view, "had_it": had_it, "since": now, "next_ms": now, "pause_ms": Follow.PAUSE_FIRST_MS,
		"denied_since": -1, "id": 0, "refusal": ""})


# It is not here, or not now.
func _look_later(view, refusal):
	for look in _looks:
		if look["view"] == view:
			look["id"] = 0
			look["refusal"] = refusal
			look["next_ms"] = Port.now_ms() + look["pause_ms"]
			return
	_look_for(view, false)


func _stop_looking(view):
	for look in _looks:
		if look["view"] == view:
			_looks.erase(look)
			return true
	return false


func _update_looks():
	for look in _looks:
		if look["id"] == 0 and Port.now_ms() >= look["next_ms"]:
			_probe("world.locate", {"world": look["view"].world}, "_on_looked")
			look["id"] = _last


func _on_looked(answer):
	for look in _looks:
		if look["id"] == answer["id"]:
			_take_place(look, answer)
			return


func _take_place(look, answer):
	var now = Port.now_ms()
	var view = look["view"]
	var place = answer["result"] if answer["ok"] else {}
	var is_here = place.get("here", false)
	var is_elsewhere = answer["ok"] and not is_here
	var is_denied = not answer["ok"] and answer["error"].get("name", "") == "no_world"
	if not is_denied:
		look["denied_since"] = -1
	elif look["denied_since"] < 0:
		look["denied_since"] = now
	look["id"] = 0
	look["next_ms"] = now + look["pause_ms"]
	look["pause_ms"] = min(2 * look["pause_ms"], Follow.PAUSE_LAST_MS)
	if is_here and look["refusal"] != "" and now - look["since"] > follow_ms:
		_end_view(view, look["refusal"])
	elif is_elsewhere and _may_go(view.world):
		_follow.note_place(place)
		_seek(view.world, "the world is on another node now")
	elif is_elsewhere and str(place.get("tcp", "")) != "":
		_end_moved(view, place)
	elif is_here and (not look["had_it"] or now - look["since"] > Follow.GONE_MS):
		look["id"] = -1
		_subscribe_again(view)
	elif is_denied and (look["had_it"] or now - look["denied_since"] > Follow.GONE_MS):
		_end_view(view, "the world has ended")
	elif now - look["since"] > follow_ms:
		_end_view(view, "the node of world %d was not found" % view.world)


# ---- nodes ---------------------------------------------------------------------------------------

# Whether an answer means that the request goes to another node. It keeps waiting.
func _has_moved(id, error):
	if error == null or not _follow.is_node or state != OPEN:
		return false
	var waiting = _waiting[id]
	var view = waiting["view"]
	if view != null and (view.is_over or _has_asked_long(view)):
		return false
	var world = waiting["message"][3][0].get("world", 0)
	var is_late = view != null and view.stream != 0 and NOT_HERE.has(error.get("name", ""))
	if (error.get("name", "") != "moved" and not is_late) or not _may_go(world):
		return false
	waiting["is_refused"] = true # it was not carried out
	_follow.note_place(error)
	_seek(world, str(error.get("message", "")))
	return true


# Nodes that have a view's world, as they say, may refuse it as `moved` for ever.
func _has_asked_long(view):
	var limit = follow_ms if view.stream != 0 else timeout_ms
	return view.asked_at >= 0 and limit > 0 and Port.now_ms() - view.asked_at > limit


# `was_told`: the node has said that the world is not there.
func _seek(world, reason, was_told = true):
	_tcp.disconnect_from_host()
	var worlds = [world] if world != 0 else []
	for view in _living:
		if not worlds.has(view.world):
			worlds.push_back(view.world)
	_follow.seek(worlds, reason)
	if was_told:
		_follow.leave(address)
	_is_tried = false
	_probing = {}
	state = SEEKING


# Whether a node is connected, or about to be.
func _try_node():
	if _follow.is_over(follow_ms):
		var sought = "a node" if _follow.worlds.size() == 0 else "the node of world %d" % _follow.worlds[0]
		_end("%s was not found among %d; %s" % [sought, _follow.nodes.size(), _follow.why])
		return false
	if not _is_tried:
		var next = _follow.next()
		if next != "":
			_connect_to(next)
	return _is_tried


func _connect_to(node):
	_is_tried = true
	if not _connect(node, str(welcome.get("resume", ""))):
		_drop_node("no server there", false)


func _drop_node(reason, denies):
	_tcp.disconnect_from_host()
	_is_tried = false
	_probing = {}
	_follow.failed(address + ": " + reason, denies)


func _probe(method, params, function):
	_last += 1
	_probing[_last] = [method, function]
	_put([0, _last, method, [params]])


func _on_probe_hello(answer):
	if not answer["ok"]:
		if answer["error"].get("name", "") in ["denied", "bad_value"]:
			_follow.refused[address] = true
		_drop_node(str(answer["error"].get("message", "")), false)
		return
	welcome = answer["result"]
	if _follow.is_right or _follow.worlds.size() == 0:
		_adopt_node()
	else:
		_probed = 0
		_probe("world.locate", {"world": _follow.worlds[0]}, "_on_located")


func _on_located(answer):
	if not answer["ok"] and _probed + 1 < _follow.worlds.size() and _follow.tries_others():
		_probed += 1
		_probe("world.locate", {"world": _follow.worlds[_probed]}, "_on_located")
	elif not answer["ok"]:
		_drop_node(str(answer["error"].get("message", "")), answer["error"].get("name", "") == "no_world")
	elif answer["result"].get("here", false):
		_adopt_node()
	elif _follow.refused.has(str(answer["result"].get("tcp", ""))):
		_drop_node("the world's node has refused this client", false)
	elif _follow.is_silent(str(answer["result"].get("tcp", ""))):
		_drop_node("the world's node is silent", false)
	else:
		_drop_node("the world is not there", false)
		_connect_to(str(answer["result"].get("tcp", "")))
		_follow.is_right = true


# Goes on here: views are subscribed to again, and requests without an answer sent again.
func _adopt_node():
	state = OPEN
	_follow.settle(address, welcome)
	_views = {}
	_to_subscribe = []
	_looks = []
	var ids = _waiting.keys()
	ids.sort()
	for id in ids:
		if _waiting[id]["view"] != null:
			_waiting.erase(id) # it belongs to a view, which is subscribed to again
	for view in _living.duplicate():
		_subscribe_again(view)
	for id in ids:
		if _waiting.has(id):
			_send_again(id)
	emit_signal("followed", self)


func _subscribe_again(view):
	if view.tick >= 0:
		resume(view)
	else:
		_subscribe(view, view.asked, view.every, {})


func _send_again(id):
	var waiting = _waiting[id]
	if waiting["is_refused"] or not Follow.ONCE.has(waiting["method"]):
		waiting["is_refused"] = false
		_put(waiting["message"])
		return
	_answer_with(id, "io", "connection lost: %s may have been carried out, or not" % waiting["method"])
