// A match on the play page: created there, played by two seats with units of three classes and buildings,
// also with the keyboard alone, and continued after the server is restarted.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { assert, Browser, cellsAround, clickCell, freePorts, makeWorld, run, Server, until } from "./support.mjs";

const TOKEN = "correct-horse-battery";
const SEAT = "battery-staple-correct";

const selected = (page) => page.locator("#selection").getAttribute("data-selected");
const chosen = (page) => page.locator("#selection").getAttribute("data-chosen");

async function drag(page, from, to) {
  const [a, b] = await page.evaluate(([one, two]) => [window.fogmarch.map.pixelOfCell(one),
                                                      window.fogmarch.map.pixelOfCell(two)], [from, to]);
  const box = await page.locator("#map canvas").boundingBox();
  await page.mouse.move(box.x + a.x, box.y + a.y);
  await page.mouse.down();
  await page.mouse.move(box.x + b.x, box.y + b.y, { steps: 5 });
  await page.mouse.up();
}

// The cells that the page says its team sees.
const seen = (page) => page.evaluate(() => {
  const { mirror } = window.fogmarch.game.view;
  return { buildings: mirror.buildings, tick: mirror.tick,
           agents: Array.from({ length: mirror.agentCount }, (_, i) => ({
             id: mirror.ids[i], team: mirror.teams[i], x: mirror.xs[i], y: mirror.ys[i],
             kind: mirror.classes[i], terrain: mirror.lookAt(mirror.xs[i], mirror.ys[i]) & 15 })) };
});

// A corner of free ground that the page's team sees now, with room for two walls.
const siteNear = (page, { id }) => page.evaluate((unit) => {
  const { mirror } = window.fogmarch.game.view;
  const place = mirror.placeOf(unit);
  const [left, top] = [mirror.xs[place], mirror.ys[place]];
  const isFree = (x, y) => (mirror.lookAt(x, y) & 15) === 1 &&
    ![...mirror.xs.slice(0, mirror.agentCount)].some((at, i) => at === x && mirror.ys[i] === y);
  for (let y = top - 7; y <= top + 4; y++) {
    for (let x = left - 7; x <= left + 3; x++) {
      let free = 0;
      for (let i = 0; i < 5 * 4; i++) free += isFree(x + (i % 5), y + Math.floor(i / 5));
      if (free === 5 * 4) return { x, y };
    }
  }
  return undefined;
}, id);

