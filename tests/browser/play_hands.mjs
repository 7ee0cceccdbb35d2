// The play page by hand: touch on a phone, the mouse outside of the map, and the map that follows units.

import { assert, Browser, clickCell, cellsAround, colourAt, makeWorld, partSeen, run, Server, until } from "./support.mjs";

const selected = (page) => page.locator("#selection").getAttribute("data-selected");

async function stage(options = {}) {
  const server = await Server.start();
  const admin = await server.connect();
  const { world, teams, bases } = await makeWorld(admin, { players_build: 10, ...options });
  const [x, y] = bases;
  const { agents } = await admin.call("agent.spawn", { world, team: teams[0], cells: cellsAround([x, y], 4) });
  const browser = await Browser.start();
  const seat = `play.html?world=${world}&team=1`;
  const goalOf = async (agent) => (await admin.call("debug.inspect", { world, agent })).goal;
  const end = async () => {
    await browser.stop();
    admin.close();
    await server.stop();
  };
  return { server, admin, world, browser, seat, agents, x, y, goalOf, end };
}

const middle = (page) => page.evaluate(() => ({ ...window.fogmarch.map.middle, zoom: window.fogmarch.map.zoom }));

// Touches the map: each of `moves` is a list of places, one for each finger.
async function touch(page, session, moves, restMs = 0) {
  const box = await page.locator("#map canvas").boundingBox();
  const points = (list) => list.map(({ x, y }, id) => ({ x: box.x + x, y: box.y + y, id }));
  await session.send("Input.dispatchTouchEvent", { type: "touchStart", touchPoints: points(moves[0]) });
  await page.waitForTimeout(restMs);
  for (const list of moves.slice(1)) {
    await session.send("Input.dispatchTouchEvent", { type: "touchMove", touchPoints: points(list) });
  }
  await session.send("Input.dispatchTouchEvent", { type: "touchEnd", touchPoints: [] });
}

// A busy page takes a tap whose end comes late for a long press, and a long press for a tap when its timer is later than
// the end: the touch is then made once more, not so soon that it would be a double tap.
async function touchUntil(page, session, places, holds, what, restMs = 0) {
  await until(async () => {
    await touch(page, session, [places], restMs);
    for (let look = 0; look < 20; look++) {
      if (await holds()) return true;
      await page.waitForTimeout(50);
    }
    return false;
  }, what);
}

async function fingers() {
  const { server, browser, seat, agents, x, y, goalOf, end } = await stage();
  const page = await browser.open(server.url(seat), undefined,
                                  { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true });
  const session = await page.context().newCDPSession(page);
  await page.locator("#minimap").waitFor();
  // Drawing without a graphics card keeps the page so busy that a tap would look like a long press.
  await page.evaluate(() => window.fogmarch.map.app.ticker.stop());
  assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), 390, "nothing is too wide");
  const canvas = await page.locator("#map canvas").boundingBox();
  assert.ok(canvas.width === 390 && canvas.height > 600, "the map has the screen");
  await page.locator("#guide button").tap();
  const at = (cell) => page.evaluate((where) => window.fogmarch.map.pixelOfCell(where), cell);
  await page.evaluate(([cx, cy]) => window.fogmarch.map.centre({ x: cx, y: cy }, 20), [x, y]);

  await touchUntil(page, session, [await at({ x: x - 1, y: y - 1 })], async () => await selected(page) === "1",
                 "a tap selects");
  await page.getByRole("button", { name: "box" }).tap();
  await touch(page, session, [[await at({ x: x - 3, y: y - 3 })], [await at({ x, y })], [await at({ x: x + 3, y: y + 3 })]]);
  await until(async () => await selected(page) === "4", "a box selects");

  await touchUntil(page, session, [await at({ x: x + 5, y: y + 2 })],
                   async () => (await goalOf(agents[0])).length === 2, "a finger that rests gives an order", 700);
  const first = await goalOf(agents[0]);
  assert.ok(Math.hypot(first[0] - x - 5, first[1] - y - 2) < 4, `${first} is where the finger was`);
  const two = [await at({ x: x - 8, y: y + 6 }), await at({ x: x - 4, y: y + 6 })];
  await touchUntil(page, session, two, async () => {
    const goal = await goalOf(agents[0]);
    return Math.hypot(goal[0] - x + 6, goal[1] - y - 6) < 4;
  }, "a tap of two fingers gives an order");
  assert.equal(await selected(page), "4", "nobody was let go of");

  const before = await middle(page);
  await touch(page, session, [[{ x: 200, y: 300 }], [{ x: 180, y: 300 }], [{ x: 120, y: 300 }]]);
  const panned = await middle(page);
  assert.ok(panned.x > before.x + 2 && panned.zoom === before.zoom, "one finger looks around");
  await touch(page, session, [[{ x: 150, y: 300 }, { x: 250, y: 300 }], [{ x: 120, y: 300 }, { x: 250, y: 300 }],
                              [{ x: 120, y: 300 }, { x: 320, y: 300 }]]);
  assert.ok((await middle(page)).zoom > before.zoom * 1.5, "two fingers zoom");

  await page.locator("[data-sheet=units]").click();
  await page.locator("#units").waitFor();
  await page.getByRole("button", { name: "make group 2" }).click();
  await page.keyboard.press("Escape");
  assert.ok(!(await page.locator("#units").isVisible()), "Escape closes a sheet");
  await browser.screenshot(page, "phone");
  await end();
}

