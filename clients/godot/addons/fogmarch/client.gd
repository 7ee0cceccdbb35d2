# client.gd: a session with a server, over TCP. Add it to the scene tree: it runs by itself, once a frame. Without
# a tree, call update().
#
#   var client = preload("res://addons/fogmarch/client.gd").new()
#   add_child(client)
#   client.open("127.0.0.1", 7421)

extends Node

signal opened(client) # the server said hello; `welcome` is what it said
signal closed(client, why)
signal refused(method, error) # a request without a target; error: {code, name, message}
signal notified(name, params) # a notification of no view, such as going_down

const Port = preload("engine.gd")
const Packer = preload("packer.gd")
const Unpacker = preload("unpacker.gd")
const View = preload("view.gd")

const CONNECTING = "connecting"
const OPEN = "open"
const CLOSED = "closed"
const PATIENCE_MS = 10000 # for a server to answer
const UNSENT_MAX = 64 << 20

var tls = false # set it before open(): use TLS and check the certificate
var trusted = null # an X509Certificate to trust; null: those that Godot trusts
var state = CLOSED
var why = "" # why it is closed
var welcome = {} # answer to hello: role, world and team of the seat, and so on

var _peer
var _tcp # the TCP stream below _peer
var _host
var _hello
var _since
var _last = 0 # the last id
var _waiting = {} # id: [method, target, function, view or null]
var _views = {} # by subscription
var _to_subscribe = [] # views; the first of them is being answered
var _output
var _early = [] # requests that wait for hello's answer
var _input


# Begins to connect. `token` decides the role, where the server wants one; `resume` is welcome["resume"] of a session
# whose connection broke.
func open(host, port, token = "", resume = ""):
	_tcp = StreamPeerTCP.new()
	_peer = _tcp
	_host = host
	_input = Unpacker.new()
	_output = StreamPeerBuffer.new()
	_output.big_endian = true
	_hello = {"protocol": 1, "client": "godot"}
	if token != "":
		_hello["token"] = token
	if resume != "":
		_hello["resume"] = resume
	_since = Port.now_ms()
	state = CONNECTING
	if _tcp.connect_to_host(host, port) != OK:
		_end("no server at %s:%d" % [host, port])


func close():
	_end("closed by this program")


func _end(reason):
	if state == CLOSED:
		return
	state = CLOSED
	why = reason
	_tcp.disconnect_from_host()
	emit_signal("closed", self, why)


# Calls a method of the protocol. The answer calls `function` of `target` with {ok, result, error}; without a
# target, the signal `refused` reports errors.
func request(method, params = {}, target = null, function = ""):
	_request(method, params, target, function, null)


func _request(method, params, target, function, view):
	if state == CLOSED:
		return
	_last += 1
	_waiting[_last] = [method, target, function, view]
	var message = [0, _last, method, [params]]
	if state == OPEN or method == "hello":
		_put(message)
	else:
		_early.push_back(message)


# Subscribes to what a team sees; 0: a player's own team, for others everything. `rect`: [x, y, width, height], or [].
func subscribe(world, team = 0, rect = [], every = 1, sight = false):
	var view = View.new()
	view.world = world
	view.team = team
	view.has_sight = sight
	_subscribe(view, rect, every, {})
	return view


# Continues a view of a session whose connection broke, with what it missed, or with a keyframe.
func resume(view):
	var more = {"stream": view.stream, "since": view.tick}
	_subscribe(view, [view.x, view.y, view.width, view.height], 1, more)


func _subscribe(view, rect, every, more):
	var params = {"world": view.world, "every": every}
	if view.team != 0:
		params["team"] = view.team
	if rect.size() == 4:
		params["rect"] = rect
	if view.has_sight:
		params["sight"] = true
	for key in more:
		params[key] = more[key]
	view.subscription = 0
	view.is_over = false
	_to_subscribe.push_back([view, params])
	if _to_subscribe.size() == 1:
		_request("subscribe", params, self, "_on_subscribed", view)


# One at a time: a keyframe may come before the answer, and names only its subscription.
func _on_subscribed(answer):
	var view = _to_subscribe.pop_front()[0]
	if _to_subscribe.size() > 0:
		_request("subscribe", _to_subscribe[0][1], self, "_on_subscribed", _to_subscribe[0][0])
	if answer["ok"]:
		view.stream = answer["result"]["stream"]
		view.resumed = answer["result"]["resumed"]
		_adopt(view, answer["result"]["subscription"])
	else:
		view.is_over = true
		view.emit_signal("ended", view, answer["error"]["message"])


