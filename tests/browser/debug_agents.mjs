// Agents on the debug page: one is followed, two are compared, who waits for whom is drawn and listed, and a
// link restores exactly what was shown.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { assert, Browser, makeWorld, run, Server, until } from "./support.mjs";

// In a corridor one cell wide the first agent holds and the others queue behind it.
async function theQueue() {
  const journals = mkdtempSync(join(tmpdir(), "fogmarch-journals-"));
  const server = await Server.start(["--journal-dir", journals]);
  const admin = await server.connect();
  const { world } = await makeWorld(admin, { generator: "open", width: 64, height: 32, occupancy: "exclusive",
                                             planner: "dstar-lite" });
  await admin.call("terrain.set", { world, set: "blocked", rects: [4, 14, 56, 1, 4, 16, 56, 1, 60, 14, 1, 3] });
  const { agents } = await admin.call("agent.spawn", { world, team: 1, cells: [30, 15, 29, 15, 28, 15, 10, 15] });
  await admin.call("agent.order", { world, agents: [agents[0]], kind: "hold" });
  await admin.call("agent.order", { world, agents: agents.slice(1), kind: "move", goal: [50, 15],
                                    on_unreachable: "wait" });
  await admin.call("world.step", { world, ticks: 4 });
  const browser = await Browser.start();
  const page = await browser.open(server.url(`#world=${world}&agent=${agents[2]}&overlay=g`));
  await until(async () => (await page.locator("#agent-facts dt").count()) > 0, "an agent");

  // Who waits for whom.
  const chain = agents.slice(0, 3).reverse().join(" waits for ");
  await until(async () => (await page.locator("#waits").textContent()).startsWith(chain), "a chain");
  await page.locator("#waits-all").check();
  await until(() => page.evaluate(([one, two]) => window.fogmarch.view.waits.found.some(([from, to]) =>
    from === one && to === two), [agents[1], agents[0]]), "an arrow for another one");

  // The world is paused, and an empty chart says so.
  const empty = page.locator("[data-chart='ms per tick'] .empty");
  await until(async () => (await empty.textContent()).includes("has not ticked"), "words in place of lines");

  // Two agents compared.
  await page.locator("[data-tab=pair]").click();
  await page.locator("#keep").click();
  await until(async () => (await page.locator("#paired").textContent()).includes("nobody"), "one is kept");
  assert.equal(await page.locator("#pair tr").count(), 2, "nothing is compared with itself");
  await page.locator("input[name=agent]").fill(String(agents[3]));
  await page.getByRole("button", { name: "find" }).click();
  await until(async () => (await page.locator("#pair tr").count()) === 3, "two rows");
  const ids = await page.locator("#pair tr td:first-child").allTextContents();
  assert.deepEqual(ids, [String(agents[2]), String(agents[3])]);
  assert.ok(await page.locator("#pair td.least").count() > 0, "something differs");

  // The view follows the walking agent until the user pans.
  await page.locator("#map").focus();
  await page.keyboard.press("f");
  await admin.call("world.step", { world, ticks: 8 });
  const far = () => page.evaluate((agent) => {
    const { map, view } = window.fogmarch;
    const { mirror } = view.truth;
    const at = map.agents.positionOf(mirror, mirror.placeOf(agent));
    return Math.hypot(map.middle.x - at.x, map.middle.y - at.y) + (mirror.tick < 12 ? 99 : 0);
  }, agents[3]);
  await until(async () => (await far()) < 0.5, "it is in the middle");
  await page.keyboard.press("ArrowDown");
  await until(async () => (await page.locator("#follow").getAttribute("aria-pressed")) === "false", "no more");

  await until(async () => !(await empty.isVisible()), "lines instead of that");

  // A link that is opened after the world has gone on still shows this tick.
  await page.evaluate(() => Object.defineProperty(navigator, "clipboard", { value: { writeText: async () => {} } }));
  await page.locator("#copy-link").click();
  await until(async () => (await page.locator("#copy-link").textContent()) === "link copied", "a link");
  const link = await page.locator("#exact-link").inputValue();
  await admin.call("world.step", { world, ticks: 9 });
  const other = await browser.open(link);
  await until(async () => (await other.locator("#replay-tick").getAttribute("data-tick").catch(() => "")) === "12" &&
    (await other.locator("#agent-facts dd").first().textContent()) === String(agents[3]), "that tick, that agent");
  assert.equal(await other.locator("#overlay").inputValue(), "g");
  await other.locator("[data-tab=pair]").click();
  await until(async () => (await other.locator("#pair tr").count()) === 3, "and the one beside it");
  await browser.screenshot(other, "exact");
  await other.context().close();

  // Nobody gets past the first agent: the others are stuck, which is drawn, counted and explained.
  // They go back for each other now and then, and one that moves does not count.
  for (let stuck = 0, steps = 0; stuck < 3; steps++) {
    assert.ok(steps < 200, "they are never all stuck");
    await admin.call("world.step", { world, ticks: 16 });
    ({ stuck } = await admin.call("debug.jams", { world }));
  }
  await until(() => page.evaluate((ids) => String(window.fogmarch.view.waits.foundStuck) === String(ids),
                                  agents.slice(1).sort((a, b) => a - b)), "three who are stuck");
  await until(async () => (await page.locator("#waits").textContent()).includes("3 are stuck"), "their number");
  await page.locator("#next-stuck").click();
  await page.locator("#explain").click();
  await until(async () => (await page.locator("#explanation").textContent()).includes("it is stuck"), "in words");
  await browser.stop();
  admin.close();
  await server.stop();
  rmSync(journals, { recursive: true });
}

