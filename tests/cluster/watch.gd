# Watches worlds, with the add-on for Godot: see cluster_views.py.  FOLLOW="ADDRESS WORLDS OPTION"

extends SceneTree

const Client = preload("res://addons/fogmarch/client.gd")

var client
var worlds
var option
var views = []


func _init():
	var words = OS.get_environment("FOLLOW").split(" ")
	var addresses = Array(words[0].split(","))
	var parts = addresses[0].split(":")
	worlds = words[1].split(",")
	option = words[2]
	client = Client.new()
	client.connect("closed", self, "_on_closed")
	client.connect("refused", self, "_on_refused")
	client.connect("followed", self, "_on_followed")
	if option in ["brief", "never"]:
		client.timeout_ms = 1500
		client.follow_ms = 4000
	client.nodes = addresses
	client.open(parts[0], int(parts[1]))
	if option == "stall": # as when a game loads a scene
		OS.delay_msec(client.PATIENCE_MS + 500)


func _on_closed(_client, why):
	print(to_json({"closed": why}))
	quit(0)


func _on_refused(method, error):
	print(to_json({"refused": method + ": " + error["message"]}))


func _on_followed(_client):
	if option == "next":
		client.unsubscribe(views[0])


func _on_called(answer):
	print(to_json({"called": true} if answer["ok"] else {"late": answer["error"]["message"]}))


func _on_changed(view):
	print(to_json({"view": view.world, "tick": view.tick, "node": client.address, "agents": view.agents.keys()}))


func _on_untold(view):
	print(to_json({"untold": view.world}))


func _on_ended(view, why):
	print(to_json({"view": view.world, "ended": why, "at": view.moved_to}))


func _idle(_delta):
	client.update()
	if client.state != client.CLOSED and views.size() < worlds.size() and (views.size() == 0 or views[-1].tick >= 0 or views[-1].is_over):
		var view = client.subscribe(int(worlds[views.size()]), 0, [4, 4, 8, 8] if option == "rect" else [])
		view.connect("changed", self, "_on_changed")
		view.connect("untold", self, "_on_untold")
		view.connect("ended", self, "_on_ended")
		views.push_back(view)
		if option == "early" and views.size() == 1:
			client.unsubscribe(view)
			print(to_json({"dropped": true}))
	if option in ["call", "brief"] and views.size() == worlds.size() and views[-1].tick >= 0:
		option = ""
		client.request("world.info", {"world": views[0].world}, self, "_on_called")
	if option == "drop" and views.size() == worlds.size() and views[-1].tick >= 0:
		option = ""
		client.unsubscribe(views[0])
		print(to_json({"dropped": true}))
	return false


func _iteration(_delta):
	return false
