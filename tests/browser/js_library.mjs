// The JavaScript library in Node.js over TCP: its mirror, its errors, the end.

import { assert, cellsAround, fogmarch, makeWorld, run, Server, until } from "./support.mjs";

const { RequestError, ConnectionError, resume, subscribe } = fogmarch;

async function mirrorsShowWhatInspectSays() {
  const server = await Server.start();
  const client = await server.connect();
  const { world, teams, bases } = await makeWorld(client);
  const { agents } = await client.call("agent.spawn",
    { world, team: teams[0], cells: cellsAround(bases.slice(0, 2), 40) });
  const view = await subscribe(client, { world });
  await client.call("agent.order", { world, agents, kind: "move", goal: bases.slice(2, 4) });
  await client.call("world.step", { world, ticks: 30 });
  await client.call("agent.remove", { world, agents: agents.slice(0, 7) });
  await client.call("building.place", { world, team: teams[0], on_units: "push",
                                        rect: [bases[0] + 8, bases[1] + 8, 2, 3] });
  await client.call("world.step", { world, ticks: 1 });
  await until(() => view.mirror.tick === 31, "tick 31");
  assert.equal(view.mirror.agentCount, 33);
  for (const agent of agents.slice(7)) {
    const place = view.mirror.placeOf(agent);
    const { cell, team } = await client.call("debug.inspect", { world, agent });
    assert.deepEqual([view.mirror.xs[place], view.mirror.ys[place]], cell);
    assert.equal(view.mirror.teams[place], team);
    assert.equal(view.mirror.ids[place], agent);
  }
  assert.equal(view.mirror.placeOf(agents[0]), undefined);
  const [{ x, y, width, height }] = view.mirror.buildings;
  assert.deepEqual([x, y, width, height], [bases[0] + 8, bases[1] + 8, 2, 3]);
  const { cells, complete } = await client.call("path.query", { world, from: bases.slice(0, 2),
                                                                to: bases.slice(2, 4) });
  assert.ok(complete);
  for (let i = 0; i < cells.length; i += 2) {
    assert.equal(view.mirror.lookAt(cells[i], cells[i + 1]) & 15, 1, "a path over ground");
    assert.equal(view.mirror.terrainAt(cells[i], cells[i + 1]), "ground");
  }
  await view.end();
  client.close();
  await server.stop();
}

function seenFrom(mirror, team, radius) {
  const [left, top, width, height] = mirror.rect;
  const seen = new Uint8Array(width * height);
  for (let place = 0; place < mirror.agentCount; place++) {
    if (mirror.teams[place] === team) {
      const [x, y] = [mirror.xs[place] - left, mirror.ys[place] - top];
      for (let row = Math.max(0, y - radius); row < Math.min(height, y + radius + 1); row++) {
        seen.fill(1, row * width + Math.max(0, x - radius), row * width + Math.min(width, x + radius + 1));
      }
    }
  }
  return seen;
}

