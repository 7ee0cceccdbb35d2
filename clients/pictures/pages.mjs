// debug.webp, play.webp, march.webp: the pages of the web client in a match of two teams, and in motion, with a battle
// of ten thousand; see renew.

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { Browser, run, Server, until } from "./support.mjs";
import { animate, encode } from "./webp.mjs";

const folder = process.argv.splice(3, 1)[0];
const SCREEN = { viewport: { width: 1280, height: 800 } };
const STILL = [1120, 0.72];  // pixels wide, quality
const MOVING = [640, 0.5];
const FRAME_MS = 140;

let encoder; // an empty page, because the server's pages may not load pictures from elsewhere

async function write(name, png) {
  writeFileSync(join(folder, name), await encode(encoder, png, ...STILL));
}

// A square of units that stand `apart` cells from each other.
async function block(admin, world, team, [x, y], side, kind = undefined, apart = 1) {
  const at = (n) => Math.floor((n - (side - 1) / 2) * apart);
  const cells = Array.from({ length: side * side }, (_, n) =>
    [x + at(n % side), y + at(Math.floor(n / side))]).flat();
  const { agents } = await admin.call("agent.spawn", { world, team, cells, place: "nearest",
                                                       ...(kind === undefined ? {} : { class: kind }) });
  return agents;
}

async function matchOfTwo(server, admin, browser, frames) {
  const { world, bases } = await admin.call("world.create", {
    name: "arena", generator: "skirmish", width: 160, height: 96, players: 2, seed: 4, tick_hz: 10,
    sense_radius: 8, occupancy: "exclusive", players_build: 40, paused: true,
    classes: "walker:ground=1,swamp=2;boat:water=1;hover:ground=1,swamp=1,water=1",
  });
  const agents = [];
  const places = [bases.slice(0, 2), bases.slice(2, 4)];
  for (const [x, y] of places) {
    const { team } = await admin.call("team.create", { world });
    await admin.call("terrain.set", { world, set: "water", rects: [x + 7, y - 4, 7, 8, x + 8, y - 6, 4, 12] });
    agents.push(await block(admin, world, team, [x, y], 6, "walker", 2));
    agents.at(-1).push(...await block(admin, world, team, [x - 6, y], 3, "hover"));
    await block(admin, world, team, [x + 10, y], 3, "boat");
  }
  for (let i = 0; i < 2; i++) {
    await admin.call("agent.order", { world, agents: agents[i], kind: "move", goal: places[1 - i],
                                      formation: "keep" });
  }
  await admin.call("world.step", { world, ticks: 12 });
  const play = await browser.open(server.url(`play.html?world=${world}&team=1`), undefined, SCREEN);
  await play.locator("#minimap").waitFor();
  await play.locator("#guide button").click();
  await play.locator("#map").focus();
  await play.keyboard.press("Control+a");
  const tick = async () => {
    await admin.call("world.step", { world, ticks: 1 });
    const { tick: now } = await admin.call("world.info", { world });
    await until(() => play.evaluate((t) => window.fogmarch.game.view.mirror.tick >= t, now), "a tick");
  };
  const look = async () => {
    await play.evaluate(() => {
      const { map, game } = window.fogmarch;
      map.centre(game.selection.middle(), 17);
    });
  };
  await look();
  const goal = places[1];
  await play.evaluate(async ([x, y]) => window.fogmarch.game.send("move", { x, y }), goal);
  for (let i = 0; i < 30; i++) {
    await tick();
    if (i % 2 === 0) {
      await look();
      await play.waitForTimeout(250); // until they have glided there
      frames.push(await play.screenshot());
    }
  }
  await play.waitForTimeout(400);
  await write("play.webp", await play.screenshot());

  await admin.call("agent.planner", { world, agents: agents[0], planner: "dstar-lite" });
  await admin.call("world.step", { world, ticks: 6 });
  const debug = await browser.open(server.url(`#world=${world}&team=1&agent=${agents[0][20]}&overlay=g`), undefined,
                                   SCREEN);
  await until(() => debug.evaluate(() => window.fogmarch?.view?.inspector.overlay.count > 0), "a search");
  await debug.locator("[data-tab=compare]").click();
  await debug.locator("input[name=planners]").fill("dstar-lite mpgaa-star adaptive-astar astar");
  await debug.locator("#compare").click();
  await debug.locator("#comparison tr[data-planner]").first().waitFor();
  await debug.waitForTimeout(2500); // until all is drawn
  await write("debug.webp", await debug.screenshot());
  await admin.call("world.destroy", { world });
  await play.context().close();
  await debug.context().close();
}

// Four armies of 2,500 march on the middle.
async function battle(server, admin, browser, frames) {
  const { world, bases } = await admin.call("world.create", {
    name: "battle", generator: "skirmish", width: 400, height: 250, players: 4, seed: 11, tick_hz: 10,
    sense_radius: 8, paused: true, budget_ms: 1000, agents_max: 10000,
  });
  for (let i = 0; i < 4; i++) {
    const { team } = await admin.call("team.create", { world });
    const agents = await block(admin, world, team, bases.slice(2 * i, 2 * i + 2), 50);
    await admin.call("agent.order", { world, agents, kind: "move", goal: [200, 125], spread: true });
  }
  await admin.call("world.step", { world, ticks: 20 });
  const page = await browser.open(server.url(`#world=${world}`), undefined, SCREEN);
  await until(() => page.evaluate(() => window.fogmarch?.view?.truth?.mirror.agentCount === 10000), "armies");
  await page.evaluate(() => window.fogmarch.map.fit());
  for (let i = 0; i < 16; i++) {
    await admin.call("world.step", { world, ticks: 6 });
    const { tick } = await admin.call("world.info", { world });
    await until(() => page.evaluate((t) => window.fogmarch.view.truth.mirror.tick >= t, tick), "a tick");
    await page.waitForTimeout(400);
    frames.push(await page.screenshot());
  }
}

async function takePictures() {
  const server = await Server.start();
  const admin = await server.connect();
  const browser = await Browser.start();
  encoder = await browser.browser.newPage();
  const frames = [];
  await matchOfTwo(server, admin, browser, frames);
  await battle(server, admin, browser, frames);
  const small = [];
  for (const png of frames) {
    small.push([await encode(encoder, png, ...MOVING), FRAME_MS]);
  }
  writeFileSync(join(folder, "march.webp"), animate(small));
  await browser.stop();
  admin.close();
  await server.stop();
}

await run([takePictures]);
