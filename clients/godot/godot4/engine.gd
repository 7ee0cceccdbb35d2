# engine.gd: all that differs between Godot 3 and Godot 4. This is the one for Godot 4, which was not tried:
# it is written from Godot's documentation.

# Connects a signal with a method of an object.
static func listen(source, name, target, method):
	source.connect(name, Callable(target, method))


static func now_ms():
	return Time.get_ticks_msec()


# Whether a value is an array of bytes.
static func is_bytes(value):
	return typeof(value) == TYPE_PACKED_BYTE_ARRAY


# So many bytes of an array of bytes, at least one.
static func part_of(bytes, from, size):
	return bytes.slice(from, from + size)


# Lets a StreamPeerTCP continue to connect.
static func poll(peer):
	peer.poll()


# TLS over a stream that is connected. `trusted` is an X509Certificate, or null: those that Godot trusts.
static func secure(stream, host, trusted):
	var peer = StreamPeerTLS.new()
	return peer if peer.connect_to_stream(stream, host, TLSOptions.client(trusted)) == OK else null


# Makes a node draw itself again.
static func redraw(node):
	node.queue_redraw()


# A TileMap with a tile of each of these colours, `size` pixels wide and high.
static func make_tile_map(colours, size):
	var image = Image.create(size * colours.size(), size, false, Image.FORMAT_RGBA8)
	for i in range(colours.size()):
		image.fill_rect(Rect2i(i * size, 0, size, size), colours[i])
	var source = TileSetAtlasSource.new()
	source.texture = ImageTexture.create_from_image(image)
	source.texture_region_size = Vector2i(size, size)
	for i in range(colours.size()):
		source.create_tile(Vector2i(i, 0))
	var tiles = TileSet.new()
	tiles.tile_size = Vector2i(size, size)
	tiles.add_source(source, 0)
	var map = TileMap.new()
	map.tile_set = tiles
	return map


static func set_tile(map, x, y, tile):
	map.set_cell(0, Vector2i(x, y), 0, Vector2i(tile, 0))


static func tile_at(map, x, y):
	return map.get_cell_atlas_coords(0, Vector2i(x, y)).x