// On a phone a sheet leaves most of the map: units are selected and ordered above it, with the orders' buttons below it.
async function aSheetLeavesTheMap() {
  const classes = "walker:ground=1,swamp=2;boat:water=1;hover:ground=1,swamp=1,water=1";
  const { server, browser, seat, agents, x, y, goalOf, end } = await stage({ classes });
  const page = await browser.open(server.url(seat), undefined,
                                  { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true });
  const session = await page.context().newCDPSession(page);
  await page.locator("#minimap").waitFor();
  await page.evaluate(() => window.fogmarch.map.app.ticker.stop());
  await page.locator("#guide button").tap();
  await page.locator("[data-sheet=units]").tap();
  await page.locator("#units").waitFor();
  assert.ok(await partSeen(page) > 0.5, `${await partSeen(page)} of the map is seen`);
  const at = (cell) => page.evaluate((where) => window.fogmarch.map.pixelOfCell(where), cell);
  await page.evaluate(([cx, cy]) => window.fogmarch.map.centre({ x: cx, y: cy }, 20), [x, y]);
  const unit = await at({ x: x - 1, y: y - 1 });
  assert.ok(await page.evaluate(({ x: px, y: py }) => {
    const box = document.getElementById("map").getBoundingClientRect();
    return document.elementFromPoint(box.left + px, box.top + py).tagName === "CANVAS";
  }, unit), "the middle of the map is above the sheet");
  await touchUntil(page, session, [unit], async () => await selected(page) === "1", "a tap selects");
  const hasGoal = async () => (await Promise.all(agents.map(goalOf))).some((goal) => goal.length === 2);
  await touchUntil(page, session, [await at({ x: x + 5, y: y + 2 })], hasGoal, "an order", 700);
  await page.getByRole("button", { name: "stop" }).tap();
  await until(async () => !await hasGoal(), "stop");
  await browser.screenshot(page, "phone-sheet");

  // A tap on the grip makes the sheet larger and smaller; a drag down closes it.
  const low = (await page.locator("#units").boundingBox()).height;
  await page.getByRole("button", { name: "make the panel larger" }).tap();
  await until(async () => (await page.locator("#units").boundingBox()).height > 1.5 * low, "a larger panel");
  await page.getByRole("button", { name: "make the panel smaller" }).press("Enter");
  await until(async () => (await page.locator("#units").boundingBox()).height === low, "a smaller panel");
  const grip = await page.locator("#grip").boundingBox();
  const [gx, gy] = [grip.x + grip.width / 2, grip.y + 10];
  await page.mouse.move(gx, gy);
  await page.mouse.down();
  await page.mouse.move(gx, gy - 250, { steps: 4 });
  await page.mouse.up();
  await until(async () => (await page.locator("#units").boundingBox()).height > 1.5 * low, "a larger panel by a drag");
  const high = (await page.locator("#grip").boundingBox()).y + 10;
  await page.mouse.move(gx, high);
  await page.mouse.down();
  await page.mouse.move(gx, 740, { steps: 4 });
  await page.mouse.up();
  await until(async () => !(await page.locator("#units").isVisible()), "no panel");
  await end();
}

