#!/usr/bin/env python3
"""Writes the seeds of the fuzz targets that read texts, from real files where possible.

    python3 tests/fuzz/make_seeds.py            renews corpus/map, scen, config, scenario, tokens, texts, ascii,
                                                weighted, png, pnm, tmx, tmj,
                                                and corpus/http, which has more

The seeds are pieces of benchmark maps and problem files (FOGMARCH_MAPS, or shared/maps beside the checkout;
without them those seeds are not changed), the files of configs/ and loadtest/scenarios/, and one text for
each word of the small languages. Names of seeds are always the same, so git shows what changed.
"""

import base64
import gzip
import os
import re
import struct
import sys
import zlib

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
MAPS = os.environ.get("FOGMARCH_MAPS") or os.path.join(ROOT, "..", "shared", "maps")
WIDTH, HEIGHT = 24, 16  # cells of a piece of a map

PLANNERS = {  # as in core/world/planner_table.c
    "plain": ["dstar-lite", "dstar-extra-lite", "repeated-jps", "auto", "breadth-first", "depth-first",
              "greedy-best-first", "dijkstra", "mpgaa-star", "tba-star"],
    "keys": ["repeated-forward-astar:ties=larger-g,queue=bucket", "rtaa-star:lookahead=100",
             "adaptive-astar:heuristic=octile,queue=heap", "astar:heuristic=landmarks",
             "lss-lrta-star:lookahead=1000000,step=first", "astar:heuristic=cluster,ties=smaller-g"],
    "wrong": ["", ":", "astar:", "astar:ties", "astar:ties=", "astar:lookahead=-1", "nothing",
              "rtaa-star:lookahead=1000001", "astar:ties=smaller-g,ties=larger-g,"],
}
CLASSES = ["ground", "ground;boat:water=1", "tank:size=3,ground=1,swamp=2", "a:size=4,trees=250",
           "a;a", "a;", ";", "a:size=5", "a:lava=1", "a:ground=0", "x" * 31 + ":ground=1",
           "a;b;c;d;e;f;g;h;i"]
ADDRESSES = ["127.0.0.1:7421", "[::1]:80", "0.0.0.0:0", "localhost:1", "[::ffff:127.0.0.1]:65535",
             "::1:80", "1.2.3.4:65536", "1.2.3.4", "[fe80::1%lo]:1"]
TOKENS = {
    "roles": "\nadmin 0123456789abcdef\nobserver fedcba9876543210\n# a comment\n\ndebug aaaaaaaaaaaaaaaaaa\n",
    "seats": "\nplayer arena 1 0123456789abcdef\nplayer arena 2 1123456789abcdef\r\n",
    "variable": ";admin 0123456789abcdef;player arena 3 2123456789abcdef",
    "bare": "\n0123456789abcdef0123456789abcdef",
    "hash": "\nadmin blake2b:" + "0123456789abcdef" * 4 + "\n",
    "short-hash": "\nadmin blake2b:0123\n",
    "short": "\nadmin 0123456789abcde\n",
    "long": "\nadmin " + "t" * 257 + "\n",
    "no-team": "\nplayer arena 0123456789abcdef\n",
    "team-0": "\nplayer arena 0 0123456789abcdef\n",
    "twice": "\nadmin 0123456789abcdef\ndebug 0123456789abcdef\n",
}
YAML = {  # what configs/ does not have
    "empty": "", "list": "- 1\n- 2\n", "unknown": "tick_herz: 3\n", "twice": "tick_hz: 3\ntick_hz: 4\n",
    "nested": "tick_hz: {a: 1}\n", "not-a-number": "tick_hz: fast\n", "alias": "tick_hz: &a 3\nworkers: *a\n",
    "bomb": "a: &a [x,x]\nb: &b [*a,*a]\nc: [*b,*b]\n", "documents": "---\ntick_hz: 3\n---\nworkers: 1\n",
    "nul": "tick_hz: \"3\\0\"\n", "tab": "\ttick_hz: 3\n", "not-utf8": "tick_hz: \udcff\n", "quoted": "\"tick_hz\": '3'\n",
}

ZSTD_CELLS = bytes.fromhex("28b52ffd201081000001000000020000000100008000000000")  # a frame of four cells


def write(folder, name, data):
    path = os.path.join(HERE, "corpus", folder)
    os.makedirs(path, exist_ok=True)
    if isinstance(data, str):
        data = data.encode("utf-8", "surrogateescape")
    with open(os.path.join(path, name), "wb") as file:
        file.write(data)


