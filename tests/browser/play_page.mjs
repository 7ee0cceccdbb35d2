// Two people play against each other, each with the token of a seat; the server sends neither the other's
// units before they are seen.

import { decodeMulti } from "@msgpack/msgpack";
import { assert, Browser, cellsAround, clickCell, makeWorld, run, Server, until } from "./support.mjs";

const TOKEN = "correct-horse-battery";
const SIGHT = 5;
const DRIFT_MAX = 1.25; // cells, the same as in common/straighten.ts

// Keeps every message that a page receives.
function capture(page, messages) {
  page.on("websocket", (socket) => {
    socket.on("framereceived", ({ payload }) => {
      for (const message of decodeMulti(payload)) messages.push(message);
    });
  });
}

async function twoSeats() {
  const server = await Server.start([], { FOGMARCH_TOKEN: TOKEN });
  const admin = await server.connect({ token: TOKEN });
  const { world, teams, bases } = await makeWorld(admin, { sense_radius: SIGHT });
  const browser = await Browser.start();
  const seats = [];
  for (let i = 0; i < 2; i++) {
    const base = bases.slice(2 * i, 2 * i + 2);
    const { agents } = await admin.call("agent.spawn",
                                        { world, team: teams[i], cells: cellsAround(base, 9) });
    const { token } = await admin.call("token.create", { role: "player", world, team: teams[i] });
    const messages = [];
    const page = await browser.open(server.url("play.html"), async (fresh) => capture(fresh, messages));
    await page.locator("input[name=token]").fill(token);
    await page.locator("#connection button").click();
    seats.push({ page, messages, base, agents, team: teams[i] });
  }
  for (const { page } of seats) {
    await page.locator("#minimap").waitFor();
    await until(async () => (await page.locator("#status").textContent()).includes("player"), "its role");
  }
  return { server, admin, world, browser, seats };
}

async function selectAll(page) {
  await page.locator("#map").focus();
  await page.keyboard.press("Control+a");
  await until(async () => (await page.locator("#selection").getAttribute("data-selected")) === "9",
              "a selection");
}

async function bothPlay() {
  const { server, admin, world, browser, seats } = await twoSeats();
  const places = [];
  for (const { page, base } of seats) {
    const from = await page.evaluate(([x, y]) => window.fogmarch.map.pixelOfCell({ x: x - 4, y: y - 4 }),
                                     base);
    const to = await page.evaluate(([x, y]) => window.fogmarch.map.pixelOfCell({ x: x + 4, y: y + 4 }),
                                   base);
    const box = await page.locator("#map canvas").boundingBox();
    await page.mouse.move(box.x + from.x, box.y + from.y);
    await page.mouse.down();
    await page.mouse.move(box.x + to.x, box.y + to.y, { steps: 4 });
    await page.mouse.up();
    await until(async () => (await page.locator("#selection").getAttribute("data-selected")) === "9",
                "a box of nine");
    await page.keyboard.press("Control+1");
    await page.keyboard.press("Escape");
    await clickCell(page, { x: base[0] + 12, y: base[1] }); // nobody there
    await page.keyboard.press("1");
    await until(async () => (await page.locator("#selection").getAttribute("data-selected")) === "9", "the group");
    places.push(base);
  }
  for (const { page, base } of seats) {
    const middle = { x: Math.round((base[0] + 64) / 2), y: Math.round((base[1] + 64) / 2) };
    await page.evaluate((cell) => window.fogmarch.map.centre(cell, 8), middle);
    await clickCell(page, middle, { button: "right" });
    await until(async () => (await page.locator("#problem").isVisible()) === false, "no problem");
  }
  await admin.call("world.resume", { world });
  await until(async () => {
    const report = await admin.call("debug.inspect", { world, agent: seats[0].agents[0] });
    return report.moves > 5;
  }, "moves");
  await browser.screenshot(seats[0].page, "play");
  await browser.stop();
  admin.close();
  await server.stop();
}

