# scene.gd: checks the example scene, headless: its TileMap shows what its view shows, a click sends its units, and
# they arrive. FOGMARCH_PORT is the server's port. Exit status 0: all is well.

extends SceneTree

const Port = preload("res://addons/fogmarch/engine.gd")

var march
var has_clicked = false
var known_before = 0
var goal = []
var frames = 0


func _init():
	march = load("res://example/march.tscn").instance()
	march.port = int(OS.get_environment("FOGMARCH_PORT"))
	get_root().call_deferred("add_child", march)


func _fail(text):
	print("FAILED: " + text)
	quit(1)
	return true


# The number of known cells; -1: the map and the view differ.
func _known():
	var view = march.view
	var known = 0
	for y in range(view.y, view.y + view.height):
		for x in range(view.x, view.x + view.width):
			if Port.tile_at(march.tiles, x, y) != view.terrain(x, y):
				return -1
			known += 1 if view.look(x, y) != 0 else 0
	return known


func _idle(_delta):
	frames += 1
	if march.view == null or march.view.agents.size() < 20:
		return false
	if not has_clicked:
		has_clicked = true
		known_before = _known()
		if known_before <= 0:
			return _fail("the map does not show the view")
		goal = [march.base[2], march.base[3]]
		var click = InputEventMouseButton.new()
		click.button_index = BUTTON_LEFT
		click.pressed = true
		click.position = Vector2(goal[0] + 0.5, goal[1] + 0.5) * march.CELL
		get_root().unhandled_input(click)
	elif march.ends == 20:
		return _arrived()
	return false


func _arrived():
	for id in march.view.agents:
		var agent = march.view.agents[id]
		if abs(agent["x"] - goal[0]) > 8 or abs(agent["y"] - goal[1]) > 8:
			return _fail("a unit is elsewhere")
		if not march.places.has(id):
			return _fail("a unit is not drawn")
	var known = _known()
	if known <= known_before:
		return _fail("nothing was seen on the way: %d, %d" % [known_before, known])
	print("20 units arrived; %d, then %d cells known" % [known_before, known])
	quit(0)
	return false