async function mouse() {
  const { server, admin, world, browser, seat, agents, x, y, goalOf, end } = await stage();
  const page = await browser.open(server.url(seat), undefined, { viewport: { width: 1280, height: 800 } });
  await page.locator("#minimap").waitFor();
  for (const id of ["#news-box", "#units", "#orders", "[data-sheet=match]"]) {
    const box = await page.locator(id).boundingBox();
    assert.ok(box !== null && box.y + box.height <= 800, `${id} is on the screen`);
  }
  assert.ok(await page.locator("#guide").isVisible(), "who is here for the first time is told what to do");
  await page.locator("#map").focus();
  await page.keyboard.press("Control+a");
  await page.keyboard.press("Control+4");

  // A right click on the minimap sends the units.
  const small = await page.locator("#minimap").boundingBox();
  const cell = { x: x + 6, y: y + 3 };
  await page.locator("#minimap").click({ button: "right", position: { x: cell.x / 128 * small.width,
                                                                      y: cell.y / 128 * small.height } });
  const goal = await until(async () => {
    const found = await goalOf(agents[0]);
    return found.length === 2 && found;
  }, "an order from the small map");
  assert.ok(Math.hypot(goal[0] - cell.x, goal[1] - cell.y) < 4, `${goal} for ${cell.x}, ${cell.y}`);

  // A right click beside the map sends them to its edge.
  await page.evaluate(([cx, cy]) => window.fogmarch.map.centre({ x: cx, y: cy }, 16), [x, y]);
  await clickCell(page, { x: -4, y }, { button: "right" });
  await until(async () => (await goalOf(agents[0]))[0] < 6, "an order to the map's edge");
  await clickCell(page, cell, { button: "right" });
  await until(async () => Math.hypot((await goalOf(agents[0]))[0] - cell.x) < 4, "the order before");

  // Arrivals are listed as news; a click moves the map there.
  await admin.call("world.step", { world, ticks: 20 });
  const line = page.locator("#news button", { hasText: "arrived" });
  await line.waitFor();
  await page.evaluate(() => window.fogmarch.map.centre({ x: 64, y: 64 }));
  await line.click();
  const there = await middle(page);
  assert.ok(Math.hypot(there.x - cell.x, there.y - cell.y) < 4, "the news lead there");

  // A key selects idle units, one after the other.
  await page.keyboard.press(".");
  await until(async () => await selected(page) === "1", "an idle unit");
  const chosen = () => page.evaluate(() => window.fogmarch.game.selection.list[0]);
  const one = await chosen();
  await page.keyboard.press(".");
  await until(async () => await chosen() !== one, "the next one");

  // Before the click the page shows where a building may stand.
  await page.keyboard.press("b");
  const box = await page.locator("#map canvas").boundingBox();
  await page.evaluate(([cx, cy]) => window.fogmarch.map.centre({ x: cx, y: cy }, 16), [x, y]);
  const hover = async (where) => {
    const pixel = await page.evaluate((at) => window.fogmarch.map.pixelOfCell(at), where);
    await page.mouse.move(box.x + pixel.x, box.y + pixel.y);
  };
  const unit = await page.evaluate(() => {
    const { mirror } = window.fogmarch.game.view;
    return { x: mirror.xs[0], y: mirror.ys[0] };
  });
  await hover(unit);
  await until(async () => (await page.locator("#tip").textContent()).includes("something stands there"), "a no");
  await page.keyboard.press("Escape");

  // The mouse at an edge scrolls; groups and map position survive a reload.
  const before = await middle(page);
  await page.mouse.move(box.x + box.width - 4, box.y + 300);
  await until(async () => (await middle(page)).x > before.x + 1, "the edge scrolls");
  await page.mouse.move(box.x + 300, box.y + 300);
  await page.evaluate(([cx, cy]) => window.fogmarch.map.centre({ x: cx, y: cy }, 21), [x, y]);
  await page.reload();
  await until(async () => (await middle(page).catch(() => ({}))).zoom === 21, "where one looked");
  await page.locator("#map").focus();
  await page.keyboard.press("4");
  await until(async () => await selected(page) === "4", "the group of before");

  // Who dies with a carrier is not on the map, and is told all the same.
  await admin.call("agent.board", { world, agents: agents.slice(2), carrier: agents[1], radius: 8 });
  await admin.call("world.step", { world });
  await admin.call("agent.remove", { world, agents: [agents[1]] });
  await admin.call("world.step", { world });
  await page.locator("#news", { hasText: "2 units: died aboard" }).waitFor();
  await end();
}