// Whenever a page is told of an agent of the other team, that agent must really be within sight of one of the
// page's own. The world is paused between steps, so that truth and view are of the same tick.
async function nobodySeesThroughFog() {
  const { server, admin, world, browser, seats } = await twoSeats();
  const goals = [seats[1].base, seats[0].base];
  for (const [i, { page }] of seats.entries()) {
    await selectAll(page);
    await page.evaluate(([x, y]) => window.fogmarch.map.centre({ x, y }, 8), goals[i]);
    await clickCell(page, { x: goals[i][0], y: goals[i][1] }, { button: "right" });
  }
  const orders = async () => {
    for (const { agents } of seats) {
      const { order } = await admin.call("debug.inspect", { world, agent: agents[0] });
      if (order === 0) return false;
    }
    return true;
  };
  await until(orders, "orders of both");
  const told = [new Map(), new Map()]; // by seat: foreign agents in view, name to cell
  const read = [0, 0];
  let meetings = 0;
  const drawn = { drift: 0, off: 0, slanted: 0, lost: 0 };
  for (let tick = 1; tick <= 120; tick++) {
    await admin.call("world.step", { world, ticks: 1 });
    const truth = [];
    for (const { agents } of seats) {
      truth.push(await Promise.all(agents.map(async (agent) =>
        (await admin.call("debug.inspect", { world, agent })).cell)));
    }
    for (const { page, messages } of seats) {
      await caughtUp(page, messages);
    }
    const now = await seats[0].page.evaluate(howOwnAreDrawn);
    drawn.drift = Math.max(drawn.drift, now.drift);
    for (const what of ["off", "slanted", "lost"]) drawn[what] += now[what];
    for (const [i, { messages, team }] of seats.entries()) {
      for (; read[i] < messages.length; read[i]++) {
        const message = messages[read[i]];
        if (message[0] === 2) follow(told[i], message[1], message[2][0], team);
      }
      for (const [x, y] of told[i].values()) {
        meetings++;
        assert.ok(truth[1 - i].some((cell) => cell[0] === x && cell[1] === y),
                  `seat ${i} was told of somebody at ${x}, ${y} in tick ${tick}, who is not there`);
        assert.ok(truth[i].some((own) => Math.max(Math.abs(own[0] - x), Math.abs(own[1] - y)) <= SIGHT),
                  `seat ${i} was told of ${x}, ${y} in tick ${tick}, out of its sight`);
      }
    }
  }
  assert.ok(meetings > 0, "the two never met: the test shows nothing");
  assert.ok(drawn.drift > 0 && drawn.drift <= DRIFT_MAX + 0.001, `drawn ${drawn.drift} cells off`);
  assert.ok(drawn.off > 0 && drawn.slanted > 0, `nobody is drawn on straight lines: ${JSON.stringify(drawn)}`);
  assert.equal(drawn.lost, 0, "who stands is drawn elsewhere");
  await browser.screenshot(seats[0].page, "meeting");
  await browser.stop();
  admin.close();
  await server.stop();
}

// About the seat's own units: the largest distance from its cell at which one is drawn, how many are off their cells,
// how many face none of the eight directions, and how many are off their cells without a waypoint.
function howOwnAreDrawn() {
  const { map, game } = window.fogmarch;
  const { mirror } = game.view;
  const { toX, toY, heading } = map.agents.glides;
  const found = { drift: 0, off: 0, slanted: 0, lost: 0 };
  for (let place = 0; place < mirror.agentCount; place++) {
    const slot = mirror.ids[place] % 2 ** 32;
    if (mirror.teams[place] !== game.team) continue;
    const drift = Math.hypot(toX[slot] - mirror.xs[place], toY[slot] - mirror.ys[place]);
    const eighths = heading[slot] / (Math.PI / 4);
    found.drift = Math.max(found.drift, drift);
    found.off += drift > 0.01;
    found.slanted += Math.abs(eighths - Math.round(eighths)) > 0.02;
    found.lost += drift > 0.01 && (mirror.motions.get(mirror.ids[place])?.waypoints ?? []).length === 0;
  }
  return found;
}

// Waits for an answer to the page: everything sent before it has then arrived.
async function caughtUp(page, messages) {
  const answers = () => messages.filter((message) => message[0] === 1).length;
  const before = answers();
  await page.evaluate(() => window.fogmarch.client.call("ping", {}));
  await until(() => answers() > before, "an answer");
}