def find(pattern):
    """The first file of each folder of benchmark maps that has one."""
    for folder in sorted(os.listdir(MAPS)) if os.path.isdir(MAPS) else []:
        for parent, folders, files in sorted(os.walk(os.path.join(MAPS, folder))):
            names = sorted(name for name in files if name.endswith(pattern))
            if names:
                yield folder, os.path.join(parent, names[0])
                break


def write_maps():
    for folder, path in find(".map"):
        rows = open(path).read().split("map\n", 1)[1].split("\n")
        # The piece with the most kinds of terrain.
        best = max(((y, x) for y in range(0, len(rows) - HEIGHT, HEIGHT)
                    for x in range(0, len(rows[0]) - WIDTH, WIDTH)),
                   key=lambda at: len(set("".join(row[at[1]:at[1] + WIDTH]
                                                  for row in rows[at[0]:at[0] + HEIGHT]))))
        piece = [row[best[1]:best[1] + WIDTH] for row in rows[best[0]:best[0] + HEIGHT]]
        write("map", folder, "type octile\nheight %d\nwidth %d\nmap\n%s\n" %
              (HEIGHT, WIDTH, "\n".join(piece)))
    write("map", "all-letters", "type octile\nheight 2\nwidth 5\nmap\n.G@OT\nSW...")
    write("map", "crlf", "type octile\r\nheight 1\r\nwidth 2\r\nmap\r\n..\r\n\r\n")
    write("map", "huge", "type octile\nheight 4096\nwidth 4096\nmap\n..\n")
    write("map", "too-large", "type octile\nheight 4294967297\nwidth 1\nmap\n.\n")
    write("map", "short-row", "type octile\nheight 2\nwidth 3\nmap\n...\n..\n")
    write("map", "long-row", "type octile\nheight 1\nwidth 1\nmap\n...\n")
    write("map", "wrong-letter", "type octile\nheight 1\nwidth 3\nmap\n.x.\n")
    write("map", "tile", "type tile\nheight 1\nwidth 2\nmap\n.W\n")
    write("map", "costs", "type weighted\nheight 2\nwidth 3\nmap\n...\n.S.\ncosts\n3x1\n1 2x250\n")
    write("map", "costs-too-many", "type octile\nheight 1\nwidth 2\nmap\n..\ncosts\n4294967295x1 1\n")
    write("map", "zero", "type octile\nheight 0\nwidth 0\nmap\n")


def write_problems():
    for folder, path in find(".scen"):
        write("scen", folder, "".join(open(path).readlines()[:4]))
    line = "0\tm.map\t8\t8\t1\t2\t3\t4\t2.82842712\n"
    for name, text in {
        "one": "version 1\n" + line, "version-2": "version 2\n" + line, "blank": "version 1.0\n\n" + line + "\n",
        "spaces": "version 1\n" + line.replace("\t", " "), "outside": "version 1\n" + line.replace("\t4\t", "\t8\t"),
        "nan": "version 1\n" + line.replace("2.82842712", "nan"), "short": "version 1\n0\tm.map\t8\n",
        "exponent": "version 1\n" + line.replace("2.82842712", "1e308"), "none": "version 1\n",
    }.items():
        write("scen", name, text)


def write_yaml():
    for folder, target in (("configs", "config"), ("loadtest/scenarios", "scenario")):
        for name in sorted(os.listdir(os.path.join(ROOT, folder))):
            if name.endswith(".yaml"):
                text = open(os.path.join(ROOT, folder, name)).read()
                # Comments teach a fuzzer nothing and make every input longer.
                write(target, name[:-5], re.sub(r"(?m)^\s*#.*\n|\s+#.*$|^\n", "", text))
        for name, text in YAML.items():
            write(target, name, text)


def write_texts():
    for name, texts in PLANNERS.items():
        for number, text in enumerate(texts):
            write("texts", "planner-%s-%d" % (name, number), "\0" + text)
    for number, text in enumerate(CLASSES):
        write("texts", "classes-%d" % number, "\1" + text)
    for number, text in enumerate(ADDRESSES):
        write("texts", "address-%d" % number, "\2" + text)
    for name, text in TOKENS.items():
        write("tokens", name, ("\1" if text[0] == ";" else "\0") + text[1:])