// In each frame of the page: the middle of the map, and that of the selected units as they are drawn.
function sampleFrames(page) {
  return page.evaluate(() => {
    const { map, game } = window.fogmarch;
    const frame = map.onFrame;
    window.samples = [];
    map.onFrame = () => {
      frame();
      const [at, of] = [map.middle, game.selection.drawnMiddle()];
      window.samples.push({ x: at.x, y: at.y, off: Math.hypot(at.x - of?.x, at.y - of?.y),
                            tick: game.view.mirror.tick, stands: map.agents.settled });
    };
  });
}

// The map glides to the selected units and goes with them, until the player moves it.
async function keptInView() {
  const { server, admin, world, browser, seat, agents, x, y, end } = await stage();
  const page = await browser.open(server.url(seat), undefined, { viewport: { width: 1280, height: 800 } });
  await page.locator("#minimap").waitFor();
  await page.locator("#guide button").click();
  const button = page.getByRole("button", { name: "keep in view" });
  const isOn = async () => await button.getAttribute("aria-pressed") === "true";
  const samples = () => page.evaluate(() => window.samples.splice(0));
  await page.locator("#map").focus();
  await page.keyboard.press("v");
  await until(async () => /Select the units first/.test(await page.locator("#problem").textContent()), "words");
  assert.ok(!await isOn());
  await page.keyboard.press("Control+a");
  await page.evaluate(([cx, cy]) => window.fogmarch.map.centre({ x: cx + 12, y: cy }, 20), [x, y]);
  await sampleFrames(page);

  // It glides there: no frame takes more than half of the way.
  await page.keyboard.press("v");
  assert.ok(await isOn());
  await until(() => page.evaluate(() => window.samples.at(-1)?.off < 0.3), "the units in the middle");
  const way = (list) => Math.max(...list.slice(1).map((one, i) => Math.hypot(one.x - list[i].x, one.y - list[i].y)));
  const gliding = await samples();
  assert.ok(gliding[0].off > 8 && way(gliding) < 7, `${gliding[0].off} cells off, ${way(gliding)} in a frame`);

  // It goes with them; the wheel zooms around them wherever the mouse is.
  const start = gliding.at(-1);
  const settled = (wanted) => until(() => page.evaluate((from) => {
    const { off, tick, stands } = window.samples.at(-1) ?? {};
    return tick >= from && stands && off < 0.3;
  }, wanted), `the units in the middle after tick ${wanted}`);
  await admin.call("agent.order", { world, agents, kind: "move", goal: [64, 64] });
  await page.locator("#map canvas").hover({ position: { x: 200, y: 600 } });
  const { zoom } = await middle(page);
  for (let tick = 2; tick <= 16; tick += 2) {
    await admin.call("world.step", { world, ticks: 2 });
    if (tick === 8) await page.mouse.wheel(0, -300);
    await settled(tick);
  }
  const marching = await samples();
  const farthest = Math.max(...marching.map(({ off }) => off));
  assert.ok(farthest < 6, `they stay in view, and were ${farthest} cells off`);
  const gone = Math.hypot(marching.at(-1).x - start.x, marching.at(-1).y - start.y);
  assert.ok(gone > 8 && (await middle(page)).zoom > zoom * 1.3, `${gone} cells`);
  assert.ok(await isOn());

  // A unit is put elsewhere: the map glides.
  await page.evaluate((id) => window.fogmarch.game.selection.chooseThese([id]), agents[0]);
  await settled(0);
  await samples();
  await admin.call("agent.place", { world, agents: [agents[0]], cells: [x, y], place: "nearest" });
  await admin.call("world.step", { world });
  await until(() => page.evaluate(([cx, cy]) => {
    const { middle: at } = window.fogmarch.map;
    return Math.hypot(at.x - cx, at.y - cy) < 3;
  }, [x, y]), "the unit's new place");
  const [far, ...back] = await samples();
  const total = Math.hypot(back.at(-1).x - far.x, back.at(-1).y - far.y);
  assert.ok(total > 10 && way([far, ...back]) < 0.6 * total, `${way(back)} of ${total} cells in a frame`);

  // Each of these moves the map, and ends it; so does letting go of all units.
  const box = await page.locator("#map canvas").boundingBox();
  const small = await page.locator("#minimap").boundingBox();
  const drag = async () => {
    await page.mouse.move(box.x + 400, box.y + 300);
    await page.mouse.down({ button: "middle" });
    await page.mouse.move(box.x + 460, box.y + 300, { steps: 4 });
    await page.mouse.up({ button: "middle" });
  };
  for (const [what, act] of Object.entries({
    drag, key: () => page.keyboard.press("ArrowLeft"), minimap: () => page.mouse.click(small.x + 90, small.y + 90),
    edge: () => page.mouse.move(box.x + 3, box.y + 300), again: () => button.click(),
    nobody: () => page.evaluate(() => window.fogmarch.game.selection.chooseNone()) })) {
    if (!await isOn()) await button.click();
    assert.ok(await isOn());
    await page.locator("#map").focus();
    await act();
    await until(async () => !await isOn(), `an end by ${what}`);
    await page.mouse.move(box.x + 300, box.y + 300);
  }
  await end();
}