// Applies the steps of a dense delta; skips own units, which this test does not track.
function step(told, steps) {
  const ids = new Map([...told.keys()].map((id) => [id % 2 ** 32, id]));
  const columns = [1, 1, 0, -1, -1, -1, 0, 1, 0];
  let at = 0;
  const number = () => {
    let sum = 0;
    for (let unit = 1; ; unit *= 128) {
      const byte = steps[at++];
      sum += (byte % 128) * unit;
      if (byte < 128) return sum;
    }
  };
  for (let place = 0; at < steps.length;) {
    const head = steps[at++];
    const direction = head % 16;
    place += 1 + (head >> 5) + (head >> 5 === 7 ? number() : 0);
    const id = ids.get(place);
    const elsewhere = direction === 9 ? [number(), number()] : undefined;
    at += head & 16 ? 1 : 0;
    if (id === undefined) continue;
    const [x, y] = told.get(id);
    told.set(id, elsewhere ?? [x + columns[direction], y + (direction < 8 ? columns[(direction + 6) % 8] : 0)]);
  }
}

function follow(told, method, params, team) {
  const enter = (list) => {
    for (let i = 0; i + 4 < list.length; i += 5) {
      if (list[i + 1] !== team) told.set(list[i], [list[i + 2], list[i + 3]]);
    }
  };
  if (method === "keyframe") {
    told.clear();
    enter(params.agents);
  } else if (method === "delta") {
    for (let i = 0; i + 1 < (params.leave ?? []).length; i += 2) told.delete(params.leave[i]);
    enter(params.enter ?? []);
    step(told, params.steps ?? []);
  }
}

// A user faster than the page: its scripts arrive late, and the form is filled in at once.
async function theFormWaitsForThePage() {
  const server = await Server.start([], { FOGMARCH_TOKEN: TOKEN });
  const admin = await server.connect({ token: TOKEN });
  const { world, teams } = await makeWorld(admin);
  const { token } = await admin.call("token.create", { role: "player", world, team: teams[0] });
  const browser = await Browser.start();
  const page = await browser.open("about:blank");
  await page.route("**/*.js", async (route) => {
    await new Promise((resolve) => setTimeout(resolve, 1000));
    await route.continue();
  });
  await page.goto(server.url("play.html"), { waitUntil: "commit" });
  await page.locator("input[name=token]").fill(token);
  await page.locator("#connection button").click();
  await page.locator("#minimap").waitFor();
  assert.equal(new URL(page.url()).search, "", "the token has nothing to do in the address");
  await browser.stop();
  admin.close();
  await server.stop();
}

async function withoutGraphicsItSaysSo() {
  const server = await Server.start();
  const admin = await server.connect();
  await makeWorld(admin);
  const browser = await Browser.start();
  const page = await browser.open(server.url("play.html"), (fresh) => fresh.addInitScript(() => {
    const whole = HTMLCanvasElement.prototype.getContext;
    HTMLCanvasElement.prototype.getContext = function getContext(kind, ...options) {
      return kind.startsWith("webgl") ? null : whole.call(this, kind, ...options);
    };
    OffscreenCanvas.prototype.getContext = () => null;
  }));
  await until(async () => (await page.locator("#problem").textContent()).includes("WebGL"), "words");
  await browser.stop();
  admin.close();
  await server.stop();
}

// A server that is frozen keeps its connections: the page says that nothing comes, and goes on when something does.
async function saysThatTheServerIsSilent() {
  const { server, admin, browser, seats } = await twoSeats();
  const { page } = seats[0];
  const status = page.locator("#status");
  await until(async () => /connected to fogmarchd/.test(await status.textContent()), "the server");
  server.process.kill("SIGSTOP");
  await until(async () => /^the server has not answered for \d+ s$/.test(await status.textContent()), "silence");
  await browser.screenshot(page, "silent");
  server.process.kill("SIGCONT");
  await until(async () => /connected to fogmarchd/.test(await status.textContent()), "the server again");
  await browser.stop();
  admin.close();
  await server.stop();
}

async function comesBackToTheSameSeat() {
  const { server, admin, browser, seats } = await twoSeats();
  const { page, team } = seats[1];
  await page.reload();
  await page.locator("#minimap").waitFor();
  await until(async () => (await page.locator("#right").textContent()).includes(`Team ${team}`), "its team");
  await browser.stop();
  admin.close();
  await server.stop();
}

await run([theFormWaitsForThePage, withoutGraphicsItSaysSo, bothPlay, nobodySeesThroughFog, saysThatTheServerIsSilent,
           comesBackToTheSameSeat]);
