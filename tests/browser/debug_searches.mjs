// Searches on the debug page: shown live while a search is suspended and goes on tick by tick; every
// overlay; planners compared side by side; exports for other programs.

import { readFileSync } from "node:fs";
import { decodeMulti } from "@msgpack/msgpack";
import {
  assert, Browser, cellsAround, clickCell, colourAt, factsOf, makeWorld, run, Server, until,
} from "./support.mjs";

async function stage(options, ticks = 0) {
  const server = await Server.start();
  const admin = await server.connect();
  const { world, teams, bases } = await makeWorld(admin, options);
  const { agents } = await admin.call("agent.spawn",
    { world, team: teams[0], cells: cellsAround(bases.slice(0, 2), 4) });
  await admin.call("agent.order", { world, agents, kind: "move", goal: bases.slice(2, 4) });
  await admin.call("world.step", { world, ticks: Math.max(1, ticks) });
  const browser = await Browser.start();
  return { server, admin, world, teams, bases, agents, browser };
}

async function end({ server, admin, browser }) {
  await browser.stop();
  admin.close();
  await server.stop();
}

const number = (text) => Number(text.replaceAll(",", ""));

// With a small budget a search through a large maze takes many ticks, and the page shows each.
async function aSuspendedSearchIsLive() {
  const side = 701;
  const server = await Server.start();
  const admin = await server.connect();
  const { world } = await admin.call("world.create", {
    name: "maze", generator: "maze", width: side, height: side, walls_removed: 100, seed: 7, paused: true,
    budget_ms: 0.4, omniscient: true, planner: "repeated-forward-astar",
  });
  const { team } = await admin.call("team.create", { world });
  const { agents } = await admin.call("agent.spawn", { world, team, cells: [1, 1] });
  await admin.call("agent.order", { world, agents, kind: "move", goal: [side - 2, side - 2] });
  await until(async () => { // on a busy machine the budget may run out before the search has begun
    await admin.call("world.step", { world, ticks: 1 });
    return (await admin.call("debug.inspect", { world, agent: agents[0] })).expansions > 0;
  }, "a search that has begun");
  const browser = await Browser.start();
  const set = { server, admin, browser };
  const sent = [];
  const page = await browser.open(server.url(`#agent=${agents[0]}&world=${world}&overlay=state`),
    async (fresh) => fresh.on("websocket", (socket) => socket.on("framesent", ({ payload }) => {
      for (const message of decodeMulti(payload)) sent.push(message[2]);
    })));
  await until(() => page.evaluate(() => window.fogmarch?.view?.inspector.overlay.count > 0), "a search");
  await page.evaluate(() => window.fogmarch.map.fit());
  const asked = () => sent.filter((method) => method === "debug.inspect").length;
  let quiet = asked();
  await until(async () => { // while the map moves, the page asks again and again
    const before = quiet;
    await page.waitForTimeout(500);
    const waits = await page.evaluate(async () => {
      const { map, view: { inspector } } = window.fogmarch;
      const { frames } = map;
      while (map.frames < frames + 2) await new Promise(requestAnimationFrame);
      return inspector.moved !== undefined; // it will ask
    });
    quiet = asked();
    return quiet === before && !waits;
  }, "a map that stands still");
  const closed = new Set();
  const { rect } = await page.evaluate(() => window.fogmarch.view.inspector.trace.wanted);
  let { tick } = await admin.call("world.info", { world });
  while (closed.size < 5) {
    await page.locator("#step").click();
    tick++;
    let truth, facts;
    await until(async () => {
      const info = await admin.call("world.info", { world });
      truth = await admin.call("debug.inspect", { world, agent: agents[0], rect });
      facts = await factsOf(page);
      return info.tick === tick && number(facts["expansions"]) === truth.expansions;
    }, () => `the numbers of tick ${tick}: ${truth.expansions} expansions, shown ${facts["expansions"]}`);
    assert.equal(facts["plan"], "running");
    assert.equal(number(facts["closed"]), truth.closed);
    assert.equal(number(facts["open"]), truth.open);
    const cells = Array.from({ length: truth.search.length / 6 }, (_, i) => truth.search[i * 6 + 2]);
    await until(() => page.evaluate((count) => window.fogmarch.view.inspector.overlay.count === count,
                                    cells.length), "its cells");
    const legend = await page.locator("#legend").textContent();
    assert.match(legend, new RegExp(`${cells.filter((flags) => flags & 2).length} closed`));
    closed.add(truth.closed);
  }
  assert.equal(asked(), quiet, "after the first look everything came through debug.subscribe");
  assert.ok(await page.evaluate(() => window.fogmarch.view.inspector.trace.received) >= 5);
  await browser.screenshot(page, "suspended");
  await end(set);
}

