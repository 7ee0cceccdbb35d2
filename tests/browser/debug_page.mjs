// The debug page shows the server's data, and its buttons work.

import { decode, encode } from "@msgpack/msgpack";
import {
  assert, Browser, cellsAround, clickCell, colourAt, factsOf, freePorts, makeWorld, run, Server, until,
} from "./support.mjs";

async function stage() {
  const server = await Server.start();
  const admin = await server.connect();
  const { world, teams, bases } = await makeWorld(admin, { planner: "dstar-lite" });
  const base = bases.slice(0, 2);
  const { agents } = await admin.call("agent.spawn",
                                      { world, team: teams[0], cells: cellsAround(base, 9) });
  await admin.call("agent.order", { world, agents, kind: "move", goal: bases.slice(2, 4) });
  const browser = await Browser.start();
  return { server, admin, world, teams, bases, agents, browser };
}

const tickOf = async (page) => Number(await page.locator("#clock").getAttribute("data-tick"));

async function agentsMove() {
  const { server, admin, world, browser } = await stage();
  const page = await browser.open(server.url());
  await page.locator("#worlds button", { hasText: "arena" }).waitFor();
  const places = () => page.evaluate(() => {
    const mirror = window.fogmarch?.view?.truth?.mirror;
    return mirror ? [...mirror.xs.slice(0, mirror.agentCount)].join() : "";
  });
  const before = await until(places, "agents");
  await admin.call("world.resume", { world });
  await until(async () => (await places()) !== before, "agents that move");
  assert.ok((await tickOf(page)) > 0);
  await browser.screenshot(page, "debug");
  await browser.stop();
  admin.close();
  await server.stop();
}

async function numbersAreThoseOfInspect() {
  const { server, admin, world, agents, browser } = await stage();
  await admin.call("world.step", { world, ticks: 12 });
  const page = await browser.open(server.url());
  const { cell } = await admin.call("debug.inspect", { world, agent: agents[4] });
  await until(() => page.evaluate(() => window.fogmarch?.view?.truth?.mirror.agentCount === 9),
              "agents");
  await page.evaluate(([x, y]) => window.fogmarch.map.centre({ x, y }, 24), cell);
  await clickCell(page, { x: cell[0], y: cell[1] });
  const facts = await until(async () => {
    const found = await factsOf(page);
    return found["id"] && found;
  }, "an agent's facts");
  const truth = await admin.call("debug.inspect", { world, agent: Number(facts["id"]) });
  const number = (name) => Number(facts[name].replaceAll(",", ""));
  assert.equal(facts["cell"], truth.cell.join(", "));
  assert.equal(facts["goal"], truth.goal.join(", "));
  assert.equal(facts["state"], truth.state);
  assert.equal(facts["planner"], truth.planner);
  assert.equal(number("expansions"), truth.expansions);
  assert.equal(number("closed"), truth.closed);
  assert.equal(number("open"), truth.open);
  assert.equal(number("moves"), truth.moves);
  assert.ok(truth.expansions > 0 && truth.moves === 12);
  await until(() => page.url().includes(`agent=${facts["id"]}`), "an address that holds it");
  await page.locator("#explain").click();
  const explained = await admin.call("debug.explain", { world, agent: truth.agent });
  await until(async () => (await page.locator("#explanation").textContent()).includes(explained.why),
              "an explanation");
  await page.locator("[data-tab=costs]").click();
  await until(async () => (await page.locator("#top button").count()) > 0, "the most expensive");
  for (const by of ["planners", "teams", "agents"]) {
    await page.locator("#top-by").selectOption(by);
    const { rows } = await admin.call("debug.top", { world, by, rows: 10 });
    await until(async () => (await page.locator("#top tr").count()) === rows.length + 1, `top ${by}`);
  }
  await page.locator("[data-tab=charts]").click();
  await until(() => page.evaluate(() => window.fogmarch.view.charts.memory.length > 0), "a chart");
  await browser.stop();
  admin.close();
  await server.stop();
}

