# A follower on the add-on for Godot: see cluster_follow.py.  FOLLOW="ADDRESS WORLD AGENT", FOLLOW_TICK: a file with the
# tick at which the world is stopped.

extends SceneTree

const Client = preload("res://addons/fogmarch/client.gd")
const BEFORE = 5 # orders
const AFTER = 10

var client
var view
var world
var agent
var answers = 0
var left = AFTER
var here = ""
var moves = 0 # times it followed its world: after a move, and after its node died
var is_waiting = false
var paused_at = -1


func _init():
	var words = OS.get_environment("FOLLOW").split(" ")
	var parts = words[0].split(":")
	world = int(words[1])
	agent = int(words[2])
	client = Client.new()
	client.connect("closed", self, "_on_closed")
	client.open(parts[0], int(parts[1]))
	view = client.subscribe(world)


func _on_closed(_client, why):
	print("closed: " + why)
	quit(1)


func _on_answered(answer):
	if not answer["ok"]:
		print(to_json(answer["error"]))
		quit(1)
	is_waiting = false
	answers += 1
	if answers == BEFORE:
		print(to_json({"ready": true}))
	if here == "":
		here = client.address # the node to which it was redirected
	if client.address != here:
		here = client.address
		moves += 1
		if moves == 1:
			print(to_json({"moved": true}))
	left -= 1 if moves == 2 else 0
	if left == 0:
		print(to_json({"done": true}))


func _read_tick():
	var file = File.new()
	if left == 0 and paused_at < 0 and file.open(OS.get_environment("FOLLOW_TICK"), File.READ) == OK:
		paused_at = int(file.get_as_text())
		file.close()


func _idle(_delta):
	client.update()
	_read_tick()
	if client.state != client.CLOSED and left > 0 and not is_waiting:
		is_waiting = true
		client.request("agent.order", {"world": world, "agents": [agent], "kind": "move",
			"goal": [answers % 60, answers * 7 % 60]}, self, "_on_answered")
	if paused_at >= 0 and view.tick >= paused_at and view.agents.has(agent):
		var shown = view.agents[agent]
		print(to_json({"answers": answers, "address": client.address, "tick": view.tick, "cell": [shown["x"], shown["y"]]}))
		client.disconnect("closed", self, "_on_closed")
		client.close()
		left = -1
		paused_at = -1
		quit(0)
	return false


func _iteration(_delta):
	return false
