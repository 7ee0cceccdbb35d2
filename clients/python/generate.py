#!/usr/bin/env python3
"""Writes fogmarch/methods.py and plain_methods.py from proto/protocol.json: for each method a typed
coroutine, and a function that blocks.

    generate.py          writes them
    generate.py --check  fails when one is stale

The target protocol-doc runs it after protocol.json was renewed.
"""

import json
import keyword
import pathlib
import sys
import textwrap

HERE = pathlib.Path(__file__).resolve().parent
METHODS = HERE / "fogmarch" / "methods.py"
PLAIN_METHODS = HERE / "fogmarch" / "plain_methods.py"
MADE = '"""Made by generate.py from proto/protocol.json. Change proto/protocol.def instead."""\n'

PARAMETER_TYPES = {
    "uint": "int", "real": "float", "bool": "bool", "text": "str", "bytes": "bytes",
    "[uint]": "Sequence[int]", "[text]": "Sequence[str]",
}
RESULT_TYPES = {
    "uint": "int", "real": "float", "bool": "bool", "text": "str", "bytes": "bytes",
    "[uint]": "list[int]", "[text]": "list[str]", "map": "dict[str, Any]",
    "[map]": "list[dict[str, Any]]",
}


def python_name(name):
    return name + "_" if keyword.iskeyword(name) else name


def class_name(method):
    return "".join(word.capitalize() for word in method.replace("_", ".").split("."))


def wrapped(text, indent):
    return textwrap.fill(text, 100, initial_indent=" " * indent,
                         subsequent_indent=" " * (indent + 4))


def result_class(title, text, entries, total):
    """A TypedDict in the form that takes any name, reserved words too."""
    lines = [f"{title} = TypedDict({title!r}, {{"]
    for entry in entries:
        lines.append(wrapped(f"# {entry['text']}", 4).replace("\n        ", "\n    # "))
        lines.append(f"    {entry['name']!r}: {RESULT_TYPES[entry['type']]},")
    lines.append("}" + ("" if total else ", total=False") + ")")
    return f"# {text}\n" + "\n".join(lines) + "\n"


def method(entry, blocks=False):
    required = [p for p in entry["params"] if p["required"]]
    optional = [p for p in entry["params"] if not p["required"]]
    arguments = [f"{python_name(p['name'])}: {PARAMETER_TYPES[p['type']]}" for p in required]
    arguments += [f"{python_name(p['name'])}: {PARAMETER_TYPES[p['type']]} | None = None"
                  for p in optional]
    title = class_name(entry["name"]) if entry["results"] else "None"
    star = ["self", "*"] if arguments else ["self"]
    head = f"    {'' if blocks else 'async '}def {entry['name'].replace('.', '_')}("
    body = (",\n" + " " * 8).join([", ".join(star)] + arguments)
    lines = [f"{head}\n        {body},\n    ) -> {title}:"]
    lines.append(wrapped(f'"""{entry["text"]} Lowest role: {entry["role"]}.', 8)
                 .replace("\n            ", "\n        "))
    if entry["params"]:
        lines.append("")
        lines += [wrapped(f"{python_name(p['name'])}: {p['text']}", 8) for p in entry["params"]]
    lines.append('        """')
    lines.append("        params: dict[str, Any] = {")
    lines += [f"            {p['name']!r}: {python_name(p['name'])}," for p in entry["params"]]
    lines.append("        }")
    call = f"{'' if blocks else 'await '}self.call({entry['name']!r}, params)"
    lines.append(f"        {call}" if title == "None" else f"        return cast({title}, {call})")
    return "\n".join(lines) + "\n"


def names(title, entries):
    values = ", ".join(repr(entry["name"]) for entry in entries)
    return "\n".join(textwrap.wrap(f"{title} = ({values})", 100, subsequent_indent="    ",
                                   break_on_hyphens=False)) + "\n"


def make(protocol):
    parts = [MADE,
             "from __future__ import annotations\n",
             "from collections.abc import Mapping, Sequence\nfrom typing import Any, TypedDict, cast\n",
             f"PROTOCOL = {protocol['protocol']}\n"
             + names("ROLES", protocol["roles"]) + names("TERRAINS", protocol["terrains"])
             + names("AGENT_STATES", protocol["agent_states"])
             + names("ORDER_ENDS", protocol["order_ends"])
             + names("ORDER_KINDS", protocol["order_kinds"])
             + names("PLANNERS", protocol["planners"])
             + "# Methods with a command_id: sent again, they are carried out once.\n"
             + names("COMMANDS", [m for m in protocol["methods"]
                                  if any(p["name"] == "command_id" for p in m["params"])])]
    parts += [result_class(class_name(m["name"]), f"What {m['name']} answers.", m["results"], True)
              for m in protocol["methods"] if m["results"]]
    parts += [result_class(class_name(n["name"]), n["text"], n["entries"], False)
              for n in protocol["notifications"]]
    parts.append("class Methods:\n"
                 '    """Every method of the protocol as a coroutine; Client inherits them."""\n\n'
                 "    async def call(self, method: str, params: Mapping[str, Any]) -> Any:\n"
                 '        """Calls a method by its name; parameters that are None are left out."""\n'
                 "        raise NotImplementedError\n\n"
                 + "\n".join(method(m) for m in protocol["methods"]))
    return "\n".join(parts)


def make_plain(protocol):
    answers = sorted(class_name(m["name"]) for m in protocol["methods"] if m["results"])
    imports = textwrap.fill(", ".join(answers), 96, initial_indent="    ", subsequent_indent="    ")
    return "\n".join([
        MADE,
        "from __future__ import annotations\n",
        "from collections.abc import Mapping, Sequence\nfrom typing import Any, cast\n",
        f"from .methods import (\n{imports},\n)\n\n",
        "class PlainMethods:\n"
        '    """Every method of the protocol; each waits for its answer. PlainClient inherits them."""\n\n'
        "    def call(self, method: str, params: Mapping[str, Any]) -> Any:\n"
        '        """Calls a method by its name; parameters that are None are left out."""\n'
        "        raise NotImplementedError\n\n"
        + "\n".join(method(m, blocks=True) for m in protocol["methods"])])


def main():
    protocol = json.loads((HERE / "../../proto/protocol.json").read_text())
    for target, text in (METHODS, make(protocol)), (PLAIN_METHODS, make_plain(protocol)):
        if sys.argv[1:] != ["--check"]:
            target.write_text(text)
        elif not target.exists() or target.read_text() != text:
            sys.exit(f"fogmarch/{target.name} is stale: run clients/python/generate.py")


main()