async function aMatchBegunOnThePage() {
  const server = await Server.start();
  const admin = await server.connect();
  const browser = await Browser.start();
  const host = await browser.open(server.url("play.html"));
  await host.locator("input[name=units]").fill("12");
  await host.locator("input[name=seed]").fill("5");
  await host.locator("#host").click();
  await until(async () => await host.locator("#seats a").count() === 2, "two seats");
  const links = await host.locator("#seats a").evaluateAll((all) => all.map((one) => one.href));
  await host.context().close();
  const pages = [];
  for (const [i, link] of links.entries()) {
    const page = await browser.open(link);
    await page.locator("#minimap").waitFor();
    assert.equal(new URL(page.url()).hash, "", "the token does not stay in the address");
    await until(async () => (await page.locator("#status").textContent()).includes("as player"), "its role");
    await until(async () => (await page.locator("#right").textContent()).includes(`Team ${i + 1}`), "its team");
    await until(async () => (await seen(page)).agents.length === 12, "units");
    pages.push(page);
  }
  const [page, other] = pages;
  const kinds = (await seen(page)).agents.map(({ kind }) => kind).sort();
  assert.deepEqual(kinds, [0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2], "three classes");
  assert.equal((await seen(page)).agents.filter(({ kind, terrain }) => kind === 1 && terrain === 5).length,
               4, "boats are on water");

  // A double click selects units of the same kind.
  const start = (await seen(page)).agents;
  const hover = start.find(({ kind }) => kind === 2);
  const at = await page.evaluate((cell) => window.fogmarch.map.pixelOfCell(cell), hover);
  await until(async () => { // on a busy machine the second click may come too late to make a double click
    await page.locator("#map canvas").dblclick({ position: at });
    const isDone = await chosen(page) === "0,0,4";
    if (!isDone) await page.waitForTimeout(500); // or the next click would be the third
    return isDone;
  }, "the hovers");

  // The keyboard alone: select the units around the screen's middle and send them elsewhere.
  const walker = start.find(({ kind }) => kind === 0);
  await page.locator("#map").focus();
  await page.evaluate(({ x, y }) => window.fogmarch.map.centre({ x: x + 0.5, y: y + 0.5 }, 10), walker);
  await page.keyboard.press("Escape");
  await page.keyboard.press("x");
  await until(async () => Number(await selected(page)) >= 8, "walkers and hovers");
  for (let i = 0; i < 1; i++) await page.keyboard.press("ArrowDown"); // 8 cells
  await page.keyboard.press("m");
  const moved = await until(async () => {
    const now = (await seen(page)).agents.find(({ id }) => id === walker.id);
    return (now.x !== walker.x || now.y !== walker.y) && now;
  }, "a walker that goes where the cross is");
  assert.ok(Math.abs(moved.y - walker.y) <= 9);

  // A wall by mouse, then one by keyboard. The other player sees neither.
  await until(async () => (await seen(page)).agents.every(({ id }) => id) &&
    await page.evaluate(() => window.fogmarch.game.view.mirror.states.slice(0, 12).every((s) => s !== 1)),
              "everybody stands");
  const cell = await siteNear(page, walker);
  assert.ok(cell, "free ground for a wall");
  await page.evaluate(({ x, y }) => window.fogmarch.map.centre({ x, y }, 12), cell);
  await page.keyboard.press("b");
  await drag(page, cell, { x: cell.x, y: cell.y + 3 });
  const [wall] = await until(async () => {
    const { buildings } = await seen(page);
    return buildings.length === 1 && buildings;
  }, "a wall");
  assert.deepEqual([wall.team, wall.x, wall.y, wall.width, wall.height], [1, cell.x, cell.y, 1, 4]);
  await page.evaluate(({ x, y }) => window.fogmarch.map.centre({ x: x + 2.5, y: y + 0.5 }, 12), cell);
  await page.keyboard.press("Enter");
  await page.evaluate(({ x, y }) => window.fogmarch.map.centre({ x: x + 4.5, y: y + 0.5 }, 12), cell);
  await page.keyboard.press("Enter");
  await until(async () => (await seen(page)).buildings.some(({ x, width }) =>
    x === cell.x + 2 && width === 3), "a wall by the keyboard");
  await until(async () => (await page.locator("#selection").textContent()).includes("2 of 40"), "how many there are");
  assert.equal((await seen(other)).buildings.length, 0);
  await browser.screenshot(page, "match");

  // Nothing can be built out of sight, and the page says so.
  await page.keyboard.press("Escape");
  await page.keyboard.press("n");
  const far = { x: 159 - walker.x, y: 159 - walker.y };
  await page.evaluate(({ x, y }) => window.fogmarch.map.centre({ x, y }, 12), far);
  await drag(page, far, { x: far.x + 1, y: far.y + 1 });
  await until(async () => (await page.locator("#problem").textContent()).includes("must see all of the ground"),
              "a refusal");
  // The walls are removed again.
  await page.evaluate(({ x, y }) => window.fogmarch.map.centre({ x, y }, 12), cell);
  await page.keyboard.press("t");
  await clickCell(page, cell);
  await until(async () => (await seen(page)).buildings.length === 1, "one wall less");
  await until(async () => !await page.locator("#problem").isVisible(), "no refusal any more"); // goes with the answer
  await browser.stop();
  admin.close();
  await server.stop();
}

