// Writes src/protocol.ts from proto/protocol.json: one type per method's parameters and results,
// per notification, and the lists of names.
//
//   node generate.mjs           writes it
//   node generate.mjs --check   fails when it is stale

import { readFileSync, writeFileSync } from "node:fs";

const here = new URL(".", import.meta.url);
const protocol = JSON.parse(readFileSync(new URL("../../proto/protocol.json", here), "utf8"));
const target = new URL("src/protocol.ts", here);

const types = {
  uint: "number",
  real: "number",
  bool: "boolean",
  text: "string",
  bytes: "Uint8Array",
  "[uint]": "number[]",
  "[text]": "string[]",
  "[map]": "Record<string, unknown>[]",
  map: "Record<string, unknown>",
};

function typeOf(entry) {
  // Parameters also have lists that are named after their elements: uints.
  const type = types[entry.type] ?? (entry.type === "uints" ? "number[]" : undefined);
  if (type === undefined) throw new Error(`unknown type ${entry.type} of ${entry.name}`);
  return type;
}

function fields(entries, isOptional) {
  return entries
    .map((entry) => {
      const optional = isOptional(entry) ? "?" : "";
      return `    /** ${entry.text} */\n    ${entry.name}${optional}: ${typeOf(entry)};\n`;
    })
    .join("");
}

function interfaceOf(title, items, entriesOf, isOptional) {
  const members = items.map((item) => {
    const body = fields(entriesOf(item), isOptional(item));
    return `  ${JSON.stringify(item.name)}: {\n${body}  };\n`;
  });
  return `export interface ${title} {\n${members.join("")}}\n`;
}

function names(title, items) {
  const list = items.map((item) => JSON.stringify(item.name)).join(", ");
  return `export const ${title} = [${list}] as const;\n`;
}

// In a delta, and where the text says so, empty entries are left out.
const always = new Set(["subscription", "world", "tick"]);
const mayMiss = (notification, entry) =>
  (notification.name === "delta" && !always.has(entry.name)) ||
  entry.text.startsWith("left out when empty");
const text = [
  "// Made by generate.mjs from proto/protocol.json. Change proto/protocol.def instead.\n",
  `export const PROTOCOL = ${protocol.protocol};\n`,
  interfaceOf("Params", protocol.methods, (m) => m.params, () => (e) => !e.required),
  interfaceOf("Results", protocol.methods, (m) => m.results, () => () => false),
  interfaceOf("Notifications", protocol.notifications, (n) => n.entries,
              (n) => (e) => mayMiss(n, e)),
  `/** The lowest role of each method. */\nexport const METHOD_ROLES = {\n` +
    protocol.methods.map((m) => `  ${JSON.stringify(m.name)}: ${JSON.stringify(m.role)},\n`).join("") +
    `} as const;\n`,
  "/** Methods with a command_id: sent again, they are carried out once. */\n" +
    "export const COMMANDS: ReadonlySet<string> = new Set([\n" +
    protocol.methods.filter((m) => m.params.some((p) => p.name === "command_id"))
      .map((m) => `  ${JSON.stringify(m.name)},\n`).join("") + "]);\n",
  names("ROLES", protocol.roles),
  names("TERRAINS", protocol.terrains),
  names("AGENT_STATES", protocol.agent_states),
  names("ORDER_ENDS", protocol.order_ends),
  names("ORDER_KINDS", protocol.order_kinds),
  names("PLANNERS", protocol.planners),
].join("\n");

if (process.argv.includes("--check")) {
  if (readFileSync(target, "utf8") !== text) {
    console.error("src/protocol.ts is stale: run node generate.mjs");
    process.exit(1);
  }
} else {
  writeFileSync(target, text);
}
