#!/usr/bin/env python3
"""Writes Runtime/Protocol.cs and Runtime/Methods.cs from proto/protocol.json: the enumerations, and for each
method a function that writes its request.

    generate.py          writes them
    generate.py --check  fails when one is stale

The target protocol-doc runs it after protocol.json was renewed.
"""

import json
import pathlib
import sys
import textwrap
from xml.sax.saxutils import escape

HERE = pathlib.Path(__file__).resolve().parent
MADE = "// {}: made by generate.py from proto/protocol.json. Change proto/protocol.def instead.\n\n"
OWN = {"hello", "subscribe", "unsubscribe"}  # Client.cs has them
RESERVED = {"class", "params", "event", "object", "string", "ref", "out", "in", "is", "as", "base", "lock", "fixed"}
TYPES = {"uint": "long", "real": "double", "bool": "bool", "text": "string", "bytes": "byte[]",
         "[uint]": "IReadOnlyList<long>"}
VALUES = {"long", "double", "bool"}


def pascal(name):
    return "".join(word.capitalize() for word in name.replace(".", "_").replace("-", "_").split("_"))


def camel(name):
    word = pascal(name)
    word = word[0].lower() + word[1:]
    return "@" + word if word in RESERVED else word


def wrapped(text, indent, width=110):
    return textwrap.fill(text, width, initial_indent=" " * indent + "/// ",
                         subsequent_indent=" " * indent + "/// ", break_long_words=False, break_on_hyphens=False)


def enumeration(title, text, entries):
    rows = []
    for entry in entries:
        said = entry.get("text") or entry["name"]
        rows.append(wrapped(f"<summary>{escape(said)}</summary>", 8)
                    + f"\n        {pascal(entry['name'])} = {entry['value']},")
    return (wrapped(f"<summary>{text}</summary>", 4) + f"\n    public enum {title}\n    {{\n" + "\n\n".join(rows)
            + "\n    }\n")


def make_protocol(protocol):
    return MADE.format("Protocol.cs") + "namespace Fogmarch\n{\n" + "\n".join([
        wrapped("<summary>The protocol's number.</summary>", 4)
        + f"\n    public static class Protocol\n    {{\n        /// <summary>What hello says.</summary>\n"
        f"        public const long Number = {protocol['protocol']};\n    }}\n",
        enumeration("Terrain", "What a cell is.", protocol["terrains"]),
        enumeration("AgentState", "What an agent does.", protocol["agent_states"]),
        enumeration("OrderEnd", "Why an order ended.", protocol["order_ends"])]) + "}\n"


def argument(param):
    kind = TYPES[param["type"]]
    name = camel(param["name"])
    if param["required"]:
        return f"{kind} {name}"
    return f"{kind}{'?' if kind in VALUES else ''} {name} = null"


def method(entry):
    params = sorted(entry["params"], key=lambda param: not param["required"])
    lines = [wrapped(f"<summary>{escape(entry['text'])} Lowest role: {entry['role']}.</summary>", 8)]
    for param in params:
        lines.append(wrapped(f"<param name=\"{camel(param['name']).lstrip('@')}\">{escape(param['text'])}</param>", 8))
    head = f"        public Request {pascal(entry['name'])}("
    lines.append(textwrap.fill(head + ", ".join(map(argument, params)) + ")", 110, subsequent_indent=" " * 12,
                               break_long_words=False, break_on_hyphens=False))
    call = f"            return Begin(\"{entry['name']}\")" + "".join(
        f"\n                .Set(\"{param['name']}\", {camel(param['name'])})" for param in entry["params"]) + ";"
    lines += ["        {", call, "        }"]
    return "\n".join(lines) + "\n"


def make_methods(protocol):
    return (MADE.format("Methods.cs") + "using System.Collections.Generic;\n\nnamespace Fogmarch\n{\n"
            "    public sealed partial class Client\n    {\n"
            "        // Methods with a command_id: sent again, they are carried out once.\n"
            "        private static readonly HashSet<string> Commands = new HashSet<string>\n        {\n"
            + "".join(f"            \"{entry['name']}\",\n" for entry in protocol["methods"]
                      if any(param["name"] == "command_id" for param in entry["params"]))
            + "        };\n\n"
            + "\n".join(method(entry) for entry in protocol["methods"] if entry["name"] not in OWN)
            + "    }\n}\n")


def main():
    protocol = json.loads((HERE / "../../proto/protocol.json").read_text())
    for name, text in ("Protocol.cs", make_protocol(protocol)), ("Methods.cs", make_methods(protocol)):
        target = HERE / "Runtime" / name
        if sys.argv[1:] != ["--check"]:
            target.write_text(text)
        elif not target.exists() or target.read_text() != text:
            sys.exit(f"Runtime/{name} is stale: run clients/csharp/generate.py")


main()