// A cell of the search on the open list, or closed, off the path.
function findCell(inspect, flag, fits = () => true) {
  for (let i = 0; i < inspect.search.length; i += 6) {
    const [x, y, flags] = inspect.search.slice(i, i + 3);
    const onPath = inspect.path.some((value, j) => j % 2 === 0 && Math.abs(value - x) < 2 &&
                                                  Math.abs(inspect.path[j + 1] - y) < 2);
    if (flags & flag && !onPath && fits(i / 6)) return { x, y };
  }
  assert.fail("no such cell in the search");
}

async function everyOverlay() {
  const set = await stage({ planner: "lss-lrta-star:lookahead=60" }, 8);
  const { server, admin, world, agents, browser } = set;
  const [agent] = agents;
  const { cell } = await admin.call("debug.inspect", { world, agent });
  const rect = [cell[0] - 9, cell[1] - 9, 18, 18];
  const inspect = await admin.call("debug.inspect",
                                   { world, agent, rect, channels: "report path search details" });
  const open = findCell(inspect, 1);
  const page = await browser.open(server.url(
    `#agent=${agent}&world=${world}&at=${open.x + 0.5},${open.y + 0.5},24`));
  await page.locator("#agent-facts dt").first().waitFor();
  const plain = await colourAt(page, open);
  const shown = {};
  for (const overlay of ["state", "open", "closed", "g", "h", "rhs", "f", "key", "learned", "parents"]) {
    await page.locator("#overlay").selectOption(overlay);
    await until(() => page.evaluate((wanted) => {
      const { inspector } = window.fogmarch.view;
      return inspector.overlayName === wanted && inspector.overlay.count > 0 &&
             inspector.last.search !== undefined &&
             (!["key", "learned", "parents"].includes(wanted) || inspector.last.details !== undefined);
    }, overlay), overlay);
    shown[overlay] = await colourAt(page, open);
    if (overlay === "closed") {
      assert.deepEqual(shown.closed, plain, "an open cell is not among the closed ones");
    } else {
      assert.notDeepEqual(shown[overlay], plain, `${overlay} is drawn`);
    }
    if (overlay === "parents") await browser.screenshot(page, "parents");
  }
  assert.deepEqual(shown.open, shown.state);
  assert.match(await page.locator("#legend").textContent(), /parent/);
  // Cells show numbers when there is room for them.
  for (const overlay of ["key", "learned"]) {
    await page.locator("#overlay").selectOption(overlay);
    await page.evaluate((at) => window.fogmarch.map.centre(at, 60), open);
    await until(() => page.evaluate(
      () => window.fogmarch.view.inspector.overlay.numbers.children.length > 0), overlay);
    const texts = await page.evaluate(() => Object.fromEntries(
      window.fogmarch.view.inspector.overlay.numbers.children.map((label) =>
        [`${Math.floor(label.position.x)},${Math.floor(label.position.y)}`, label.text])));
    let compared = 0;
    for (let i = 0; i < inspect.search.length / 6; i++) {
      const [x, y, flags] = inspect.search.slice(i * 6, i * 6 + 3);
      const [upper, lower, , , learned] = inspect.details.slice(i * 5, i * 5 + 5);
      const text = texts[`${x},${y}`];
      if (text === undefined) continue;
      const wanted = overlay === "learned" ? `${learned}` : !(flags & 1) ? "-"
        : upper > 0 ? `${upper}\n${lower}` : `${lower}`;
      assert.equal(text, wanted, `${overlay} of ${x}, ${y}`);
      compared++;
    }
    assert.ok(compared > 0);
    await browser.screenshot(page, overlay);
  }
  await panningKeepsTheTextures(page, open);
  await end(set);
}

