// debug.png and play.png: the pages of the web client in a match of two teams; see renew.

import { join } from "node:path";
import { Browser, clickCell, run, Server, until } from "./support.mjs";

const folder = process.argv.splice(3, 1)[0];

async function takePictures() {
  const server = await Server.start(["--planner", "dstar-lite"]);
  const admin = await server.connect();
  const { world, bases } = await admin.call("world.create", {
    name: "arena", generator: "skirmish", width: 160, height: 96, players: 2, seed: 4, tick_hz: 20,
    sense_radius: 8, occupancy: "exclusive",
  });
  const agents = [];
  for (let i = 0; i < 2; i++) {
    const { team } = await admin.call("team.create", { world });
    const [x, y] = bases.slice(2 * i, 2 * i + 2);
    const cells = Array.from({ length: 64 }, (_, n) => [x - 4 + (n % 8), y - 4 + (n >> 3)]).flat();
    agents.push((await admin.call("agent.spawn", { world, team, cells })).agents);
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
  await debug.locator("#explain").click();
  await debug.locator("#explanation p").waitFor();
  await debug.waitForTimeout(2500); // charts and costs
  await debug.screenshot({ path: join(folder, "debug.png") });
  const play = await browser.open(server.url(`play.html?world=${world}&team=1`));
  await play.locator("#minimap").waitFor();
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