HOST = "Host: 127.0.0.1:7422\r\n"
KEY = "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
UPGRADE = "GET /ws HTTP/1.1\r\n" + HOST + "Upgrade: websocket\r\nConnection: keep-alive, Upgrade\r\n" + KEY
REQUESTS = {
    "livez": "GET /livez HTTP/1.1\r\n" + HOST, "head": "HEAD /large.js HTTP/1.1\r\n" + HOST,
    "old": "GET / HTTP/1.0\r\nConnection: keep-alive\r\n", "last": "GET / HTTP/1.1\r\nConnection: close\r\n" + HOST,
    "known": "GET /index.html?x HTTP/1.1\r\n" + HOST + 'If-None-Match: "x", "0123456789abcdef"\r\n',
    "post": "POST / HTTP/1.1\r\n" + HOST + "Content-Length: 5\r\n", "body": "GET / HTTP/1.1\r\n" + HOST + "Content-Length: 5\r\n",
    "chunked": "GET / HTTP/1.1\r\n" + HOST + "Transfer-Encoding: chunked\r\n",
    "h2c": "GET /metrics HTTP/1.1\r\n" + HOST + "Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMA\r\n",
    "upgrade": UPGRADE, "protocol": UPGRADE + "Sec-WebSocket-Protocol: soap, fogmarch\r\n",
    "own-page": UPGRADE + "Origin: http://127.0.0.1:7422\r\n", "listed-page": UPGRADE + "Origin: http://b\r\n",
    "strange-page": UPGRADE + "Origin: http://c\r\n", "no-upgrade": "GET /ws HTTP/1.1\r\n" + HOST,
    "expect": "GET / HTTP/1.1\r\n" + HOST + "Expect: 100-continue\r\n", "h2": "PRI * HTTP/2.0\r\n",
    "long": "GET / HTTP/1.1\r\n" + HOST + "X: " + "y" * 4100 + "\r\n",
}


def frame(kind, payload, mask=b"\1\2\3\4", final=True):
    size = len(payload)
    length = bytes([0x80 | size]) if size < 126 else b"\xfe" + size.to_bytes(2, "big")
    return bytes([(0x80 if final else 0) | kind]) + length + mask + bytes(
        byte ^ mask[i % 4] for i, byte in enumerate(payload))


def write_http():
    """The first byte is the set-up, 0xfe begins a step: see fuzz_http.c."""
    for name, lines in REQUESTS.items():
        write("http", name, b"\0" + (lines + "\r\n").encode())
        write("http", name + "-twice", b"\2" + (lines + "\r\n").encode() * 2 + b"\xfe\x06" + (lines + "\r\n").encode())
    wait = b"GET /metrics HTTP/1.1\r\n" + HOST.encode() + b"\r\n"
    body = b"GET /livez HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhelloGET "
    write("http", "waits", b"\0" + wait + body + b"\xfe\x06")
    write("http", "waits-and-leaves", b"\0" + wait + body + b"\xfe\x02")
    write("http", "waits-too-long", b"\0" + wait + b"\xfe\x75")
    write("http", "waits-with-many", b"\0" + wait * 200 + b"\xfe\x06")
    write("http", "large-and-stalls", b"\2\xfe\x08GET / HTTP/1.1\r\nHost: x\r\n\r\n\xfe\x03" + REQUESTS["livez"].encode()
          + b"\r\n" + b"GET /large.js HTTP/1.1\r\nHost: x\r\n\r\n" * 4 + b"\xfe\x04\xfe\x35")
    write("http", "half-and-slow", b"\0GET / HTTP/1.1\r\nHost\xfe\x75")
    frames = {
        "message": frame(2, b"hello S"), "large": frame(2, b"B"), "finish": frame(2, b"F"), "close": frame(2, b"C"),
        "pause": frame(2, b"P") + frame(2, b"S" * 300), "fragments": frame(2, b"a", final=False) + frame(9, b"ping")
        + frame(0, b"b", final=False) + frame(10, b"") + frame(0, b"S"), "text": frame(1, b"text"),
        "goodbye": frame(8, b"\x03\xe8bye"), "empty-close": frame(8, b""), "half-close": frame(8, b"\x03"),
        "bad-close": frame(8, b"\x03\xed"), "pings": frame(9, b"x" * 125) * 5, "unmasked": b"\x82\x01a",
        "reserved": frame(0x42, b"a"), "unknown": frame(3, b"a"), "rest": frame(0, b"a"), "long": b"\x82\xff" + bytes(4)
        + b"\0\x01\0\0" + b"\1\2\3\4" + b"S", "not-shortest": b"\x82\xfe\0\5\1\2\3\4hello", "negative": b"\x82\xff" + b"\xff" * 12,
    }
    for name, data in frames.items():
        write("http", "socket-" + name, b"\0\xfe\x07" + data)
        write("http", "socket-" + name + "-bytewise", b"\x08\xfe\x07\xfe\x11\xfe\x07\xfe\x01\xfe\x03" + data + b"\xfe\x04\xfe\x75")
        write("http", "frames-" + name, b"\1" + data)
    write("http", "socket-idle", b"\0\xfe\x07\xfe\x75\xfe\x75\xfe\x75")