// Two thousand units under way, all selected: the page's own work in a frame.
async function manyUnits() {
  const { server, admin, world, browser, seat, x, y, end } = await stage({ sense_radius: 12 });
  const cells = Array.from({ length: 1996 }, (_, i) => [x - 20 + (i % 45), y - 20 + Math.floor(i / 45)])
    .map(([cx, cy]) => [Math.max(1, cx), Math.max(1, cy)]).flat();
  const { agents } = await admin.call("agent.spawn", { world, team: 1, cells, place: "nearest" });
  const page = await browser.open(server.url(seat));
  await until(() => page.evaluate(() => window.fogmarch.game?.view.mirror.agentCount === 2000), "units");
  await page.locator("#map").focus();
  await page.keyboard.press("Control+a");
  // Units glide: when a message arrives they are still drawn near their old cells.
  const gliding = page.evaluate(() => new Promise((resolve) => {
    const { map, game: { view: { mirror } } } = window.fogmarch;
    const paint = mirror.onChange;
    setTimeout(() => resolve(0), 60000);
    mirror.onChange = (change) => {
      paint(change);
      let count = 0;
      for (let place = 0; place < mirror.agentCount; place++) {
        const { x, y } = map.agents.positionOf(mirror, place);
        count += Math.abs(x - mirror.xs[place] - 0.5) + Math.abs(y - mirror.ys[place] - 0.5) > 0.3;
      }
      if (count > 200) resolve(count);
    };
  }));
  await admin.call("agent.order", { world, agents, kind: "move", goal: [64, 64] });
  await admin.call("world.resume", { world });
  assert.ok(await gliding > 200);
  const frames = await page.evaluate(() => window.fogmarch.map.frames);
  await until(() => page.evaluate((n) => window.fogmarch.map.frames > n + 12, frames), "frames");
  console.log(`own share of a frame with 2,000 units: ${(await page.evaluate(() => window.fogmarch.map.ownMs)).toFixed(2)} ms`);
  await end();
}