async function overlaysAreDrawn() {
  const { server, admin, world, agents, browser } = await stage();
  await admin.call("world.step", { world, ticks: 5 });
  const page = await browser.open(server.url(`#agent=${agents[0]}&world=${world}`));
  await page.locator("#agent-facts dt").first().waitFor();
  const { cell } = await admin.call("debug.inspect", { world, agent: agents[0] });
  const [x, y] = cell;
  const inspect = await admin.call("debug.inspect",
                                   { world, agent: agents[0], rect: [x - 4, y - 4, 9, 9] });
  let closed; // a closed cell off the path
  for (let i = 0; i < inspect.search.length; i += 6) {
    const [cx, cy, flags] = inspect.search.slice(i, i + 3);
    const onPath = inspect.path.some((value, j) => j % 2 === 0 && Math.abs(value - cx) < 2 &&
                                                  Math.abs(inspect.path[j + 1] - cy) < 2);
    if (flags & 2 && !onPath && Math.abs(cx - x) + Math.abs(cy - y) > 3) closed = { x: cx, y: cy };
  }
  assert.ok(closed, "a closed cell to look at");
  await page.evaluate((at) => window.fogmarch.map.centre(at, 24), closed);
  const plain = await colourAt(page, closed);
  const colours = new Set([plain.join()]);
  for (const overlay of ["state", "g", "f"]) {
    await page.locator("#overlay").selectOption(overlay);
    await until(async () => !colours.has((await colourAt(page, closed)).join()), overlay);
    colours.add((await colourAt(page, closed)).join());
    assert.ok(await page.evaluate(() => window.fogmarch.view.inspector.overlay.count) > 0);
  }
  await browser.screenshot(page, "overlay");
  // Cells show numbers when there is room for them.
  await page.evaluate((at) => window.fogmarch.map.centre(at, 64), closed);
  await page.locator("#overlay").selectOption("g");
  await until(() => page.evaluate(
    () => window.fogmarch.view.inspector.overlay.numbers.children.length > 20), "numbers");
  await browser.screenshot(page, "numbers");
  await page.locator("#overlay").selectOption("none");
  await until(async () => (await colourAt(page, closed)).join() === plain.join(), "no overlay");
  await browser.stop();
  admin.close();
  await server.stop();
}

async function anEditMakesItReplan() {
  const { server, admin, world, agents, browser } = await stage();
  await admin.call("world.step", { world, ticks: 3 });
  const page = await browser.open(server.url(`#agent=${agents[0]}&world=${world}`));
  await page.locator("#agent-facts dt").first().waitFor();
  const before = await admin.call("debug.inspect", { world, agent: agents[0] });
  const wall = { x: before.path[4], y: before.path[5] };
  await page.getByRole("button", { name: "paint terrain" }).click();
  await page.locator("input[name=brush]").fill("3");
  await page.evaluate((cell) => window.fogmarch.map.centre(cell, 24), wall);
  await clickCell(page, wall);
  await until(async () => {
    await page.locator("#step").click();
    const now = await admin.call("debug.inspect", { world, agent: agents[0] });
    return now.replans > before.replans;
  }, "a replan");
  await until(() => page.evaluate(
    (cell) => (window.fogmarch.view.truth.mirror.lookAt(cell.x, cell.y) & 15) !== 1, wall), "a wall");
  const now = await admin.call("debug.inspect", { world, agent: agents[0] });
  await until(async () => (await factsOf(page))["replans"] === String(now.replans), "its number");
  await browser.stop();
  admin.close();
  await server.stop();
}

