// Both pages in Firefox: they draw, and the mouse selects, inspects and orders. What they do in detail is tested in
// Chromium.
//
// Firefox draws without a graphics card only on a display, so this test starts one that nobody sees.

import { spawn } from "node:child_process";
import puppeteer from "puppeteer-core";
import { assert, build, cellsAround, makeWorld, PATIENCE_MS, run, Server, until } from "./support.mjs";

// Xvfb chooses a free display and prints its number.
async function startDisplay() {
  const display = spawn("Xvfb", ["-displayfd", "3", "-screen", "0", "1400x900x24", "-nolisten", "tcp"],
                        { stdio: ["ignore", "ignore", "ignore", "pipe"] });
  process.on("exit", () => display.kill("SIGKILL"));
  let number = "";
  display.stdio[3].on("data", (data) => { number += data; });
  await until(() => number.endsWith("\n"), "a display");
  return { process: display, name: `:${number.trim()}` };
}

class Firefox {
  static async start() {
    const firefox = new Firefox();
    firefox.display = await startDisplay();
    firefox.errors = [];
    firefox.browser = await puppeteer.launch({
      browser: "firefox", executablePath: "/usr/bin/firefox-esr", headless: false,
      timeout: PATIENCE_MS, protocolTimeout: PATIENCE_MS,
      env: { ...process.env, DISPLAY: firefox.display.name, LIBGL_ALWAYS_SOFTWARE: "1" },
      extraPrefsFirefox: { "webgl.force-enabled": true, "layout.frame_rate": 10 },
    });
    return firefox;
  }

  async open(url) {
    const page = await this.browser.newPage();
    page.setDefaultTimeout(PATIENCE_MS);
    await page.setViewport({ width: 1280, height: 760 });
    page.on("pageerror", (error) => this.errors.push(error.stack));
    await page.goto(url);
    return page;
  }

  async stop() {
    await this.browser.close();
    this.display.process.kill("SIGTERM");
    assert.deepEqual(this.errors, []);
  }
}

// Where on the page the middle of a cell is, once two frames have it at the same place: a page that opens moves its parts.
async function placeOf(page, cell) {
  const look = () => page.evaluate(async (where) => {
    const { map } = window.fogmarch;
    const { frames } = map;
    while (map.frames < frames + 2) await new Promise(requestAnimationFrame);
    const { x, y } = map.pixelOfCell(where);
    const box = map.app.canvas.getBoundingClientRect();
    return { x: box.x + x, y: box.y + y };
  }, cell);
  let last = await look();
  return until(async () => {
    const before = last;
    last = await look();
    return before.x === last.x && before.y === last.y && last;
  }, "a map that stays where it is");
}

// Counts the colours in the map's canvas: a map that is drawn has many.
const coloursOf = (page) => page.evaluate(() => {
  const { map } = window.fogmarch;
  map.app.render();
  const copy = document.createElement("canvas");
  [copy.width, copy.height] = [100, 100];
  const context = copy.getContext("2d");
  context.drawImage(map.app.canvas, 0, 0, 100, 100);
  return new Set(new Uint32Array(context.getImageData(0, 0, 100, 100).data.buffer)).size;
});

async function stage() {
  const server = await Server.start();
  const admin = await server.connect();
  const { world, teams, bases } = await makeWorld(admin, { planner: "dstar-lite" });
  const base = bases.slice(0, 2);
  const { agents } = await admin.call("agent.spawn", { world, team: teams[0], cells: cellsAround(base, 9) });
  return { server, admin, world, teams, bases, base, agents, firefox: await Firefox.start() };
}

async function finish({ server, admin, firefox }) {
  await firefox.stop();
  admin.close();
  await server.stop();
}

async function debugPageShowsAnAgent() {
  const scene = await stage();
  const { admin, world, agents, bases, firefox } = scene;
  await admin.call("agent.order", { world, agents, kind: "move", goal: bases.slice(2, 4) });
  await admin.call("world.step", { world, ticks: 12 });
  const page = await firefox.open(scene.server.url());
  await until(() => page.evaluate(() => window.fogmarch?.view?.truth?.mirror?.agentCount === 9), "agents");
  const { cell } = await admin.call("debug.inspect", { world, agent: agents[4] });
  await page.evaluate(([x, y]) => window.fogmarch.map.centre({ x, y }, 24), cell);
  await until(async () => await coloursOf(page) > 3, "a map that is drawn");
  const at = await placeOf(page, { x: cell[0], y: cell[1] });
  await page.mouse.click(at.x, at.y);
  // Before an agent is shown the panel says how to choose one.
  let text;
  await until(async () => {
    text = await page.evaluate(() => document.querySelector("#agent-facts")?.innerText);
    return /dstar-lite/.test(text);
  }, () => `facts instead of: ${text}`);
  await page.screenshot({ path: `${build}/browser/screenshots/firefox-debug.png` });
  await finish(scene);
}

async function playPageOrders() {
  const scene = await stage();
  const { admin, world, teams, base, agents, firefox } = scene;
  const { token } = await admin.call("token.create", { role: "player", world, team: teams[0] });
  const page = await firefox.open(scene.server.url("play.html"));
  await page.type("input[name=token]", token);
  await page.click("#connection button");
  await page.waitForSelector("#minimap");
  await until(() => page.evaluate(() => window.fogmarch?.map?.frames > 2), "a map");
  const from = await placeOf(page, { x: base[0] - 4, y: base[1] - 4 });
  const to = await placeOf(page, { x: base[0] + 4, y: base[1] + 4 });
  await page.mouse.move(from.x, from.y);
  await page.mouse.down();
  await page.mouse.move(to.x, to.y, { steps: 4 });
  await page.mouse.up();
  await until(() => page.evaluate(() => document.querySelector("#selection")?.dataset.selected === "9"), "a box of nine");
  const goal = await placeOf(page, { x: base[0] + 10, y: base[1] });
  await page.mouse.click(goal.x, goal.y, { button: "right" });
  await until(async () => (await admin.call("debug.inspect", { world, agent: agents[0] })).order > 0, "an order");
  await admin.call("world.resume", { world });
  await until(async () => (await admin.call("debug.inspect", { world, agent: agents[0] })).moves > 3, "moves");
  await until(async () => await coloursOf(page) > 3, "a map that is drawn");
  await page.screenshot({ path: `${build}/browser/screenshots/firefox-play.png` });
  await finish(scene);
}

await run([debugPageShowsAnAgent, playPageOrders]);