// Queued orders, patrols and groups, compared with the server's data.
async function ordersInARow() {
  const server = await Server.start();
  const admin = await server.connect();
  const { world, teams, bases } = await makeWorld(admin);
  const [x, y] = bases;
  const { agents } = await admin.call("agent.spawn", { world, team: teams[0], cells: cellsAround([x, y], 4) });
  const browser = await Browser.start();
  const page = await browser.open(server.url(`play.html?world=${world}&team=1`));
  await page.locator("#minimap").waitFor();
  await page.locator("#map").focus();
  await page.keyboard.press("Control+a");
  await until(async () => await selected(page) === "4", "a selection");
  await page.keyboard.press("Control+3");
  await clickCell(page, { x: x + 6, y }, { button: "right" });
  await clickCell(page, { x: x + 6, y: y + 4 }, { button: "right", modifiers: ["Shift"] });
  await page.keyboard.press("p");
  await clickCell(page, { x: x - 4, y: y + 4 }, { modifiers: ["Shift"] });
  await until(async () => {
    const report = await admin.call("debug.inspect", { world, agent: agents[0] });
    return report.kind === "move" && report.queue_kinds.join() === "move,patrol";
  }, "a move, a move and a patrol");
  // After a reload the page gets all of it from the server again, with the cells of the path.
  await page.reload();
  await page.locator("#minimap").waitFor();
  await page.locator("#map").focus();
  await page.keyboard.press("3");
  await until(async () => await selected(page) === "4", "group 3, which survives");
  await until(() => page.evaluate((agent) => window.fogmarch.game.plans.of(agent).map(({ kind }) => kind).join() ===
    "move,move,patrol", agents[0]), "its orders");
  await admin.call("world.step", { world, ticks: 2 });
  await until(() => page.evaluate(([agent, goal]) => {
    const { plans, view: { mirror } } = window.fogmarch.game;
    const place = mirror.placeOf(agent);
    return plans.path(agent, mirror.xs[place], mirror.ys[place]).length >= 2 && plans.of(agent)[0].x >= goal - 2;
  }, [agents[0], x + 6]), "its path");
  await clickCell(page, { x: x + 12, y: y + 6 }); // nobody there
  await until(async () => await selected(page) === "0", "nobody");
  await page.keyboard.press("3");
  await until(async () => await selected(page) === "4", "group 3");
  // One queued order is cancelled by its button, and the last one by a key.
  const kinds = (agent) => admin.call("debug.inspect", { world, agent })
    .then(({ kind, queue_kinds, order }) => [...(order === 0 ? [] : [kind]), ...queue_kinds].join());
  await until(async () => (await page.locator("#queue li").allTextContents()).length === 3, "three lines");
  await page.locator("#queue button").nth(1).click();
  await until(async () => (await Promise.all(agents.map(kinds))).every((now) => now === "move,patrol"), "one less");
  await until(async () => (await page.locator("#queue li").allTextContents()).length === 2, "two lines");
  await page.locator("#map").focus();
  await page.keyboard.press("Backspace");
  await until(async () => (await kinds(agents[0])) === "move", "the last one less");
  await page.keyboard.press("s");
  await until(async () => (await Promise.all(agents.map(kinds))).every((now) => now === ""), "no orders");

  // A patrol over three points, while Shift is held.
  await page.keyboard.press("p");
  await page.keyboard.down("Shift");
  for (const [dx, dy] of [[-3, 3], [3, 3], [3, -3]]) await clickCell(page, { x: x + dx, y: y + dy });
  await until(async () => (await page.locator("#tip").textContent()).includes("3 points"), "three points");
  await page.keyboard.up("Shift");
  await until(async () => (await kinds(agents[0])) === "patrol", "a patrol");
  await page.keyboard.press("s");
  await theyStopForAnEnemy({ page, admin, world, agents, x, y });
  await browser.stop();
  admin.close();
  await server.stop();
}

// An attack-move: the units stop, the news say where, and they go on when told; then one follows the enemy.
// The tag that the game has given a unit can be read.
async function theyStopForAnEnemy({ page, admin, world, agents, x, y }) {
  const near = { world, team: 2, cells: [x + 12, y + 2], place: "nearest" };
  const { agents: [enemy] } = await admin.call("agent.spawn", near);
  const tag = new TextEncoder().encode("scout \u00e9");
  await admin.call("agent.set", { world, agents: [agents[0]], tag });
  await page.keyboard.press("a");
  await clickCell(page, { x: x + 12, y: y + 2 });
  await until(async () => (await admin.call("debug.inspect", { world, agent: agents[0] })).kind === "move", "an order");
  await admin.call("world.step", { world, ticks: 20 });
  const line = page.locator("#news li", { hasText: "stopped for an enemy" }).first();
  await line.waitFor();
  const alerted = async () => (await admin.call("agent.report", { world, agents })).agents.filter((one) => one.alerted);
  const stopped = (await alerted()).length;
  assert.ok(stopped > 0, "somebody stopped");
  await until(async () => (await page.locator("#go-on").textContent()).includes(String(stopped)), "a number");
  const button = line.getByRole("button", { name: "go on" });
  await page.evaluate(() => window.fogmarch.map.centre({ x: 64, y: 64 }));
  await line.locator("button").first().click();
  const there = await page.evaluate(() => window.fogmarch.map.middle);
  assert.ok(Math.hypot(there.x - x - 12, there.y - y - 2) < 8, "the news lead to the enemy");
  await button.click();
  await until(async () => (await alerted()).length < stopped, "they go on");
  await page.locator("#map").focus();
  await page.keyboard.press("Control+a");
  await page.keyboard.press("f");
  const at = await page.evaluate(() => {
    const { mirror } = window.fogmarch.game.view;
    const place = mirror.teams.slice(0, mirror.agentCount).indexOf(2);
    return { x: mirror.xs[place], y: mirror.ys[place] };
  });
  await clickCell(page, at);
  await until(async () => {
    const { kind, target } = await admin.call("debug.inspect", { world, agent: agents[0] });
    return kind === "follow" && target === enemy;
  }, "it follows");
  await page.evaluate((agent) => window.fogmarch.game.selection.chooseThese([agent]), agents[0]);
  await until(async () => (await page.locator("#selection").textContent()).includes("scout \u00e9"), "its tag");
  await until(() => page.evaluate((agent) => {
    const { map, game: { selection } } = window.fogmarch;
    map.centre(selection.middle(), 20);
    return map.tags.shown.includes(agent);
  }, agents[0]), "its tag on the map");
}