// A round brush along a drag paints every cell on its way; buildings by the keyboard.
async function brushesAndBuildings() {
  const { server, admin, world, bases, browser } = await stage();
  const page = await browser.open(server.url(`#world=${world}`));
  await until(() => page.evaluate(() => window.fogmarch?.view?.truth), "the truth");
  const from = { x: bases[0] + 12, y: bases[1] };
  await page.evaluate((cell) => window.fogmarch.map.centre(cell, 16), from);
  await page.getByRole("button", { name: "paint terrain" }).click();
  await page.locator("#paint").selectOption("water");
  await page.locator("#tool-options select").nth(1).selectOption("disc");
  await page.locator("input[name=brush]").fill("5");
  const [a, b] = await page.evaluate((cell) => [window.fogmarch.map.pixelOfCell(cell),
    window.fogmarch.map.pixelOfCell({ x: cell.x, y: cell.y + 14 })], from);
  const box = await page.locator("#map canvas").boundingBox();
  await page.mouse.move(box.x + a.x, box.y + a.y);
  await page.mouse.down();
  await page.mouse.move(box.x + b.x, box.y + b.y); // one jump: the cells in between are painted, too
  await page.mouse.up();
  const terrains = (cells) => page.evaluate((list) => list.map(
    ([x, y]) => window.fogmarch.view.truth.mirror.lookAt(x, y) & 15), cells);
  const painted = Array.from({ length: 15 }, (_, i) => [from.x, from.y + i]);
  await until(async () => {
    await page.locator("#step").click();
    return (await terrains(painted)).every((terrain) => terrain === 5);
  }, "water all along the way");
  const [side, corner] = await terrains([[from.x + 2, from.y + 7], [from.x + 2, from.y - 2]]);
  assert.equal(side, 5, "as wide as the brush");
  assert.notEqual(corner, 5, "and round at its ends");

  const count = async () => {
    await page.locator("#step").click();
    return page.evaluate(() => window.fogmarch.view.truth.mirror.buildings.length);
  };
  await page.getByRole("button", { name: "build", exact: true }).click();
  for (const [dx, dy] of [[-6, -4], [-5, -2]]) {
    await page.evaluate(({ x, y }) => window.fogmarch.map.centre({ x: x + 0.5, y: y + 0.5 }, 16),
                        { x: from.x + dx, y: from.y + dy });
    await page.locator("#map").press("Enter");
  }
  await until(async () => (await count()) === 1, "a building");
  const [building] = await page.evaluate(() => window.fogmarch.view.truth.mirror.buildings);
  assert.deepEqual([building.x, building.y, building.width, building.height],
                   [from.x - 6, from.y - 4, 2, 3]);
  await browser.screenshot(page, "brushes");
  await page.getByRole("button", { name: "tear a building down" }).click();
  await page.locator("#map").press("Enter");
  await until(async () => (await count()) === 0, "no building");
  await browser.stop();
  admin.close();
  await server.stop();
}

async function timeIsInTheHandsOfTheAdmin() {
  const { server, admin, world, browser } = await stage();
  const page = await browser.open(server.url());
  const resume = page.locator("#pause");
  await until(async () => (await resume.textContent()) === "resume", "a paused world");
  await page.locator("#step").click();
  await until(async () => (await tickOf(page)) === 1, "tick 1");
  await resume.click();
  await until(async () => (await tickOf(page)) > 5, "ticks");
  await resume.click();
  await until(async () => (await admin.call("world.info", { world })).paused, "a pause");
  // The page hears that the world goes on just before the answer comes, and is told so once.
  await until(async () => (await resume.textContent()) === "resume", "a page that knows of it");
  await page.evaluate(() => {
    const { view } = window.fogmarch;
    const call = view.client.call.bind(view.client);
    view.client.call = async (method, params) => {
      const answer = await call(method, params);
      if (method === "world.resume") {
        view.takeInfo(await call("world.info", { world: params.world }));
        setTimeout(() => { window.named = document.getElementById("pause").textContent; });
      }
      return answer;
    };
  });
  await resume.click();
  assert.equal(await until(() => page.evaluate(() => window.named), "an answer"), "pause");
  await browser.stop();
  admin.close();
  await server.stop();
}

async function fogOfATeam() {
  const { server, admin, world, bases, browser } = await stage();
  const page = await browser.open(server.url(`#world=${world}`));
  await until(() => page.evaluate(() => window.fogmarch?.view?.truth), "the truth");
  const far = { x: bases[2], y: bases[3] };
  await page.evaluate((cell) => window.fogmarch.map.centre(cell, 24), far);
  const bright = await colourAt(page, far);
  await page.locator("#team").selectOption("1");
  await until(async () => (await colourAt(page, far))[0] < bright[0] / 2, "darkness far away");
  await browser.screenshot(page, "fog");
  await until(() => page.url().includes("team=1"), "an address that holds it");
  await browser.stop();
  admin.close();
  await server.stop();
}