func _adopt(view, subscription):
	view.subscription = subscription
	_views[subscription] = view


func unsubscribe(view):
	view.is_over = true # later messages of it are dropped
	_request("unsubscribe", {"subscription": view.subscription}, null, "", view)


func _view_of(subscription):
	if not _views.has(subscription) and _to_subscribe.size() > 0:
		_adopt(_to_subscribe[0][0], subscription)
	return _views.get(subscription)


# ---- what goes out and comes in ------------------------------------------------------------------

func _put(message):
	_output.seek(_output.get_size())
	Packer.pack(_output, message)
	if _output.get_size() > UNSENT_MAX:
		_end("the server does not read")


func _process(_delta):
	update()


# Sends what waits, reads what has come, emits the signals. Never waits.
func update():
	if state == CLOSED:
		return
	_poll()
	var status = _peer.get_status() # the numbers are those of StreamPeerTCP, over TLS as well
	if tls and _peer == _tcp and status == StreamPeerTCP.STATUS_CONNECTED:
		_peer = Port.secure(_tcp, _host, trusted)
		status = StreamPeerTCP.STATUS_ERROR if _peer == null else _peer.get_status()
	if _hello != null and status == StreamPeerTCP.STATUS_CONNECTED:
		_tcp.set_no_delay(true)
		_request("hello", _hello, self, "_on_hello", null)
		_hello = null
	elif state == CONNECTING and Port.now_ms() - _since > PATIENCE_MS:
		_end("the server does not answer")
	elif status != StreamPeerTCP.STATUS_CONNECTED and status != StreamPeerTCP.STATUS_CONNECTING:
		var what = "no server there" if _peer == _tcp else "no TLS with the server"
		_end(what if _hello != null else "the server disconnected")
	if status == StreamPeerTCP.STATUS_CONNECTED and state != CLOSED:
		_flush()
		_read()


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
		_end("the server is gone")
	elif done[1] < size:
		var rest = StreamPeerBuffer.new()
		rest.data_array = all
		rest.seek(done[1])
		_output.put_data(rest.get_data(size - done[1])[1])


func _read():
	while state != CLOSED:
		var size = _peer.get_available_bytes()
		if size <= 0:
			return
		var data = _peer.get_partial_data(size)
		if data[0] != OK:
			_end("the server disconnected")
			return
		_input.feed(data[1])
		var message = _input.take()
		while message != null and state != CLOSED:
			_take(message)
			message = _input.take()
		if _input.error != "":
			_end(_input.error)
		elif _peer != _tcp:
			_peer.poll() # the next record


func _take(message):
	if message[0] == 1:
		_take_answer(message)
	elif message[0] == 2:
		_take_notification(message[1], message[2][0])


func _take_answer(message):
	if not _waiting.has(message[1]):
		return
	var waiting = _waiting[message[1]]
	_waiting.erase(message[1])
	if waiting[0] == "unsubscribe" and waiting[3] != null:
		_views.erase(waiting[3].subscription)
	if waiting[1] != null:
		waiting[1].call(waiting[2], {"ok": message[2] == null, "error": message[2], "result": message[3]})
	elif message[2] != null:
		emit_signal("refused", waiting[0], message[2])


func _on_hello(answer):
	if not answer["ok"]:
		_end(answer["error"]["message"])
		return
	state = OPEN
	welcome = answer["result"]
	for message in _early:
		_put(message)
	_early = []
	emit_signal("opened", self)


func _take_notification(name, params):
	if name == "keyframe" or name == "delta":
		var view = _view_of(params["subscription"])
		if view != null and not view.is_over:
			view.apply(name == "keyframe", params)
	elif name == "idle": # the server checks whether the client is alive
		_put([2, "ping", [{"time": params["time"]}]])
	elif name == "world_ended" and _views.has(params["subscription"]):
		var view = _views[params["subscription"]]
		_views.erase(params["subscription"])
		view.is_over = true
		view.emit_signal("ended", view, "the world has ended")
	else:
		emit_signal("notified", name, params)
