# march.gd: what a team sees, on a TileMap; a click sends all its units there.
#
# Without a world it makes one to try things in; for that, every client of the server must be admin: fogmarchd on
# this machine, without tokens.

extends Node2D

const Client = preload("res://addons/fogmarch/client.gd")
const Port = preload("res://addons/fogmarch/engine.gd")

const CELL = 8 # pixels
const TERRAINS = [Color("14141c"), Color("c4b896"), Color("000000"), Color("406e40"), Color("6e7850"), Color("466eaa"),
	Color("5a5a5a"), Color("965a3c")]
const TEAMS = [Color("3070e0"), Color("e04030"), Color("e0c030"), Color("c040c0")]

var host = "127.0.0.1"
var port = 7421
var token = ""
var world = 0 # 0: make one
var team = 0
var base = []
var client
var view
var tiles
var places = {} # of units on the screen, which follow their cells
var ends = 0 # orders that have ended


func _ready():
	tiles = Port.make_tile_map(TERRAINS, CELL)
	tiles.z_index = -1
	add_child(tiles)
	client = Client.new()
	add_child(client)
	Port.listen(client, "opened", self, "_on_opened")
	Port.listen(client, "closed", self, "_on_closed")
	Port.listen(client, "refused", self, "_on_refused")
	client.open(host, port, token)


func _on_opened(_client):
	if world != 0:
		_follow()
	else:
		client.request("world.create", {"name": "godot-%d" % Port.now_ms(), "generator": "skirmish", "width": 96,
			"height": 96, "players": 2, "occupancy": "exclusive"}, self, "_on_world")


func _on_world(answer):
	if not answer["ok"]:
		print(answer["error"]["message"])
		return
	world = answer["result"]["world"]
	base = answer["result"]["bases"] # x, y of each player's
	client.request("team.create", {"world": world}, self, "_on_team")


func _on_team(answer):
	team = answer["result"]["team"]
	_follow()
	var cells = []
	for i in range(20):
		cells += [base[0] - 2 + i % 5, base[1] - 2 + int(i / 5.0)]
	client.request("agent.spawn", {"world": world, "team": team, "cells": cells, "place": "nearest"})


func _follow():
	view = client.subscribe(world, team)
	Port.listen(view, "replaced", self, "_on_replaced")
	Port.listen(view, "cells_changed", self, "_on_cells_changed")
	Port.listen(view, "entered", self, "_on_entered")
	Port.listen(view, "left", self, "_on_left")
	Port.listen(view, "order_ended", self, "_on_order_ended")
	Port.listen(view, "ended", self, "_on_ended")


# ---- drawing ------------------------------------------------------------------------------------

func _on_replaced(_view):
	for y in range(view.y, view.y + view.height):
		_on_cells_changed(view, view.x, y, view.width)


func _on_cells_changed(_view, x, y, count):
	for i in range(x, x + count):
		Port.set_tile(tiles, i, y, view.terrain(i, y))


func _middle(agent):
	return Vector2(agent["x"] + 0.5, agent["y"] + 0.5) * CELL


func _on_entered(_view, agent):
	places[agent["id"]] = _middle(agent)


func _on_left(_view, id, _reason):
	places.erase(id)


# The server sends cells, ten times a second; units glide from one to the next.
func _process(delta):
	for id in places:
		var to = _middle(view.agents[id])
		places[id] = places[id].move_toward(to, 12 * CELL * delta)
	Port.redraw(self)


func _draw():
	for id in places:
		draw_circle(places[id], CELL * 0.45, TEAMS[(view.agents[id]["team"] - 1) % TEAMS.size()])


# ---- orders -------------------------------------------------------------------------------------

func _unhandled_input(event):
	if event is InputEventMouseButton and event.pressed and event.button_index == 1:
		var at = make_input_local(event).position / CELL
		send(int(floor(at.x)), int(floor(at.y)))


func send(x, y):
	var own = []
	for id in view.agents:
		if view.agents[id]["team"] == team:
			own.push_back(id)
	client.request("agent.order", {"world": world, "agents": own, "kind": "move", "goal": [x, y], "spread": true})


func _on_order_ended(_view, order):
	ends += 1
	print("unit %d: %s" % [order["agent"], view.reason_name(order["reason"])])


func _on_refused(method, error):
	print("%s: %s" % [method, error["message"]])


func _on_closed(_client, why):
	print("fogmarch: %s" % why)


func _on_ended(_view, why):
	print("fogmarch: %s" % why)
