# probe.gd: what a view of the add-on shows, for e2e_godot.py, which compares it with what the bytes say.
#
# FOGMARCH_PROBE is JSON: port, world, team, ticks (at which the view is printed; after the last one the probe ends),
# rects (tick: rectangle to which the view moves after it), resume_at (the tick after which the connection is dropped),
# certificate (for TLS: a file with the trusted one, or "system"). A second model is built from the signals alone;
# "agree" tells whether it equals the view.

extends SceneTree

const Client = preload("res://addons/fogmarch/client.gd")

var task
var client
var view
var agents = {}
var looks = {}
var fogs = {}
var alerts = []
var deaths = []
var ends = []
var refusals = []
var heard = ""


func _init():
	task = parse_json(OS.get_environment("FOGMARCH_PROBE"))
	client = Client.new()
	client.connect("refused", self, "_on_refused")
	client.connect("closed", self, "_on_closed")
	if task["certificate"] != "":
		client.tls = true
		if task["certificate"] != "system":
			client.trusted = X509Certificate.new()
			client.trusted.load(task["certificate"])
	client.open("localhost" if client.tls else "127.0.0.1", int(task["port"]))
	client.request("world.info", {"world": 78})
	client.request("world.info", {"world": 77}, self, "_on_info")
	view = client.subscribe(int(task["world"]), int(task["team"]), [], 1, task["sight"], task["motion"])
	for name in ["replaced", "cells_changed", "left", "entered", "moved", "tagged", "sight_changed", "order_ended", "alerted",
			"died", "changed", "ended"]:
		view.connect(name, self, "_on_" + name)


func _idle(_delta):
	client.update()
	return false


func _iteration(_delta):
	return false


func _on_refused(method, error):
	refusals.push_back([method, error["name"]])


func _on_info(answer):
	heard = answer["error"]["name"]


func _on_closed(_client, why):
	if client.why != "closed by this program":
		print(to_json({"closed": why}))
		quit(0)


# ---- the model built from signals -----------------------------------------------------------------

func _on_replaced(_view):
	looks = {}
	for y in range(view.y, view.y + view.height):
		_on_cells_changed(view, view.x, y, view.width)


func _on_cells_changed(_view, x, y, count):
	for i in range(x, x + count):
		looks[[i, y]] = view.look(i, y)
		fogs[[i, y]] = view.fog(i, y)


func _on_sight_changed(_view, x, y, count):
	for i in range(x, x + count):
		fogs[[i, y]] = view.fog(i, y)


func _on_tagged(_view, agent):
	agents[agent["id"]] = agent.duplicate()


func _on_alerted(_view, alert):
	alerts.push_back([alert["order"], alert["agent"], alert["seen"], alert["x"], alert["y"]])


func _on_died(_view, id):
	deaths.push_back(id)


func _on_left(_view, id, _reason):
	if not agents.erase(id):
		print("an agent leaves that was not there")
		quit(1)


func _on_entered(_view, agent):
	agents[agent["id"]] = agent.duplicate()


func _on_moved(_view, agent):
	agents[agent["id"]] = agent.duplicate()


func _on_order_ended(_view, order):
	ends.push_back([order["order"], order["agent"], order["reason"], order["x"], order["y"]])


func _on_ended(_view, why):
	print(to_json({"ended": why}))
	quit(0)


# ---- output ---------------------------------------------------------------------------------------

func _on_changed(_view):
	if task["ticks"].has(float(view.tick)):
		_print()
	var tick = str(view.tick)
	if task["rects"].has(tick):
		var rect = []
		for number in task["rects"][tick]:
			rect.push_back(int(number))
		client.request("subscription.move", {"subscription": view.subscription, "rect": rect})
		task["rects"].erase(tick)
	if task["resume_at"] == view.tick:
		task["resume_at"] = -1
		call_deferred("_resume")


func _resume():
	var secret = client.welcome["resume"]
	client.close()
	client = Client.new()
	client.connect("closed", self, "_on_closed")
	client.open("127.0.0.1", int(task["port"]), "", secret)
	client.resume(view)
	client.connect("opened", self, "_on_opened")


func _on_opened(_client):
	print(to_json({"resumed": client.welcome["resumed"]}))


func _print():
	var all = []
	var visible = []
	var tags = []
	var motions = []
	var agree = agents.size() == view.agents.size() and looks.size() == view.width * view.height
	for y in range(view.y, view.y + view.height):
		for x in range(view.x, view.x + view.width):
			all.push_back(view.look(x, y))
			agree = agree and looks.get([x, y]) == view.look(x, y) and fogs.get([x, y]) == view.fog(x, y)
			if view.fog(x, y) == view.VISIBLE:
				visible.push_back([x, y])
	var shown = []
	for id in view.agents:
		var a = view.agents[id]
		agree = agree and agents.has(id) and agents[id].hash() == a.hash()
		shown.push_back([id, a["team"], a["x"], a["y"], a["state"], a["movement_class"]])
		if a.has("tag"):
			tags.push_back([id, Array(a["tag"])])
		var motion = view.motion(id)
		if motion != null and (motion["heading"] < 8 or motion["waypoints"].size() > 0):
			var numbers = [id, motion["heading"], int(round(motion["speed"] * 1000))]
			for point in motion["waypoints"]:
				numbers += [int(2 * point[0]), int(2 * point[1])]
			motions.push_back(numbers)
	var built = []
	for number in view.buildings:
		var b = view.buildings[number]
		built.push_back([number, b["team"], b["x"], b["y"], b["width"], b["height"]])
	print(to_json({"tick": view.tick, "rect": [view.x, view.y, view.width, view.height], "looks": all,
		"agents": shown, "buildings": built, "orders": ends, "alerts": alerts, "died": deaths, "tags": tags, "motions": motions,
		"visible": visible if view.has_sight else null, "agree": agree, "resumed": view.resumed,
		"refusals": refusals, "heard": heard}))
	if task["ticks"].back() == view.tick:
		quit(0)