def write_map_files():
    """The examples of clients/maps, each with a file beside it, and files that must be refused."""
    examples = os.path.join(ROOT, "clients", "maps", "examples")

    def example(name):
        with open(os.path.join(examples, name), "rb") as file:
            return file.read()

    for folder, name, beside in (("ascii", "forest.txt", None), ("ascii", "letters.txt", "letters.txt.yaml"),
                                 ("weighted", "forest.map", None), ("weighted", "weighted.map", "weighted.map.cost"),
                                 ("png", "forest.png", "forest.png.yaml"), ("pnm", "forest.ppm", "forest.ppm.yaml"),
                                 ("pnm", "hills.pgm", "hills.pgm.yaml"), ("tmx", "forest.tmx", "land.tsx"),
                                 ("tmx", "forest.tmx", "land.tsj"), ("tmj", "forest.tmj", "land.tsj")):
        data = example(name) + (b"\n%%%%\n" + example(beside) if beside else b"")
        write(folder, name + ("-" + beside if beside else ""), data)
    cells = struct.pack("<4I", 1, 2, 0x80000001, 0)
    for compression, packed in (("", cells), ("zlib", zlib.compress(cells)), ("gzip", gzip.compress(cells, mtime=0)),
                                ("zlib", zlib.compress(bytes(1 << 20))), ("zstd", ZSTD_CELLS)):
        data = base64.b64encode(packed).decode()
        name = (compression or "plain") + ("-bomb" if len(packed) > 100 else "")
        write("tmx", name, '<map orientation="orthogonal" width="2" height="2"><tileset firstgid="1">'
              '<tile id="1" type="water"/></tileset><layer name="ground" width="2" height="2">'
              '<data encoding="base64" compression="%s">%s</data></layer></map>' % (compression, data))
        write("tmj", name, '{"orientation":"orthogonal","width":2,"height":2,"tilesets":[{"firstgid":1,"tiles":'
              '[{"id":1,"type":"water"}]}],"layers":[{"type":"tilelayer","name":"ground","width":2,"height":2,'
              '"encoding":"base64","compression":"%s","data":"%s"}]}' % (compression, data))
    write("tmx", "chunks", '<map orientation="isometric" infinite="1"><tileset firstgid="1"/><layer name="wall"><data '
          'encoding="csv"><chunk x="-16" y="0" width="2" height="1">0,1</chunk></data></layer></map>')
    write("tmx", "elements", '<map orientation="orthogonal" width="2" height="1"><tileset firstgid="1"/><group>'
          '<layer name="wall" width="2" height="1"><properties><property name="cost" value="3"/></properties><data>'
          '<tile gid="1"/><tile/></data></layer></group></map>')
    write("tmx", "entities", '<!DOCTYPE a [<!ENTITY a "b">]><map orientation="orthogonal" width="1" height="1"/>')
    write("tmj", "chunks", '{"orientation":"orthogonal","infinite":true,"tilesets":[{"firstgid":1}],"layers":[{"type":'
          '"group","layers":[{"type":"tilelayer","name":"wall","chunks":[{"x":5,"y":-1,"width":2,"height":1,'
          '"data":[1,0]}]}]}]}')
    for kind, data in (("P2", b"2 1 65535 1 65535"), ("P5", b"2 1 255 ab"), ("P6", b"1 1 256 aabbcc"), ("P4", b"8 1 a")):
        write("pnm", kind.lower(), kind.encode() + b" " + data + b"\n%%%%\nother: {terrain: ground, cost: 2}\n")

    def chunk(kind, body):
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

    for name, depth, kind, row, more in (("grey16", 16, 0, b"\0\1\xff\xff", b""), ("bits", 1, 0, b"\x40", b""),
                                         ("palette", 8, 3, b"\0\1", chunk(b"PLTE", b"\0\0\0\xff\xff\xff")),
                                         ("rgba", 8, 6, b"\0\0\0\xff\0\0\0\0", b"")):
        write("png", name, b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 2, 1, depth, kind, 0, 0, 0)) +
              more + chunk(b"IDAT", zlib.compress(b"\0" + row)) + chunk(b"IEND", b""))