// A large unit in a pass, and many small ones that want past it: it is let through, and the page shows who stands
// for it. The same press as in tests/core/crowd/test_escorts.c.
async function thePress() {
  const server = await Server.start([]);
  const admin = await server.connect();
  const rows = [...Array(5).fill(".".repeat(14)), ...Array(5).fill("@@@@@...@@@@@@"), "@@@@@@.@@@@@@@",
                ...Array(4).fill(".".repeat(14))];
  const map = new TextEncoder().encode(`type octile\nheight 15\nwidth 14\nmap\n${rows.join("\n")}\n`);
  const { world } = await admin.call("world.create", { name: "press", paused: true, omniscient: true, map,
                                                       occupancy: "exclusive",
                                                       classes: "one:size=1,ground=1;three:size=3,ground=1" });
  await admin.call("team.create", { world });
  const places = Array.from({ length: 42 }, (_, i) => [i % 14, Math.floor(i / 14)]);
  const { agents } = await admin.call("agent.spawn", { world, team: 1,
                                                       cells: places.flatMap(([x, y]) => [x, 4 - y]) });
  const { agents: [large] } = await admin.call("agent.spawn", { world, team: 1, cells: [5, 6], class: "three" });
  for (const [i, [x, y]] of places.entries()) {
    await admin.call("agent.order", { world, agents: [agents[i]], kind: "move", goal: [13 - x, 11 + y] });
  }
  await admin.call("agent.order", { world, agents: [large], kind: "move", goal: [0, 0] });
  while ((await admin.call("debug.jams", { world })).escorts.length === 0) {
    await admin.call("world.step", { world, ticks: 1 });
  }
  const [escort] = (await admin.call("debug.jams", { world })).escorts;
  const browser = await Browser.start();
  const page = await browser.open(server.url(`#world=${world}&agent=${escort.stands[0]}`));
  await page.locator("#waits-all").check();
  await until(() => page.evaluate((expected) => JSON.stringify(window.fogmarch.view.waits.foundEscorts) === expected,
                                  JSON.stringify([[large, escort.stands]])), "who stands for whom");
  await until(async () => (await page.locator("#waits").textContent()).includes("1 is let through a press"), "a number");
  await page.locator("#explain").click();
  await until(async () => (await page.locator("#explanation").textContent()).includes(
    `it stands so that another gets through: agent ${large}`), "in words");
  await browser.screenshot(page, "press");
  await browser.stop();
  admin.close();
  await server.stop();
}

// Two crowds of a team change sides over a bridge two cells wide: the page frames it.
async function theBridge() {
  const server = await Server.start([]);
  const admin = await server.connect();
  const rows = Array.from({ length: 13 }, (_, y) => ".".repeat(12) + (y === 6 || y === 5 ? "." : "@").repeat(14) + ".".repeat(12));
  const map = new TextEncoder().encode(`type octile\nheight 13\nwidth 38\nmap\n${rows.join("\n")}\n`);
  const { world } = await admin.call("world.create", { name: "bridge", paused: true, omniscient: true, map,
                                                       occupancy: "exclusive" });
  await admin.call("team.create", { world });
  const places = Array.from({ length: 60 }, (_, i) => [Math.floor(i / 13), i % 13]);
  for (const [from, to] of [[([x]) => 11 - x, ([x]) => 26 + x], [([x]) => 26 + x, ([x]) => 11 - x]]) {
    const { agents } = await admin.call("agent.spawn", { world, team: 1,
                                                         cells: places.flatMap((at) => [from(at), at[1]]) });
    for (const [i, at] of places.entries()) {
      await admin.call("agent.order", { world, agents: [agents[i]], kind: "move", goal: [to(at), at[1]] });
    }
  }
  const isOpen = async () => (await admin.call("debug.jams", { world })).lanes.some(({ open }) => open);
  for (let tick = 0; !(await isOpen()); tick++) {
    assert.ok(tick < 400, "no lanes");
    await admin.call("world.step", { world, ticks: 1 });
  }
  const explained = await Promise.all(Array.from({ length: 120 }, (_, i) =>
    admin.call("debug.explain", { world, agent: i + 1 })));
  const kept = explained.find(({ lanes_to }) => lanes_to === "east");
  const browser = await Browser.start();
  const page = await browser.open(server.url(`#world=${world}&agent=${kept.agent}`));
  await page.locator("#waits-all").check();
  await until(() => page.evaluate(() => JSON.stringify(window.fogmarch.view.waits.foundLanes) === "[[12,5,14,2]]"),
              "the passage");
  await until(async () => (await page.locator("#waits").textContent()).includes("1 passage has lanes"), "a number");
  await page.locator("#explain").click();
  await until(async () => (await page.locator("#explanation").textContent()).includes(
    "it keeps to the lanes of the passage at 12, 5, to the east"), "in words");
  await browser.screenshot(page, "bridge");
  await browser.stop();
  admin.close();
  await server.stop();
}

