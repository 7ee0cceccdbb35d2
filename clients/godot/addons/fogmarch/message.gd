# message.gd: whether what a server says is what proto/PROTOCOL.md says, as far as the add-on reads it: GDScript stops a
# function in its middle when a value has another type.

const Port = preload("engine.gd")

const NUMBERS = ["subscription", "world", "code"]
const TEXTS = ["name", "message", "node", "tcp", "http", "ticket"]
const CELLS_MAX = 1 << 24 # of a view
# How many numbers stand for each thing; `cells` has two in a keyframe.
const LISTS = {"rect": 4, "cells": 4, "agents": 5, "enter": 5, "moved": 4, "leave": 2, "buildings": 6, "classes": 2,
	"tagged": 2, "motion": 1, "visible": 1, "ended": 5, "alerts": 5, "died": 1}


static func is_number(value):
	return typeof(value) == TYPE_INT and value >= 0


# The entries of errors and notifications that the add-on itself reads.
static func are_known(fields):
	for name in NUMBERS:
		if fields.has(name) and not is_number(fields[name]):
			return false
	for name in TEXTS:
		if fields.has(name) and typeof(fields[name]) != TYPE_STRING:
			return false
	return true


# What the add-on itself needs of a result.
static func is_result(method, result):
	if not method in ["hello", "subscribe", "world.locate"]:
		return true
	if typeof(result) != TYPE_DICTIONARY or not are_known(result):
		return false
	if method == "hello":
		return typeof(result.get("resume")) == TYPE_STRING and _are_seeds(result.get("seeds", []))
	if method == "subscribe":
		return (is_number(result.get("subscription")) and is_number(result.get("stream")) and
			typeof(result.get("resumed")) == TYPE_BOOL)
	return typeof(result.get("here")) == TYPE_BOOL and (result["here"] or result.has("tcp"))


static func _are_seeds(seeds):
	if typeof(seeds) != TYPE_ARRAY:
		return false
	for one in seeds:
		if typeof(one) != TYPE_DICTIONARY or typeof(one.get("tcp")) != TYPE_STRING:
			return false
	return true


static func _is_list(value, width):
	if typeof(value) != TYPE_ARRAY or value.size() % width != 0:
		return false
	for number in value:
		if typeof(number) != TYPE_INT or number < 0:
			return false
	return true


# What is wrong with a keyframe or a delta for a view; "": nothing.
static func what_is_wrong(view, is_keyframe, message):
	if not is_number(message.get("tick")):
		return "it has no tick"
	for name in LISTS:
		var width = 2 if is_keyframe and name == "cells" else LISTS[name]
		if message.has(name) and not _is_list(message[name], width):
			return "%s is no whole list of numbers" % name
	if typeof(message.get("untold", false)) != TYPE_BOOL:
		return "untold is neither true nor false"
	for name in ["rect", "cells", "agents"] if is_keyframe else []:
		if not message.has(name):
			return "it has no %s" % name
	var rect = message.get("rect", [view.x, view.y, view.width, view.height])
	if rect.size() != 4 or rect[2] < 1 or rect[3] < 1 or max(rect[2], rect[3]) > CELLS_MAX or rect[2] * rect[3] > CELLS_MAX:
		return "its rectangle is none, or too large"
	if not (_fill(message, rect) if is_keyframe else _fit(message, rect)):
		return "it has cells outside of the rectangle"
	return _what_is_wrong_with_agents(view, is_keyframe, message)


# Whether the runs of a keyframe are those of its rectangle.
static func _fill(message, rect):
	var left = rect[2] * rect[3]
	for i in range(0, message["cells"].size(), 2):
		if message["cells"][i] > left:
			return false
		left -= message["cells"][i]
	var unseen = rect[2] * rect[3]
	for count in message.get("visible", []):
		if count > unseen:
			return false
		unseen -= count
	return left == 0


# Whether the runs of a delta are within the rectangle.
static func _fit(message, rect):
	for name in ["cells", "visible"]:
		var runs = message.get(name, [])
		if runs.size() % 4 != 0:
			return false
		for i in range(0, runs.size(), 4):
			var column = runs[i] - rect[0]
			var row = runs[i + 1] - rect[1]
			if column < 0 or row < 0 or column >= rect[2] or row >= rect[3] or runs[i + 2] > CELLS_MAX:
				return false
			if row * rect[2] + column + runs[i + 2] > rect[2] * rect[3]:
				return false
	return true


static func _what_is_wrong_with_agents(view, is_keyframe, message):
	var classes = message.get("classes", [])
	var tagged = message.get("tagged", [])
	var motion = message.get("motion", [])
	if classes.size() + tagged.size() + motion.size() == 0:
		return ""
	var known = {} # what came with this message
	var come = message.get("agents" if is_keyframe else "enter", [])
	for i in range(0, come.size(), 5):
		known[come[i]] = true
	var ids = []
	var tag_size = 0
	for i in range(0, classes.size(), 2):
		ids.push_back(classes[i])
	for i in range(0, tagged.size(), 2):
		ids.push_back(tagged[i])
		tag_size += min(tagged[i + 1], CELLS_MAX)
	var at = 0
	while at < motion.size():
		var left = motion.size() - at - 4
		if left < 0 or motion[at + 3] > left / 2.0:
			return "motion is cut short"
		ids.push_back(motion[at])
		at += 4 + 2 * motion[at + 3]
	for id in ids:
		if not known.has(id) and (is_keyframe or not view.agents.has(id)):
			return "it has something of an agent that is not in view"
	if tagged.size() > 0 and not (Port.is_bytes(message.get("tags")) and tag_size <= message["tags"].size()):
		return "its tags are cut short"
	return ""