async function theSeatIsThereAfterARestart() {
  const journals = mkdtempSync(join(tmpdir(), "fogmarch-journals-"));
  const environment = { FOGMARCH_TOKENS: `admin ${TOKEN};player arena 1 ${SEAT}` };
  const ports = await freePorts(2);
  let server = await Server.start(["--journal-dir", journals], environment, ports);
  let admin = await server.connect({ token: TOKEN });
  const { world, teams, bases } = await makeWorld(admin);
  await admin.call("agent.spawn", { world, team: teams[0], cells: cellsAround(bases.slice(0, 2), 9) });
  await admin.call("world.step", { world, ticks: 3 });
  admin.close();
  const browser = await Browser.start();
  const page = await browser.open(server.url(`play.html#seat=${SEAT}`));
  await page.locator("#minimap").waitFor();
  await page.locator("#map").focus();
  await page.keyboard.press("Control+a");
  await until(async () => await selected(page) === "9", "nine units");
  await page.keyboard.press("Control+2");
  await page.evaluate(([x, y]) => window.fogmarch.map.centre({ x: x + 3, y: y + 2 }, 17), bases);
  const before = await seen(page);
  await server.stop();
  await until(async () => /^Connection lost: no server answers at .*Trying again/.test(
    await page.locator("#problem").textContent()), "a loss, also when the page has tried again");
  server = await Server.start(["--journal-dir", journals], environment, ports);
  await until(async () => (await page.locator("#status").textContent()).includes("as player"), "a seat");
  await until(() => page.evaluate((tick) => window.fogmarch.game?.view.mirror.tick >= tick &&
                                            window.fogmarch.game.view.mirror.agentCount === 9, before.tick),
              "the units");
  assert.equal(await page.locator("#problem").isVisible(), false);
  assert.deepEqual((await seen(page)).agents, before.agents, "as they stood, by the same names");
  assert.equal(await page.evaluate(() => window.fogmarch.map.zoom), 17, "where one looked");
  await until(async () => await selected(page) === "9", "the selected units of before");
  await page.evaluate(() => window.fogmarch.game.selection.chooseNone());
  await page.locator("#map").focus();
  await page.keyboard.press("2");
  await until(async () => await selected(page) === "9", "the group of before");
  // When the world ends the page says so, and the seat waits for another world of that name.
  admin = await server.connect({ token: TOKEN });
  const [{ world: again }] = (await admin.call("world.list", {})).worlds;
  await admin.call("world.destroy", { world: again });
  await until(async () => (await page.locator("#problem").textContent()).includes("Waiting for it"), "words");
  const fresh = await makeWorld(admin);
  await admin.call("agent.spawn", { world: fresh.world, team: 1, cells: bases.slice(0, 2) });
  await admin.call("world.step", { world: fresh.world, ticks: 1 });
  await until(() => page.evaluate(() => window.fogmarch.game?.view.mirror.agentCount === 1), "a new match");
  await browser.stop();
  admin.close();
  await server.stop();
  rmSync(journals, { recursive: true });
}

await run([aMatchBegunOnThePage, ordersInARow, theSeatIsThereAfterARestart]);