// Labels and fonts of an earlier drawing must not stay on the graphics card.
async function panningKeepsTheTextures(page, { x, y }) {
  const pan = (rounds) => page.evaluate(async ([column, row, count]) => {
    const { map, view } = window.fogmarch;
    const frame = () => new Promise((resolve) => requestAnimationFrame(resolve));
    let written = 0;
    for (let round = 0; round < count; round++) {
      map.centre({ x: column + round % 4, y: row + round % 3 }, 60);
      view.inspector.draw(view.inspector.last);
      await frame();
      written += view.inspector.overlay.numbers.children.length;
    }
    return { written, textures: map.app.renderer.texture.managedTextures.filter(Boolean).length };
  }, [x, y, rounds]);
  const { textures } = await pan(8);
  const after = await pan(60);
  assert.ok(after.written > 60, "numbers were drawn");
  assert.ok(after.textures <= textures + 1, `${textures} textures, then ${after.textures}`);
}

async function plannersSideBySide() {
  const set = await stage({ planner: "dstar-lite" }, 4);
  const { server, admin, world, agents, browser } = set;
  const [agent] = agents;
  const page = await browser.open(server.url(`#agent=${agent}&world=${world}`));
  await page.locator("#agent-facts dt").first().waitFor();
  await page.locator("[data-tab=compare]").click();
  const planners = ["dstar-lite", "repeated-jps", "adaptive-astar", "tba-star:lookahead=50"];
  await page.locator("input[name=planners]").fill(planners.join(" "));
  await page.locator("#compare").click();
  const { answers } = await admin.call("debug.compare", { world, agent, planners: planners.join(" ") });
  await until(async () => await page.locator("#comparison tr[data-planner]").count() === 4, "four rows");
  for (const answer of answers) {
    const row = page.locator(`#comparison tr[data-planner="${answer.planner}"]`);
    const [, reason, cost, , expansions, us] = await row.locator("td").allTextContents();
    assert.equal(reason, answer.reason);
    assert.equal(number(cost.replace(" *", "")), answer.cost);
    assert.equal(number(expansions.replace(" *", "")), answer.expansions);
    assert.ok(number(us.replace(" *", "")) > 0, "microseconds");
  }
  const best = Math.min(...answers.map(({ expansions }) => expansions));
  const marked = await page.locator("#comparison td.least:nth-child(5)").allTextContents();
  assert.ok(marked.length > 0 && marked.every((text) => number(text.replace(" *", "")) === best));
  // Where one number is marked, one that is written alike is marked, too.
  for (let column = 3; column <= 9; column++) {
    const texts = await page.locator(`#comparison td:nth-child(${column})`).allTextContents();
    assert.ok(texts.every((text) => text.endsWith("*") || !texts.includes(`${text} *`)), texts.join("; "));
  }
  // The cells of one search are shown on the map, and removed again.
  const cells = page.locator('#comparison tr[data-planner="dstar-lite"] button').first();
  await cells.click();
  await until(() => page.evaluate(() => window.fogmarch.view.compare.search.count > 100), "its cells");
  await browser.screenshot(page, "compare");
  await cells.click();
  await until(() => page.evaluate(() => window.fogmarch.view.compare.search.count === 0), "no cells");
  // Another planner is chosen for the agent.
  await page.locator('#comparison tr[data-planner="repeated-jps"] button', { hasText: "use" }).click();
  await until(async () => (await admin.call("debug.inspect", { world, agent })).planner ===
                          "repeated-jps", "another planner");
  await until(async () => (await factsOf(page))["planner"] === "repeated-jps", "its name");
  await page.locator("#step").click();
  const now = await until(async () => {
    const report = await admin.call("debug.inspect", { world, agent });
    return report.moves === 5 && report;
  }, "a step");
  await until(async () => number((await factsOf(page))["expansions"]) === now.expansions, "its numbers");
  // An unknown planner gives an error message.
  await page.locator("input[name=planners]").fill("teleport");
  await page.locator("#compare").click();
  await until(async () => (await page.locator("#problem").textContent()).includes("teleport"), "words");
  await end(set);
}