// The ring around the selected agent is as large as the agent, and goes with it. What there is none of is said in words.
async function aLargeAgent() {
  const server = await Server.start();
  const admin = await server.connect();
  const { world } = await makeWorld(admin, { generator: "open", width: 48, height: 48, occupancy: "exclusive",
                                             classes: "walker:ground=1;tank:size=3,ground=1" });
  const { agents: [tank] } = await admin.call("agent.spawn", { world, team: 1, class: "tank", cells: [20, 20] });
  const browser = await Browser.start();
  const page = await browser.open(server.url(`#world=${world}&agent=${tank}`));
  await until(async () => (await page.locator("#agent-facts dt").count()) > 0, "an agent");
  const ring = () => page.evaluate(() => {
    const { minX, maxX, minY, maxY } = window.fogmarch.map.marks.getLocalBounds();
    return { x: (minX + maxX) / 2, y: (minY + maxY) / 2, width: maxX - minX };
  });
  await until(async () => {
    const { x, y, width } = await ring();
    return Math.hypot(x - 21.5, y - 21.5) < 0.1 && width > 3;
  }, "a ring around all of it");
  await admin.call("agent.order", { world, agents: [tank], kind: "move", goal: [30, 20] });
  await admin.call("world.step", { world, ticks: 40 });
  await until(async () => Math.hypot((await ring()).x - 31.5, (await ring()).y - 21.5) < 0.1, "the ring went with it");
  await page.locator("[role=tab]", { hasText: "Compare planners" }).click();
  await page.getByRole("button", { name: "compare", exact: true }).click();
  await until(async () => /has no goal: give it an order/.test(await page.locator("#problem").textContent()), "a sentence");
  await page.locator("[role=tab]", { hasText: "Costs" }).click();
  await page.locator("#top-by").selectOption("planners");
  await until(async () => /there is no search/.test(await page.locator("#top").textContent()), "words in an empty list");
  await browser.stop();
  admin.close();
  await server.stop();
}

// Two teams walk into each other in a field: the page marks those that keep to the right.
async function theField() {
  const server = await Server.start([]);
  const admin = await server.connect();
  const { world } = await admin.call("world.create", { name: "field", paused: true, omniscient: true, width: 40,
                                                       height: 20, generator: "open", occupancy: "exclusive" });
  const sides = [];
  for (const [begin, end] of [[8, 24], [24, 8]]) {
    const { team } = await admin.call("team.create", { world });
    const places = Array.from({ length: 48 }, (_, i) => [i % 8, 6 + Math.floor(i / 8)]);
    const { agents } = await admin.call("agent.spawn", { world, team, cells: places.flatMap(([x, y]) => [begin + x, y]) });
    sides.push(agents);
    for (const [i, [x, y]] of places.entries()) {
      await admin.call("agent.order", { world, agents: [agents[i]], kind: "move", goal: [end + x, y] });
    }
  }
  let passing = [];
  for (let tick = 0; passing.length < 3; tick++) {
    assert.ok(tick < 100, "nobody passes");
    await admin.call("world.step", { world, ticks: 1 });
    ({ passing } = await admin.call("debug.jams", { world }));
  }
  const browser = await Browser.start();
  const page = await browser.open(server.url(`#world=${world}&agent=${passing[0]}`));
  await page.locator("#waits-all").check();
  await until(() => page.evaluate((ids) => JSON.stringify(window.fogmarch.view.waits.foundMeetings[0]) === ids,
                                  JSON.stringify(passing)), "those that pass");
  const words = new RegExp(`${passing.length} keep to the right \\(violet\\)`);
  await until(async () => words.test(await page.locator("#waits").textContent()), "how many they are");
  await page.locator("#explain").click();
  await until(async () => /it keeps to the right until tick \d+, to pass units of team 2/.test(
    await page.locator("#explanation").textContent()), "in words");
  await browser.screenshot(page, "field");
  await browser.stop();
  admin.close();
  await server.stop();
}

await run([theQueue, aLargeAgent, thePress, theBridge, theField]);
