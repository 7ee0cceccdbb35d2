# engine.gd: all that differs between Godot 3 and Godot 4. This is the one for Godot 3; for Godot 4, copy
# godot4/engine.gd over it. The other files are the same for both: they name no type that only one of them has.

# Connects a signal with a method of an object.
static func listen(source, name, target, method):
	source.connect(name, target, method)


static func now_ms():
	return OS.get_ticks_msec()


# Whether a value is an array of bytes.
static func is_bytes(value):
	return typeof(value) == TYPE_RAW_ARRAY


# So many bytes of an array of bytes, at least one.
static func part_of(bytes, from, size):
	return bytes.subarray(from, from + size - 1)


# Lets a StreamPeerTCP continue to connect.
static func poll(_peer):
	pass


# TLS over a stream that is connected. `trusted` is an X509Certificate, or null: those that Godot trusts.
static func secure(stream, host, trusted):
	var peer = StreamPeerSSL.new()
	peer.blocking_handshake = false
	return peer if peer.connect_to_stream(stream, true, host, trusted) == OK else null


# Makes a node draw itself again.
static func redraw(node):
	node.update()


# A TileMap with a tile of each of these colours, `size` pixels wide and high.
static func make_tile_map(colours, size):
	var image = Image.new()
	image.create(size * colours.size(), size, false, Image.FORMAT_RGBA8)
	for i in range(colours.size()):
		_fill(image, i * size, size, colours[i])
	var texture = ImageTexture.new()
	texture.create_from_image(image, 0)
	var tiles = TileSet.new()
	for i in range(colours.size()):
		tiles.create_tile(i)
		tiles.tile_set_texture(i, texture)
		tiles.tile_set_region(i, Rect2(i * size, 0, size, size))
	var map = TileMap.new()
	map.cell_size = Vector2(size, size)
	map.tile_set = tiles
	return map


static func _fill(image, x, size, colour):
	image.lock()
	for i in range(size * size):
		image.set_pixel(x + i % size, int(i / float(size)), colour)
	image.unlock()


static func set_tile(map, x, y, tile):
	map.set_cell(x, y, tile)


static func tile_at(map, x, y):
	return map.get_cell(x, y)
