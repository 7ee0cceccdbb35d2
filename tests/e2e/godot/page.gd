# page.gd: runs the script of README.md as a scene, until its agents have moved.

extends SceneTree

var before = {}


func _init():
	get_root().call_deferred("add_child", load("res://page_node.gd").new())


func _idle(_delta):
	var node = get_root().get_child(get_root().get_child_count() - 1)
	if node.get("view") == null:
		return false
	for id in node.view.agents:
		var agent = node.view.agents[id]
		var at = [agent["x"], agent["y"]]
		if before.has(id) and before[id] != at:
			quit(0)
		before[id] = before.get(id, at)
	return false
