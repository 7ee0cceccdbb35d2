#!/usr/bin/env python3
"""Writes the seeds of the fuzz targets that read texts, from the real thing where there is one.

    python3 tests/fuzz/make_seeds.py            renews corpus/map, scen, config, scenario, tokens, texts

Pieces of benchmark maps and problem files (FOGMARCH_MAPS, or shared/maps beside the checkout; without
them those seeds stay as they are), the files of configs/ and loadtest/scenarios/, and one text for each
word of the small languages. What a seed is called never depends on the run, so git shows what changed.
"""

import os
import re
import sys

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
YAML = {  # what configs/ has not
    "empty": "", "list": "- 1\n- 2\n", "unknown": "tick_herz: 3\n", "twice": "tick_hz: 3\ntick_hz: 4\n",
    "nested": "tick_hz: {a: 1}\n", "not-a-number": "tick_hz: fast\n", "alias": "tick_hz: &a 3\nworkers: *a\n",
    "bomb": "a: &a [x,x]\nb: &b [*a,*a]\nc: [*b,*b]\n", "documents": "---\ntick_hz: 3\n---\nworkers: 1\n",
    "nul": "tick_hz: \"3\\0\"\n", "tab": "\ttick_hz: 3\n", "not-utf8": "tick_hz: \udcff\n", "quoted": "\"tick_hz\": '3'\n",
}


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
        # The piece with most kinds of terrain.
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


if len(sys.argv) != 1:
    sys.exit(__doc__)
write_maps()
write_problems()
write_yaml()
write_texts()