// The page computes the visible cells as the server does: while its units stand, the team knows exactly what
// it sees. Cells that the units leave behind stay known, and are drawn darker.
async function exploredAndVisible() {
  const { server, admin, world, browser, seat, agents, x, y, end } = await stage({
    sense_radius: 7, sense_shape: "disc", line_of_sight: true, classes: "walker:ground=1;tank:size=2,ground=1",
  });
  const cells = Array.from({ length: 40 }, (_, i) => [3 + (i * 37) % 122, 3 + (i * 53) % 122]).flat();
  await admin.call("agent.spawn", { world, team: 1, class: "tank", cells, place: "nearest" });
  const page = await browser.open(server.url(seat));
  await until(() => page.evaluate(() => window.fogmarch.game), "a seat");
  const look = async (ticks) => {
    await admin.call("world.step", { world, ticks });
    return page.evaluate(async () => {
      await window.fogmarch.client.call("ping", {}); // everything that was sent before has arrived
      const { mirror } = window.fogmarch.game.view;
      let known = 0, visible = 0, unknown = 0;
      mirror.looks.forEach((look, at) => {
        known += look !== 0;
        visible += mirror.visible[at];
        unknown += look === 0 && mirror.visible[at];
      });
      return { known, visible, unknown };
    });
  };
  const { known, visible, unknown } = await look(2);
  assert.ok(known > 2000 && known === visible && unknown === 0, `${known} known, ${visible} visible, ${unknown} of these unknown`);
  await admin.call("agent.order", { world, agents, kind: "move", goal: [x + 14, y + 2] });
  const later = await look(30);
  assert.equal(later.unknown, 0);
  assert.ok(later.known > later.visible + 20, `${later.known} known, ${later.visible} visible`);
  await browser.screenshot(page, "explored");

  // Both pages draw known cells out of sight darker; the colours compared are those of open ground.
  const found = await page.evaluate(() => {
    const { mirror } = window.fogmarch.game.view;
    const width = mirror.rect[2];
    const inside = (at, seen) => [-width - 1, -width, -1, 0, 1, width, width + 1].every((d) =>
      mirror.looks[at + d] === 1 && mirror.visible[at + d] === seen);
    return [1, 0].map((seen) => mirror.looks.findIndex((_, at) => inside(at, seen)))
      .map((at) => ({ x: at % width, y: Math.floor(at / width) }));
  });
  await page.locator("#guide button").click();
  for (const open of [async () => page, async () => {
    await page.evaluate(() => window.fogmarch.map.app.ticker.stop()); // two pages that draw starve each other
    const debug = await browser.open(server.url(`#world=${world}&team=1`));
    await until(() => debug.evaluate(() => window.fogmarch?.view?.belief), "the fog of a team");
    return debug;
  }]) {
    const one = await open();
    const colours = [];
    for (const cell of found) {
      await one.evaluate((at) => window.fogmarch.map.centre(at, 12), cell);
      colours.push((await colourAt(one, cell))[0]);
    }
    assert.ok(colours[1] > 20 && colours[1] < colours[0] * 0.7, `${colours} at ${one.url()}`);
  }
  await end();
}

await run([exploredAndVisible, fingers, aSheetLeavesTheMap, mouse, keptInView, manyUnits]);
