// What subscribers cost: tick times of a world of moving agents without and with many WebSocket
// subscribers, in turn, on one server.
//
//   node loadtest/subscribers.mjs BUILD [SUBSCRIBERS [AGENTS [SECONDS]]]    build/release, 200, 5000, 10
//
// Prints JSON: tick times of each stretch in ms, their ratio, bytes per client and second. Wants the
// build's web client (its library) and Node.js. The subscribers run in a process of their own: they
// read everything and decode nothing.

import { spawn, fork } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createConnection } from "node:net";
import { randomBytes } from "node:crypto";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const STRETCHES = 4; // without, with, without, with

// ---- the subscribers' process ------------------------------------------------------------------

function masked(payload) {
  const mask = randomBytes(4);
  const head = payload.length < 126
    ? Buffer.from([0x82, 0x80 | payload.length])
    : Buffer.from([0x82, 0xfe, payload.length >> 8, payload.length & 255]);
  return Buffer.concat([head, mask, payload.map((byte, i) => byte ^ mask[i & 3])]);
}

// One that says hello, subscribes, and counts bytes.
function subscriber(port, hello, subscribe, count) {
  const socket = createConnection({ host: "127.0.0.1", port });
  let open = false;
  socket.write("GET /ws HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n" +
    `Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ${randomBytes(16).toString("base64")}\r\n` +
    "Sec-WebSocket-Protocol: fogmarch\r\n\r\n");
  socket.on("data", (data) => {
    if (!open) {
      open = true;
      socket.write(Buffer.concat([masked(hello), masked(subscribe)]));
    }
    count(data.length);
  });
  socket.on("error", (error) => { throw error; });
}

function subscribers() {
  let bytes = 0;
  process.on("message", ({ port, number, hello, subscribe }) => {
    if (port === undefined) {
      process.send({ bytes });
      return;
    }
    for (let i = 0; i < number; i++) {
      subscriber(port, Buffer.from(hello), Buffer.from(subscribe), (size) => { bytes += size; });
    }
  });
}

// ---- the experiment ----------------------------------------------------------------------------

const sleep = (ms) => new Promise((done) => setTimeout(done, ms));

async function experiment(build, number, agentCount, seconds) {
  const library = pathToFileURL(join(build, "web-client/clients/js/dist/node.js")).href;
  const { connectTcp } = await import(library);
  const { encode } = await import(pathToFileURL(
    join(build, "web-client/clients/node_modules/@msgpack/msgpack/dist.esm/index.mjs")).href);
  const folder = mkdtempSync(join(tmpdir(), "fogmarch-"));
  const server = spawn(join(build, "bin/fogmarchd"), [
    "--listen", "127.0.0.1:0", "--port-file", join(folder, "port"), "--sessions-max", "2048",
    "--http", "127.0.0.1:0", "--http-port-file", join(folder, "http"), "--log-level", "error",
  ], { stdio: ["ignore", "ignore", "inherit"] });
  try {
    while (!existsSync(join(folder, "http")) || !existsSync(join(folder, "port"))) await sleep(50);
    const port = Number(readFileSync(join(folder, "port"), "utf8"));
    const http = Number(readFileSync(join(folder, "http"), "utf8"));
    const client = await connectTcp("127.0.0.1", port);
    const { world, bases } = await client.call("world.create", {
      name: "subscribers", generator: "skirmish", players: 2, seed: 1, planner: "auto" });
    const { team } = await client.call("team.create", { world });
    const cells = Array.from({ length: agentCount }, () => bases.slice(0, 2)).flat();
    const { agents } = await client.call("agent.spawn", { world, team, cells });
    for (let i = 0; i < agents.length; i += 100) { // there and back for ever, so all of them move
      await client.call("agent.order", { world, agents: agents.slice(i, i + 100), kind: "patrol",
                                         goal: bases.slice(2, 4) });
    }
    await sleep(10000); // until the first searches are done
    let child;
    const rows = [];
    for (let stretch = 0; stretch < STRETCHES; stretch++) {
      const subscribed = stretch % 2 === 1;
      if (subscribed) {
        child = fork(fileURLToPath(import.meta.url), ["--subscribers"]);
        child.send({ port: http, number, hello: [...encode([0, 1, "hello", [{ protocol: 1 }]])],
                     subscribe: [...encode([0, 2, "subscribe", [{ world, team }]])] });
        await sleep(3000);
      }
      const before = subscribed ? await bytesOf(child) : 0;
      await client.call("stats", { world, reset: true });
      await sleep(seconds * 1000);
      const { world: stats, server: whole } = await client.call("stats", { world });
      const after = subscribed ? await bytesOf(child) : 0;
      rows.push({ subscribers: subscribed ? number : 0, sessions: whole.sessions,
                  tick_ms: stats.tick_ms, moving: stats.states.moving,
                  bytes_per_client_second: Math.round((after - before) / number / seconds) });
      if (subscribed) {
        child.kill();
        await sleep(1000);
      }
    }
    client.close();
    const mean = (subscribed, share) => {
      const chosen = rows.filter((row) => (row.subscribers > 0) === subscribed);
      return chosen.reduce((sum, row) => sum + row.tick_ms[share], 0) / chosen.length;
    };
    console.log(JSON.stringify({
      agents: agentCount, subscribers: number, stretches: rows,
      p50_ratio: mean(true, "p50") / mean(false, "p50"),
      p99_ratio: mean(true, "p99") / mean(false, "p99"),
    }, null, 2));
  } finally {
    server.kill("SIGTERM");
    await new Promise((done) => server.on("exit", done));
    rmSync(folder, { recursive: true });
  }
}

function bytesOf(child) {
  return new Promise((done) => {
    child.once("message", ({ bytes }) => done(bytes));
    child.send({});
  });
}

if (process.argv[2] === "--subscribers") {
  subscribers();
} else {
  const [build = "build/release", number = "200", agents = "5000", seconds = "10"] =
    process.argv.slice(2);
  await experiment(resolve(build), Number(number), Number(agents), Number(seconds));
}
