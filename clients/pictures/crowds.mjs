// crowds.webp: how streams of units pass each other, on the debug page; see renew. Two teams change sides, in the north
// through a gate with rough walls, in the south over a bridge four cells wide.

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { Browser, run, Server, until } from "./support.mjs";
import { encode } from "./webp.mjs";

const folder = process.argv.splice(3, 1)[0];
const WIDTH = 52;
const NORTH = 20;    // rows; a wall of one row is behind them
const HEIGHT = 38;
const WALL = [20, 12]; // first column, and how many
const GATE = 10;       // cells
const BRIDGE = [28, 4]; // first row, and how many
const TICKS = 36;
const SCREEN = { viewport: { width: 1280, height: 900 }, deviceScaleFactor: 2 };
const STILL = [1024, 0.8]; // pixels wide, quality

function terrainAt(x, y) {
  const along = x - WALL[0];
  if (y === NORTH) {
    return "@";
  }
  if (along < 0 || along >= WALL[1]) {
    return ".";
  }
  if (y > NORTH) {
    return y >= BRIDGE[0] && y < BRIDGE[0] + BRIDGE[1] ? "." : "W";
  }
  const first = 3 + Math.floor(along / 3) + along % 2; // no two columns have the same walls
  return y >= first && y < first + GATE ? "." : "@";
}

// Both teams march `columns` columns of units, beginning at the row `first`, from their side to the other.
async function march(admin, world, teams, columns, first, rows) {
  for (const [i, team] of teams.entries()) {
    const at = (x) => (i === 0 ? x : WIDTH - 1 - x);
    const places = Array.from({ length: columns * rows }, (_, n) => [at(WALL[0] - 3 - Math.floor(n / rows)), first + n % rows]);
    const { agents } = await admin.call("agent.spawn", { world, team, cells: places.flat() });
    for (const [n, [x, y]] of places.entries()) {
      await admin.call("agent.order", { world, agents: [agents[n]], kind: "move", goal: [WIDTH - 1 - x, y] });
    }
  }
}

async function takePicture() {
  const server = await Server.start();
  const admin = await server.connect();
  const rows = Array.from({ length: HEIGHT }, (_, y) =>
    Array.from({ length: WIDTH }, (_, x) => terrainAt(x, y)).join(""));
  const map = new TextEncoder().encode(`type octile\nheight ${HEIGHT}\nwidth ${WIDTH}\nmap\n${rows.join("\n")}\n`);
  const { world } = await admin.call("world.create", { name: "streams", map, paused: true, omniscient: true,
                                                       occupancy: "exclusive" });
  const teams = [];
  for (let i = 0; i < 2; i++) {
    teams.push((await admin.call("team.create", { world })).team);
  }
  await march(admin, world, teams, 8, 3, 14);
  await march(admin, world, teams, 7, 23, 13);
  await admin.call("world.step", { world, ticks: TICKS });
  const browser = await Browser.start();
  const page = await browser.open(server.url(`#world=${world}`), undefined, SCREEN);
  await page.locator("#waits-all").check();
  await until(() => page.evaluate(() => window.fogmarch.view.waits.foundLanes.length > 0), "lanes");
  await page.evaluate(() => window.fogmarch.map.fit());
  await page.waitForTimeout(2500); // until all is drawn
  const encoder = await browser.browser.newPage();
  const clip = await page.evaluate(() => {
    const { map } = window.fogmarch;
    const { left, top } = document.querySelector("#map").getBoundingClientRect();
    const { width, height } = map.mapSize;
    const { x, y } = map.bounds;
    return { x: left - x * map.zoom, y: top - y * map.zoom, width: width * map.zoom, height: height * map.zoom };
  });
  writeFileSync(join(folder, "crowds.webp"), await encode(encoder, await page.screenshot({ clip }), ...STILL));
  await browser.stop();
  admin.close();
  await server.stop();
}

await run([takePicture]);
