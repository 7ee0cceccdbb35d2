"""A plain RFC 6455 WebSocket client with the same interface as fogmarch_server.Client.

It is written from the RFC and keeps each frame as it came in, so that tests see what the server
really sends.
"""

import base64
import os
import ssl
import struct

from fogmarch_server import Client, PATIENCE

TEXT, BINARY, CLOSE, PING, PONG = 1, 2, 8, 9, 10


class Refused(Exception):
    """The answer to the handshake was not 101."""

    def __init__(self, status):
        super().__init__(f"status {status}")
        self.status = status


class WebSocketClient(Client):
    def __init__(self, port, path="/ws", origin=None, protocol="fogmarch", receive_buffer=None,
                 ca=None, host=None):
        """With `ca`, a file of trusted certificates, it uses wss instead of ws."""
        super().__init__(port, receive_buffer=receive_buffer)
        if ca is not None:
            context = ssl.create_default_context(cafile=ca)
            self.socket = context.wrap_socket(self.socket, server_hostname="localhost")
        self.buffer = b""
        self.close_code = None
        self.messages = 0  # complete binary messages received
        lines = [f"GET {path} HTTP/1.1", f"Host: {host or f'127.0.0.1:{port}'}", "Upgrade: websocket",
                 "Connection: Upgrade", "Sec-WebSocket-Version: 13",
                 "Sec-WebSocket-Key: " + base64.b64encode(os.urandom(16)).decode()]
        if origin is not None:
            lines.append(f"Origin: {origin}")
        if protocol is not None:
            lines.append(f"Sec-WebSocket-Protocol: {protocol}")
        self.socket.sendall(("\r\n".join(lines) + "\r\n\r\n").encode())
        while b"\r\n\r\n" not in self.buffer:
            data = self.socket.recv(4096)
            if not data:
                break
            self.buffer += data
        head, _, self.buffer = self.buffer.partition(b"\r\n\r\n")
        status = int(head.split()[1]) if head else 0
        if status != 101:
            self.socket.close()
            raise Refused(status)

    def send_frame(self, opcode, payload, final=True):
        mask = os.urandom(4)
        size = len(payload)
        head = struct.pack("!B", (0x80 if final else 0) | opcode)
        if size < 126:
            head += struct.pack("!B", 0x80 | size)
        elif size < 65536:
            head += struct.pack("!BH", 0x80 | 126, size)
        else:
            head += struct.pack("!BQ", 0x80 | 127, size)
        whole = (mask * (size // 4 + 1))[:size]
        masked = (int.from_bytes(payload, "big") ^ int.from_bytes(whole, "big")).to_bytes(size, "big")
        self.socket.sendall(head + mask + masked)

    def send_bytes(self, data):
        self.send_frame(BINARY, data)

    def _read(self, size):
        while len(self.buffer) < size:
            try:
                data = self.socket.recv(1 << 18)
            except ConnectionResetError:
                return None
            if not data:
                return None
            self.buffer += data
        data, self.buffer = self.buffer[:size], self.buffer[size:]
        return data

    def receive_frame(self):
        """Returns opcode, final, payload; None when the connection has ended."""
        head = self._read(2)
        if head is None:
            return None
        assert not head[1] & 0x80, "a server does not mask"
        size = head[1] & 0x7F
        if size == 126:
            size, = struct.unpack("!H", self._read(2))
        elif size == 127:
            size, = struct.unpack("!Q", self._read(8))
        payload = self._read(size)
        return None if payload is None else (head[0] & 15, bool(head[0] & 0x80), payload)

    def receive(self):
        while True:
            for message in self.unpacker:
                return message
            frame = self.receive_frame()
            if frame is None:
                return None
            opcode, final, payload = frame
            if opcode == PING:
                self.send_frame(PONG, payload)
            elif opcode == CLOSE:
                self.close_code = struct.unpack("!H", payload[:2])[0] if payload else 0
                try:
                    self.send_frame(CLOSE, payload[:2])
                except OSError:
                    pass
            elif opcode in (0, BINARY):
                self.messages += final
                self.unpacker.feed(payload)