// A planner that cannot work by the world's rules is listed, with the reason.
async function anUnfitPlannerIsExplained() {
  const set = await stage({ planner: "dstar-lite", neighbours: 4 });
  const page = await set.browser.open(set.server.url(`#agent=${set.agents[0]}&world=${set.world}`));
  await page.locator("#agent-facts dt").first().waitFor();
  await page.locator("[data-tab=compare]").click();
  for (const [planners, unfit] of [["dstar-lite repeated-jps", true], ["dstar-lite astar", false]]) {
    await page.locator("input[name=planners]").fill(planners);
    await page.locator("#compare").click();
    await page.locator(`#comparison tr[data-planner=${planners.split(" ")[1]}]`).waitFor();
    const text = await page.locator(".compare:visible").textContent();
    assert.equal(text.includes("Unfit: it cannot work by this world's rules"), unfit, text);
  }
  await end(set);
}

async function saved(page, button) {
  const [download] = await Promise.all([page.waitForEvent("download"), page.locator(button).click()]);
  return { name: download.suggestedFilename(), text: readFileSync(await download.path(), "utf8") };
}

async function otherProgramsCanOpenIt() {
  const set = await stage({ planner: "adaptive-astar" }, 3);
  const { server, admin, world, agents, browser } = set;
  const page = await browser.open(server.url(`#agent=${agents[0]}&world=${world}&overlay=g`));
  await until(() => page.evaluate(() => window.fogmarch?.view?.inspector.overlay.count > 0), "a search");
  const trace = await saved(page, "#save-trace");
  assert.equal(trace.name, `agent-${agents[0]}.trace.yaml`);
  const events = trace.text.split("\n").filter((line) => line.startsWith("  - {")).map((line) => {
    const entry = /type: (\w+), id: "(\d+,\d+)", x: (\d+), y: (\d+)(?:, pId: "(\d+,\d+)")?/.exec(line);
    assert.ok(entry, line);
    return { type: entry[1], id: entry[2], pId: entry[5] };
  });
  assert.match(trace.text, /^version: "1\.4\.0"\n/);
  assert.deepEqual(events.slice(0, 2).map(({ type }) => type), ["source", "destination"]);
  const types = new Set(events.slice(2).map(({ type }) => type));
  for (const type of types) assert.ok(["expanding", "generating", "updating"].includes(type), type);
  assert.ok(types.has("expanding") && types.has("generating"));
  const ids = new Set(events.map(({ id }) => id));
  const children = events.filter(({ pId }) => pId !== undefined);
  assert.ok(children.length > events.length / 2, "most have a parent");
  assert.ok(children.every(({ pId }) => ids.has(pId)), "and it is in the trace");

  await page.locator("#record").click();
  const before = await Promise.all(agents.map((agent) => admin.call("debug.inspect", { world, agent })));
  for (let tick = 0; tick < 25; tick++) await admin.call("world.step", { world, ticks: 1 });
  const after = await Promise.all(agents.map((agent) => admin.call("debug.inspect", { world, agent })));
  await until(async () => Number(await page.locator("#clock").getAttribute("data-tick")) === 28, "tick 28");
  const plan = JSON.parse((await saved(page, "#record")).text);
  assert.equal(plan.version, "2023 LoRR");
  assert.deepEqual([plan.actionModel, plan.teamSize, plan.makespan], ["MAPF", agents.length, 50]);
  assert.equal(plan.events.length, agents.length);
  // PlanViz's rules: U and D are rows down and up; there are no letters but these.
  const steps = { U: [0, 1], D: [0, -1], L: [-1, 0], R: [1, 0], W: [0, 0] };
  agents.forEach((agent, i) => {
    let [y, x] = plan.start[i];
    assert.deepEqual([x, y], before[i].cell);
    for (const letter of plan.actualPaths[i].split(",")) {
      assert.ok(letter in steps, `a letter that PlanViz knows, not ${letter}`);
      x += steps[letter][0];
      y += steps[letter][1];
    }
    assert.deepEqual([x, y], after[i].cell, `agent ${agent} ends where it is`);
  });
  assert.ok(plan.actualPaths.some((path) => /[LR],[UD]/.test(path)), "somebody went diagonally");
  const map = await saved(page, "#save-map");
  assert.match(map.text, /^type octile\nheight 128\nwidth 128\nmap\n[.@T]{128}\n/);
  assert.equal(map.text.trimEnd().split("\n").length, 128 + 4);
  await end(set);
}

await run([aSuspendedSearchIsLive, everyOverlay, plannersSideBySide, anUnfitPlannerIsExplained,
           otherProgramsCanOpenIt]);
