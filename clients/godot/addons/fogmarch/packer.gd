# packer.gd: values to MessagePack: null, true and false, numbers, texts, bytes, arrays, dictionaries.

const Port = preload("engine.gd")


# Appends a value to a StreamPeerBuffer whose big_endian is true.
static func pack(out, value):
	var type = typeof(value)
	if type == TYPE_INT:
		_pack_int(out, value)
	elif type == TYPE_STRING:
		out.put_u8(0xdb)
		out.put_utf8_string(value) # writes the size first, in 32 bits
	elif type == TYPE_BOOL:
		out.put_u8(0xc3 if value else 0xc2)
	elif type == TYPE_ARRAY:
		out.put_u8(0xdd)
		out.put_u32(value.size())
		for one in value:
			pack(out, one)
	elif type == TYPE_DICTIONARY:
		out.put_u8(0xdf)
		out.put_u32(value.size())
		for key in value:
			pack(out, key)
			pack(out, value[key])
	elif Port.is_bytes(value):
		out.put_u8(0xc6)
		out.put_u32(value.size())
		out.put_data(value)
	elif type == TYPE_NIL:
		out.put_u8(0xc0)
	else: # a number with a fraction
		out.put_u8(0xcb)
		out.put_double(value)


static func _pack_int(out, value):
	if value < 0:
		out.put_u8(0xd3)
		out.put_64(value)
	elif value < 128:
		out.put_u8(value)
	elif value <= 0xffffffff:
		out.put_u8(0xce)
		out.put_u32(value)
	else:
		out.put_u8(0xcf)
		out.put_u64(value)
