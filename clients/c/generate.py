#!/usr/bin/env python3
"""Writes include/fogmarch/words.h, the words of the protocol for programs outside of this tree, and fogmarch.map,
the names that the library exports.

    generate.py          writes them
    generate.py --check  fails when they are stale

The words come from where the tree has them: X-lists, types and constants from the headers of core/ and
proto/, found by name wherever they stand; methods, fields and notifications from proto/protocol.def.
The target protocol-doc runs this.
"""

import pathlib
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
PUBLIC = HERE / "include/fogmarch"
WORDS = PUBLIC / "words.h"
EXPORTS = HERE / "fogmarch.map"

HEAD = """\
// fogmarch/words.h: the words of the protocol: statuses, methods, fields, states, limits.
//
// Made by clients/c/generate.py from the lists that the server is built from. proto/PROTOCOL.md
// says what each method does and which fields it takes. Names keep their meaning; the next minor
// version, whose library has another soname, may number them differently.

#pragma once

#ifdef FOGMARCH_TREE // programs of the project itself know the lists that this file is made from

#include "proto/protocol.h"
#include "proto/scanner.h"

#else

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// The caller must look at the returned fm_status.
#if defined(__GNUC__)
#define FM_CHECKED __attribute__((warn_unused_result))
#else
#define FM_CHECKED
#endif

#ifdef __cplusplus
extern "C" {
#endif

// clang-format off

"""
TAIL = """\
// clang-format on

#ifdef __cplusplus
}
#endif

#endif
"""

HEADERS = {path: path.read_text(encoding="utf-8")
           for folder in ("core", "proto") for path in sorted((ROOT / folder).rglob("*.h"))}
PROTOCOL = (ROOT / "proto/protocol.def").read_text(encoding="utf-8")


def found(pattern, what):
    """The only match in the headers."""
    matches = [match for text in HEADERS.values() for match in re.finditer(pattern, text, re.M | re.S)]
    if len(matches) != 1:
        sys.exit("%s stands %d times in the headers of core/ and proto/" % (what, len(matches)))
    return matches[0]


def constant(name):
    return found(r"^#define %s\s[^\n]*\n" % name, name).group(0)


def struct(name):
    """With the comment above it."""
    return found(r"(?:^//[^\n]*\n)*^typedef struct %s \{[^}]*\} %s;\n" % (name, name), name).group(0) + "\n"


def function(name):
    return found(r"^static inline \w+ %s\([^)]*\)\n\{.*?\n\}\n" % name, name).group(0) + "\n"


def prototype(name):
    """With the comment above it, where it has one."""
    return found(r"(?:^///[^\n]*\n)*^const char \*%s\([^;]*\);[^\n]*\n" % name, name).group(0) + "\n"


def enum(name, members, last=""):
    lines = ["    %s, // %s" % member for member in members]
    return "typedef enum %s {\n%s\n%s} %s;\n\n" % (name, "\n".join(lines), last and "    %s,\n" % last, name)


def listed(list_name, name, last=""):
    """An enum from an X-list: its comment is the texts that the list has."""
    body = found(r"^#define %s\(X\)[^\n]*\\\n(?:[^\n]*\\\n)*[^\n]*\n" % list_name, list_name).group(0)
    rows = re.findall(r"X\((\w+),\s*(.*?)\)\s*(?:/\*.*?\*/|//[^\n]*)?\s*\\?\n", body.split("\n", 1)[1])
    return enum(name, [(row[0], ": ".join(re.findall(r'"([^"]*)"', row[1]))) for row in rows], last)


def from_protocol(macro, name, last):
    return enum(name, re.findall(r'^%s\((\w+),\s*("[^"]*")' % macro, PROTOCOL, re.M), last)


def words():
    parts = [HEAD]
    parts += [constant(name) for name in (
        "FM_PROTOCOL_NUMBER", "FM_UINT_MAX", "FM_ERROR_TEXT_SIZE", "FM_SIDE_MAX", "FM_CELL_NONE", "FM_AGENTS_MAX",
        "FM_TEAMS_MAX", "FM_CLASSES_MAX", "FM_TAG_SIZE_MAX", "FM_SCANNER_DEPTH_MAX")]
    parts.append("\n// Whether a request was done, and why not.\n")
    parts.append(listed("FM_STATUS_LIST", "fm_status"))
    parts += [prototype("fm_status_text"), prototype("fm_status_name")]
    parts.append("// A cell: y << 12 | x. x grows eastward, y southward, (0, 0) is the north-west corner.\n")
    parts.append("typedef uint32_t fm_cell;\n\n")
    parts += [function(name) for name in ("fm_cell_at", "fm_cell_x", "fm_cell_y")]
    parts.append(struct("fm_rect"))
    parts.append(listed("FM_TERRAIN_LIST", "fm_terrain", "FM_TERRAIN_COUNT"))
    parts.append(listed("FM_AGENT_STATE_LIST", "fm_agent_state", "FM_AGENT_STATE_COUNT"))
    parts.append("// How an order ended.\n")
    parts.append(listed("FM_ORDER_END_LIST", "fm_order_end", "FM_END_COUNT"))
    parts += [struct("fm_building_look"), struct("fm_scan_limits")]
    parts.append("// Requests.\n")
    parts.append(from_protocol("FM_METHOD", "fm_method", "FM_METHOD_COUNT"))
    parts.append("// Their parameters.\n")
    parts.append(from_protocol("FM_FIELD", "fm_field", "FM_FIELD_COUNT"))
    parts.append("// What the server says unasked.\n")
    parts.append(from_protocol("FM_NOTIFICATION", "fm_notification", "FM_NOTIFICATION_COUNT"))
    parts.append("// Names on the wire. Static storage.\n")
    parts += [prototype(name) for name in ("fm_method_name", "fm_field_name", "fm_notification_name")]
    return "".join(parts + [TAIL])


def exports(words_text):
    """Every function that a public header declares and does not define."""
    texts = [words_text] + [path.read_text(encoding="utf-8") for path in sorted(PUBLIC.glob("*.h")) if path != WORDS]
    names = set()
    for text in texts:
        text = re.sub(r"//[^\n]*|^#[^\n]*", "", text, flags=re.M)
        for declaration in re.findall(r"^(?!typedef|static)[\w *]*?\b(fm_\w+)\([^;{]*\);", text, re.M):
            names.add(declaration)
    return ("/* Made by generate.py: the functions of the public headers, and nothing else. */\n"
            "FOGMARCH {\nglobal:\n%slocal:\n    *;\n};\n" % "".join("    %s;\n" % name for name in sorted(names)))


def main():
    texts = {WORDS: words()}
    texts[EXPORTS] = exports(texts[WORDS])
    if "--check" not in sys.argv[1:]:
        for path, text in texts.items():
            path.write_text(text, encoding="utf-8")
        return
    for path, text in texts.items():
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            sys.exit("%s is stale: cmake --build --preset release --target protocol-doc" % path.relative_to(ROOT))


main()