def write_logs():
    """Logs of a world in etcd as fuzz_log.c reads them: each value behind its size."""
    def values(*parts):
        return b"".join(struct.pack("<H", len(part)) + part for part in parts)

    def row(kind, tick, data=b""):
        return struct.pack("<BQI", kind, tick, len(data)) + data

    def keyframe(position=0, name=b"arena", number=1, bases=(5, 9), tick=0):
        return struct.pack("<BQQIQQQQBdd", 1, position, 1, 1, 0, 0, tick, 7, 0, 10.0, 50.0) + \
            bytes([len(name)]) + name + struct.pack("<QIQI", number, 0, 1, len(bases)) + \
            b"".join(struct.pack("<I", base) for base in bases)

    world = b"FMWORLD\n" + bytes(24)
    ticks = [row(1, tick, b"command") + row(2, tick, b"record") for tick in range(1, 5)]
    sound = b"\x0c"  # right checksums, packed here
    for name, data in (
            ("begun", values(keyframe(), world)),
            ("records", values(keyframe(), world, *(b"\0\1" + one for one in ticks))),
            ("parts", values(keyframe(), world, b"\1\1" + ticks[0][:9], b"\0\1" + ticks[0][9:])),
            ("epochs", values(keyframe(), world, b"\0\1" + ticks[0], b"\1\1" + ticks[1][:9], b"\0\2" + ticks[1])),
            ("epochs-fall", values(keyframe(), world, b"\0\2" + ticks[0], b"\0\1" + ticks[1])),
            ("keyframe", values(keyframe(3, tick=2), world, b"\0\1" + ticks[1] + row(4, 2) + ticks[2],
                                b"\0\1" + ticks[3])),
            ("keyframe-missing", values(keyframe(3, tick=2), world, b"\0\1" + ticks[1])),
            ("pace", values(keyframe(), world, b"\0\1" + row(3, 0, struct.pack("<Bdd", 1, 20.0, 40.0)) + row(5, 9))),
            ("name-of-a-path", values(keyframe(name=b"../../x"), world)),
            ("another-number", values(keyframe(number=2), world)),
            ("bases", values(keyframe(bases=range(20)), world))):
        write("log", "log-" + name, sound + data)
        write("log", "chunked-" + name, b"\x1c" + data)
    write("log", "log-spoilt-sums", b"\x08" + values(keyframe(), world, b"\0\1" + ticks[0]))
    for name, text in (("length", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"),
                       ("chunks", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n{\r\n1\r\n}\r\n0\r\n\r\n"),
                       ("value", 'HTTP/1.1 200 OK\r\nContent-Length: 90\r\n\r\n{"header":{"revision":"7"},"responses":'
                        '[{"response_range":{"kvs":[{"value":"eHl6"}]}}]}  '),
                       ("error", 'HTTP/1.1 503 X\r\nConnection: close\r\nContent-Length: 25\r\n\r\n'
                        '{"error":"no","code": 14}'),
                       ("words", "HTTP/1.1 404 Not Found\r\nContent-Length: 9\r\n\r\nNot Found"),
                       ("nothing", "HTTP/1.1 200 OK\r\n\r\n"), ("large", "HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n"),
                       ("chunk-large", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\n{")):
        write("log", "answer-" + name, b"\x01" + text.encode())
    for name, text in (("owner", "3 node-1 00000000000000ff"), ("owner-long", "3 " + 80 * "n" + " 1"),
                       ("token", 64 * "a" + " 1 2 0"), ("token-role", 64 * "a" + " 9 2 0")):
        write("log", "text-" + name, b"\x02" + text.encode())


if len(sys.argv) != 1:
    sys.exit(__doc__)
write_logs()
write_maps()
write_map_files()
write_problems()
write_yaml()
write_texts()
write_http()