async function lostConnectionsGoOn() {
  const server = await Server.start();
  const admin = await server.connect();
  const { world, teams, bases } = await makeWorld(admin);
  const { agents } = await admin.call("agent.spawn",
    { world, team: teams[0], cells: cellsAround(bases.slice(0, 2), 20) });
  const { token } = await admin.call("token.create", { role: "player", world, team: teams[0] });
  const client = await server.connect({ token });
  const view = await subscribe(client, { world, sight: true });
  assert.equal(view.resumed, false);
  client.close();
  await admin.call("agent.order", { world, agents, kind: "move", goal: bases.slice(2, 4) });
  await admin.call("world.step", { world, ticks: 12 });
  const again = await server.connect({ resume: client.welcome.resume });
  assert.ok(again.welcome.resumed);
  assert.equal(again.welcome.role, "player");
  let keyframes = 0;
  again.on("keyframe", () => { keyframes++; });
  const went = await resume(again, { world, sight: true }, view);
  assert.ok(went.resumed && went.mirror === view.mirror);
  await until(() => went.mirror.tick === 12, "what was missed");
  assert.equal(keyframes, 0);
  const fresh = await subscribe(again, { world, sight: true });
  const places = (mirror) => Array.from(mirror.ids.subarray(0, mirror.agentCount),
                                        (id, i) => [id, mirror.xs[i], mirror.ys[i]]).sort();
  assert.deepEqual(places(went.mirror), places(fresh.mirror));
  assert.deepEqual(went.mirror.looks, fresh.mirror.looks);
  for (let tick = 13; tick < 30; tick++) { // after each tick the visible cells must be those that the units see
    await admin.call("world.step", { world, ticks: 1 });
    await until(() => went.mirror.tick === tick, `tick ${tick}`);
    const seen = seenFrom(went.mirror, teams[0], 5);
    assert.deepEqual(went.mirror.visible, seen);
    const [left, top, width] = went.mirror.rect;
    for (let i = 0; i < seen.length; i++) {
      const [x, y] = [left + i % width, top + Math.floor(i / width)];
      const [fog, look] = [went.mirror.fogAt(x, y), went.mirror.lookAt(x, y)];
      assert.equal(fog, seen[i] === 1 ? "visible" : look === 0 ? "hidden" : "explored");
      assert.equal(went.mirror.terrainAt(x, y), fogmarch.TERRAINS[look & 15]);
      assert.equal(went.mirror.costAt(x, y), (look >> 4) + 1);
    }
  }
  await fresh.end();
  await went.end();
  const forgotten = await resume(again, { world, sight: true }, went);
  assert.ok(!forgotten.resumed && keyframes === 2);
  again.close();
  admin.close();
  await server.stop();
}

async function largeMessagesComeInPieces() {
  const server = await Server.start();
  const client = await server.connect();
  const { world } = await client.call("world.create", { name: "large", generator: "random", width: 1024,
                                                        height: 1024, paused: true });
  const view = await subscribe(client, { world });
  assert.equal(view.mirror.looks.length, 1 << 20);
  assert.ok(view.mirror.looks.every((look) => look !== 0), "everything is shown");
  const pings = await Promise.all(Array.from({ length: 500 },
                                             (_, time) => client.call("ping", { time })));
  pings.forEach((pong, i) => assert.equal(pong.time, i));
  client.close();
  await server.stop();
}

async function errorsAndTheEnd() {
  const server = await Server.start([], { FOGMARCH_TOKEN: "correct-horse-battery" });
  await assert.rejects(server.connect({ token: "wrong-but-long-enough" }), RequestError);
  const client = await server.connect({ token: "correct-horse-battery" });
  await assert.rejects(client.call("world.info", { world: 9 }), (error) => {
    assert.ok(error instanceof RequestError);
    assert.equal(error.status, "no_world");
    return true;
  });
  const ended = new Promise((resolve) => client.onEnd(resolve));
  const warned = new Promise((resolve) => client.on("going_down", resolve));
  await server.stop();
  assert.ok((await warned).reason);
  assert.ok(await ended);
  await assert.rejects(client.call("ping", {}), ConnectionError);
  await assert.rejects(server.connect(), ConnectionError);
}

// A page has only WebSockets: this one never opens the first address, and refuses the others. Thirty seconds last 0.3 s.
async function theSecondNodeIsAskedWhereTheFirstIsSilent() {
  const { WebSocket: before, setTimeout: wait } = globalThis;
  const asked = [];
  globalThis.setTimeout = (does, ms, ...more) => wait(does, ms / 100, ...more);
  globalThis.WebSocket = class {
    constructor(url) {
      asked.push(url);
      if (asked.length > 1) {
        queueMicrotask(() => this.onerror());
      }
    }
    close() {}
  };
  const [first, second] = ["ws://127.0.0.1:1/ws", "ws://127.0.0.1:2/ws"];
  try {
    await assert.rejects(fogmarch.connect(first, { nodes: [second] }), ConnectionError);
  } finally {
    Object.assign(globalThis, { WebSocket: before, setTimeout: wait });
  }
  assert.deepEqual(asked, [first, second]);
}

await run([mirrorsShowWhatInspectSays, lostConnectionsGoOn, largeMessagesComeInPieces, errorsAndTheEnd,
           theSecondNodeIsAskedWhereTheFirstIsSilent]);