async function troublesAreSaidInWords() {
  const token = "correct-horse-battery";
  const ports = await freePorts(2);
  let server = await Server.start([], { FOGMARCH_TOKEN: token }, ports);
  let admin = await server.connect({ token });
  await makeWorld(admin);
  admin.close();
  const browser = await Browser.start();
  const page = await browser.open(server.url());
  const problem = page.locator("#problem");
  await until(async () => (await problem.textContent()).includes("refused this token"), "a refusal");
  await page.locator("input[name=token]").fill("wrong-but-long-enough");
  await page.locator("#connection button").click();
  await until(async () => (await problem.textContent()).includes("refused this token"), "a refusal");
  await page.locator("input[name=token]").fill(token);
  await page.locator("#connection button").click();
  await page.locator("#worlds button", { hasText: "arena" }).waitFor();
  assert.equal(await problem.isVisible(), false);
  await server.stop();
  await until(async () => /^Connection lost: no server answers at .*Trying again/.test(await problem.textContent()),
              "a loss, also when the page has tried again");
  server = await Server.start([], { FOGMARCH_TOKEN: token }, ports);
  admin = await server.connect({ token });
  await makeWorld(admin, { name: "second" });
  await page.locator("#worlds button", { hasText: "second" }).waitFor();
  assert.equal(await problem.isVisible(), false);
  await browser.stop();
  admin.close();
  await server.stop();
}

// The library says so of a view in a cluster where nobody has said for long where its world is.
async function aViewThatIsOverIsShownAgain() {
  const server = await Server.start();
  const admin = await server.connect();
  await makeWorld(admin);
  const browser = await Browser.start();
  const page = await browser.open(server.url());
  const problem = page.locator("#problem");
  await page.waitForFunction(() => window.fogmarch.view !== undefined);
  await page.evaluate(() => {
    const { client } = window.fogmarch.view;
    window.before = client;
    window.problems = ""; // it may be shown for a moment only
    const shown = document.getElementById("problem");
    new MutationObserver(() => { window.problems += shown.textContent; })
      .observe(shown, { childList: true, characterData: true, subtree: true });
    const error = client.movedTo({ world: 1 });
    for (const view of [...client.kept]) {
      client.lose(view, error);
    }
  });
  await page.waitForFunction(() => window.problems.includes("Connection lost: world 1 is on another"));
  await page.waitForFunction(() => window.fogmarch.view.client !== window.before);
  assert.equal(await problem.isVisible(), false);
  await browser.stop();
  admin.close();
  await server.stop();
}

// The test plays a server with a newer protocol.
async function anotherProtocolIsSaidInWords() {
  const server = await Server.start();
  const browser = await Browser.start();
  const page = await browser.open(server.url(), (fresh) => fresh.routeWebSocket(/\/ws$/, (socket) => {
    socket.onMessage((message) => {
      const [, id] = decode(message);
      socket.send(Buffer.from(encode([1, id, { code: 5, name: "bad_value",
                                               message: "this server speaks protocol 2" }, null])));
    });
  }));
  const problem = page.locator("#problem");
  await until(async () => (await problem.textContent()).includes("does not speak protocol 1"), "words");
  assert.match(await problem.textContent(), /speaks protocol 2/);
  // A player's token belongs on the play page.
  const admin = await server.connect();
  const { world, teams } = await makeWorld(admin);
  const { token } = await admin.call("token.create", { role: "player", world, team: teams[0] });
  const other = await browser.open(server.url());
  await other.locator("#worlds button").waitFor();
  await other.locator("input[name=token]").fill(token);
  await other.locator("#connection button").click();
  await until(async () => (await other.locator("#problem").textContent()).includes("play page"), "words");
  await browser.stop();
  admin.close();
  await server.stop();
}

await run([agentsMove, numbersAreThoseOfInspect, overlaysAreDrawn, anEditMakesItReplan,
           timeIsInTheHandsOfTheAdmin, brushesAndBuildings, fogOfATeam, troublesAreSaidInWords,
           aViewThatIsOverIsShownAgain, anotherProtocolIsSaidInWords]);
