// debug.png and play.png: the pages of the web client in a match of two teams; see renew.

import { join } from "node:path";
import { Browser, clickCell, run, Server, until } from "./support.mjs";

const folder = process.argv.splice(3, 1)[0];

async function takePictures() {
  const server = await Server.start(["--planner", "dstar-lite"]);
  const admin = await server.connect();
  const { world, bases } = await admin.call("world.create", {
    name: "arena", generator: "skirmish", width: 160, height: 96, players: 2, seed: 4, tick_hz: 20,
    sense_radius: 8, occupancy: "exclusive", players_build: 40,
    classes: "walker:ground=1,swamp=2;hover:ground=1,swamp=1,water=1;giant:size=2,ground=1",
  });
  const agents = [];
  for (let i = 0; i < 2; i++) {
    const { team } = await admin.call("team.create", { world });
    const [x, y] = bases.slice(2 * i, 2 * i + 2);
    const cells = Array.from({ length: 64 }, (_, n) => [x - 4 + (n % 8), y - 4 + (n >> 3)]).flat();
    agents.push((await admin.call("agent.spawn", { world, team, cells })).agents);
    for (const [kind, dy] of [["hover", -8], ["giant", 8]]) {
      const others = Array.from({ length: 6 }, (_, n) => [x - 6 + 2 * n, y + dy]).flat();
      await admin.call("agent.spawn", { world, team, class: kind, cells: others, place: "nearest" });
    }
  }
  for (let i = 0; i < 2; i++) {
    const goal = bases.slice(2 - 2 * i, 4 - 2 * i);
    await admin.call("agent.order", { world, agents: agents[i], kind: "move", goal,
                                      formation: "keep" });
  }
  await until(async () => (await admin.call("world.info", { world })).tick >= 55, "a march");
  await admin.call("world.pause", { world });
  const browser = await Browser.start();
  const debug = await browser.open(server.url(`#world=${world}&team=1&agent=${agents[0][27]}&overlay=g`));
  await until(() => debug.evaluate(() => window.fogmarch?.view?.inspector.overlay.count > 0), "a search");
  await debug.evaluate(() => window.fogmarch.map.fit());
  await debug.locator("[data-tab=compare]").click();
  await debug.locator("input[name=planners]").fill("dstar-lite repeated-jps adaptive-astar astar");
  await debug.locator("#compare").click();
  await debug.locator("#comparison tr[data-planner]").first().waitFor();
  await debug.waitForTimeout(2500); // until all is drawn
  await debug.screenshot({ path: join(folder, "debug.png") });
  const play = await browser.open(server.url(`play.html?world=${world}&team=1`));
  await play.locator("#minimap").waitFor();
  const [baseX, baseY] = bases;
  await admin.call("building.place", { world, team: 1, rect: [baseX + 6, baseY - 5, 1, 9],
                                       on_units: "push" });
  await play.locator("#map").focus();
  await play.keyboard.press("a");
  await play.keyboard.press("c");
  const { cell } = await admin.call("debug.inspect", { world, agent: agents[0][27] });
  await play.evaluate(([x, y]) => window.fogmarch.map.centre({ x, y }, 11), cell);
  await clickCell(play, { x: cell[0] + 14, y: cell[1] + 6 }, { button: "right" });
  await admin.call("world.step", { world, ticks: 3 });
  await play.waitForTimeout(400);
  await play.screenshot({ path: join(folder, "play.png") });
  await browser.stop();
  admin.close();
  await server.stop();
}

await run([takePictures]);
