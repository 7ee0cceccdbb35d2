// The example of PROTOCOL.md, a client in plain JavaScript, runs unchanged.
//
// Goal    it runs in Node.js, if that has a WebSocket, and in a browser's page; its units arrive.
// Method  the text of PROTOCOL.md with the test's port, and a client that ends the world when the units have arrived.

import { spawn } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { assert, Browser, run, Server, until } from "./support.mjs";

const page = readFileSync(join(process.env.FOGMARCH_SOURCE, "proto/PROTOCOL.md"), "utf8");
const example = /```js\n(.*?)```/s.exec(page)[1];
const arrived = /^tick \d+ (?=.*\[1,\[40,20\]\])/m; // the second one stands beside the goal

function shorter() {
  assert.ok(example.trimEnd().split("\n").length <= 30);
}

const at = (server) => example.replace("127.0.0.1:7422", `127.0.0.1:${server.http}`);

async function inNode() {
  const flag = "--experimental-websocket";
  const flags = process.allowedNodeEnvironmentFlags.has(flag) ? [flag] : [];
  if (flags.length === 0 && globalThis.WebSocket === undefined) {
    console.log(`[ SKIPPED  ] Node.js ${process.version} has no WebSocket`);
    return;
  }
  const server = await Server.start();
  writeFileSync("websocket_example_node.mjs", at(server)); // the folder where npm put the msgpack library
  const child = spawn(process.execPath, [...flags, "websocket_example_node.mjs"], { stdio: ["ignore", "pipe", "pipe"] });
  process.on("exit", () => child.kill("SIGKILL"));
  let said = "";
  child.stdout.on("data", (data) => { said += data; });
  child.stderr.on("data", (data) => { said += data; });
  await until(() => arrived.test(said), () => `units that arrive: ${said}`);
  const ended = new Promise((resolve) => child.on("exit", resolve));
  await server.stop();
  await ended;
  assert.match(said, /^closed 1001 /m);
}

async function inABrowser() {
  const server = await Server.start();
  const browser = await Browser.start();
  const lines = [];
  const tab = await browser.open(server.url("play.html"));
  tab.on("console", (message) => lines.push(message.text()));
  await tab.evaluate(readFileSync("node_modules/@msgpack/msgpack/dist.umd/msgpack.min.js", "utf8"));
  const body = at(server).replace(/^import (.*) from .*$/m, "const $1 = MessagePack;");
  await tab.evaluate(`(async () => { ${body} })()`);
  await until(() => lines.some((line) => arrived.test(line)), () => `units that arrive: ${lines.join("\n")}`);
  await browser.stop();
  await server.stop();
}

await run([shorter, inNode, inABrowser]);
