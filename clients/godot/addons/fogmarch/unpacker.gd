# unpacker.gd: MessagePack to values, while it arrives. Each byte is looked at once, however a message is cut into
# pieces: containers that are not complete yet wait on a stack.

const KEEP_MAX = 1 << 20 # read bytes stay in the buffer until there are so many

var error = "" # why nothing more can be read

var _input = StreamPeerBuffer.new()
var _stack = [] # open containers: [array or dictionary, missing values, key or null, is_map]


func _init():
	_input.big_endian = true


# Takes bytes that came in.
func feed(bytes):
	var at = _input.get_position()
	if at == _input.get_size():
		_input.clear()
		at = 0
	elif at > KEEP_MAX:
		var rest = _input.get_data(_input.get_size() - at)[1]
		_input.clear()
		_input.put_data(rest)
		at = 0
	_input.seek(_input.get_size())
	_input.put_data(bytes)
	_input.seek(at)


# The next message, an array; null: it is not complete yet.
func take():
	while error == "":
		var left = _input.get_size() - _input.get_position()
		if left == 0:
			return null
		var at = _input.get_position()
		var head = _input.get_u8()
		if head < 0x80:
			if _add(head):
				return _message()
			continue
		if left <= _size_of_head(head):
			_input.seek(at)
			return null
		if not _take_long(head, left):
			_input.seek(at)
			return null
		if _stack.size() > 0 and _stack[0][1] == 0:
			return _message()
	return null


func _message():
	var message = _stack[0][0]
	_stack.clear()
	return message


# How many bytes are between a head and its content.
func _size_of_head(head):
	if head < 0xc4 or head >= 0xe0:
		return 0
	if head >= 0xca and head <= 0xd3:
		return 4 if head == 0xca else 8 if head == 0xcb else 1 << (head & 3)
	if head <= 0xc6:
		return 1 << (head - 0xc4)
	if head >= 0xd9 and head <= 0xdb:
		return 1 << (head - 0xd9)
	return 2 if head == 0xdc or head == 0xde else 4


# Reads a value whose head was read. False: not all of it is there.
func _take_long(head, left):
	if head < 0x90:
		_begin({}, 2 * (head & 15), true)
	elif head < 0xa0:
		_begin([], head & 15, false)
	elif head < 0xc0:
		return _take_text(head & 31, left - 1)
	elif head == 0xc0:
		_add(null)
	elif head == 0xc2 or head == 0xc3:
		_add(head == 0xc3)
	elif head == 0xca:
		_add(_input.get_float())
	elif head == 0xcb:
		_add(_input.get_double())
	elif head >= 0xcc and head <= 0xcf:
		_add(_take_number(head & 3))
	elif head >= 0xd9 and head <= 0xdb:
		return _take_text(_take_number(head - 0xd9), left - 1 - (1 << (head - 0xd9)))
	elif head >= 0xc4 and head <= 0xc6:
		return _take_bytes(_take_number(head - 0xc4), left - 1 - (1 << (head - 0xc4)))
	elif head == 0xdc or head == 0xdd:
		_begin([], _take_number(head - 0xdb), false)
	elif head == 0xde or head == 0xdf:
		_begin({}, 2 * _take_number(head - 0xdd), true)
	else:
		error = "the server sent what is no part of the protocol"
	return true


# A number of 1, 2, 4 or 8 bytes.
func _take_number(power):
	match power:
		0:
			return _input.get_u8()
		1:
			return _input.get_u16()
		2:
			return _input.get_u32()
		_:
			return _input.get_u64()


func _take_text(size, left):
	if left < size:
		return false
	_add(_input.get_utf8_string(size) if size > 0 else "")
	return true


func _take_bytes(size, left):
	if left < size:
		return false
	_add(_input.get_data(size)[1])
	return true


func _begin(container, count, is_map):
	_stack.push_back([container, count, null, is_map])
	if count == 0:
		_close()


# Adds a complete value. True: that completes the message.
func _add(value):
	if _stack.size() == 0:
		error = "the server sent something else than a message"
		return false
	var top = _stack[_stack.size() - 1]
	if not top[3]:
		top[0].push_back(value)
	elif top[1] % 2 == 0:
		top[2] = value
	else:
		top[0][top[2]] = value
	top[1] -= 1
	return top[1] == 0 and _close()


# Puts a complete container where it belongs. True: it is the message.
func _close():
	if _stack.size() == 1:
		return true
	var container = _stack.pop_back()[0]
	return _add(container)
