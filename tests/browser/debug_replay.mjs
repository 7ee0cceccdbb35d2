// The debug page opens a journal and moves through it, forwards and backwards.
//
// Goal    after every move of the slider the page shows what `fogmarch replay seek` says of that tick:
//         digest, and where each agent is; an agent's search is that of the tick; what cannot be opened or
//         changed is explained in a message.
// Method  a real server records a small war and a browser replays it: with the slider's keys, by dragging it,
//         with the play button, and by the address.

import { execFileSync } from "node:child_process";
import { truncateSync, copyFileSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import {
  assert, Browser, build, cellsAround, clickCell, factsOf, makeWorld, run, Server, until,
} from "./support.mjs";

const LAST = 80;

/** What `fogmarch replay seek` says of a tick. */
function seek(file, tick) {
  return JSON.parse(execFileSync(join(build, "bin/fogmarch"),
                                 ["replay", "seek", file, String(tick), "--agents", "--json"]));
}

/** Starts a server and records the journal of a war. */
async function stage() {
  const folder = mkdtempSync(join(tmpdir(), "fogmarch-journals-"));
  const server = await Server.start(["--journal-dir", folder, "--keyframe-ticks", "25"]);
  const admin = await server.connect();
  const { world, teams, bases } = await makeWorld(admin);
  for (const [i, team] of teams.entries()) {
    const { agents } = await admin.call("agent.spawn", {
      world, team, cells: cellsAround(bases.slice(2 * i, 2 * i + 2), 9) });
    await admin.call("agent.order", { world, agents, kind: "move", goal: bases.slice(2 - 2 * i, 4 - 2 * i) });
  }
  await admin.call("world.step", { world, ticks: 40 });
  await admin.call("terrain.set", { world, set: "blocked", rects: [60, 20, 3, 60] });
  await admin.call("world.step", { world, ticks: LAST - 40 });
  const name = `${world}-arena.journal`;
  const browser = await Browser.start();
  return { server, admin, world, folder, name, file: join(folder, name), bases, browser };
}

async function finish({ server, admin, folder, browser }) {
  await browser.stop();
  admin.close();
  await server.stop();
  rmSync(folder, { recursive: true });
}

const slider = (page) => page.locator("#scrub");
const placeOf = async (page) => {
  const place = page.locator("#replay-tick");
  return { tick: Number(await place.getAttribute("data-tick")), under: Number(await place.getAttribute("data-under")) };
};

/** Waits until the page shows a tick, and compares it with the command's output. */
async function isShown(page, file, tick) {
  await until(async () => {
    const place = await placeOf(page);
    return place.tick === tick && place.under === 0;
  }, `tick ${tick}`);
  const truth = seek(file, tick);
  const digest = page.locator("#replay-digest");
  await until(async () => (await digest.getAttribute("data-digest")) === (tick === 0 ? "" : truth.digest),
              `the digest of tick ${tick}`);
  await until(async () => (tick === 0 ? /no digest/ : /as recorded/).test(await digest.textContent()), "words about it");
  await until(async () => Number(await slider(page).inputValue()) === tick, "the slider to be there");
  const wanted = (truth.agents ?? []).map(({ agent, cell }) => `${agent} at ${cell}`).sort().join("; ");
  const shown = () => page.evaluate(() => {
    const { ids, xs, ys, agentCount } = window.fogmarch.view.truth.mirror;
    return Array.from({ length: agentCount }, (_, i) => `${ids[i]} at ${xs[i]},${ys[i]}`).sort().join("; ");
  });
  let last;
  await until(async () => (last = await shown()) === wanted, () => `agents of tick ${tick}: ${wanted}, not ${last}`);
  return truth;
}

async function openJournal(page, name) {
  await page.locator("#journals summary").click();
  await page.locator("#journals button", { hasText: name }).click();
  await until(() => slider(page).isVisible(), "the slider");
}

async function theSliderGoesForwardsAndBackwards() {
  const scene = await stage();
  const { server, name, file, browser } = scene;
  const page = await browser.open(server.url());
  await page.locator("#worlds button", { hasText: "arena" }).waitFor();
  await openJournal(page, name);
  await isShown(page, file, 0);
  await slider(page).focus();
  for (const [key, tick] of [["ArrowRight", 1], ["Shift+ArrowRight", 11], ["ArrowRight", 12], ["ArrowLeft", 11],
                             ["End", LAST], ["ArrowLeft", LAST - 1], ["Shift+ArrowLeft", LAST - 11],
                             ["Home", 0], ["ArrowLeft", 0]]) {
    await page.keyboard.press(key);
    await isShown(page, file, tick);
  }
  // Dragging passes many ticks; the one at which the slider is released counts.
  const box = await slider(page).boundingBox();
  const y = box.y + box.height / 2;
  await page.mouse.move(box.x + 8, y);
  await page.mouse.down();
  for (let step = 1; step <= 12; step++) {
    await page.mouse.move(box.x + (box.width * (step <= 6 ? step : 12 - step)) / 8 + 8, y);
  }
  await page.mouse.move(box.x + box.width / 2, y);
  await page.mouse.up();
  const tick = Number(await slider(page).inputValue());
  assert.ok(tick > 30 && tick < 50, `in the middle, not ${tick}`);
  await isShown(page, file, tick);
  await browser.screenshot(page, "replay");
  // The row of controls fits on the screen.
  for (const id of ["replay-play", "scrub", "replay-tick", "replay-digest", "replay-close"]) {
    const part = await page.locator(`#${id}`).boundingBox();
    assert.ok(part.x >= 0 && part.x + part.width <= 1366 && part.y + part.height <= 768, id);
  }
  await page.close();
  const phone = await browser.open(server.url(`#replay=${name}`), undefined,
                                   { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true });
  await slider(phone).waitFor();
  const { width } = await slider(phone).boundingBox();
  assert.ok(width > 300, `a slider for a finger, not of ${width} pixels`);
  await finish(scene);
}

async function searchesAreThoseOfTheTick() {
  const scene = await stage();
  const { server, name, file, browser } = scene;
  const truth = seek(file, 55);
  const page = await browser.open(server.url(`#replay=${name}&tick=55&agent=3&overlay=closed`));
  await isShown(page, file, 55);
  const agent = truth.agents.find((one) => one.agent === 3);
  const facts = async (tick) => {
    const { cell, state, moves } = seek(file, tick).agents.find((one) => one.agent === 3);
    await until(async () => {
      const found = await factsOf(page);
      return found["cell"] === cell.join(", ") && found["state"] === state && found["moves"] === String(moves);
    }, `agent 3 at tick ${tick}`);
  };
  await facts(55);
  assert.equal((await factsOf(page))["planner"], `${agent.planner} (${agent.runs})`);
  await until(() => page.evaluate(() => window.fogmarch.view.inspector.overlay.count > 0), "its search");
  await slider(page).focus();
  await page.keyboard.press("Shift+ArrowLeft");
  await isShown(page, file, 45);
  await facts(45);
  await page.keyboard.press("Home");
  await until(async () => /no such agent/.test(await page.locator("#agent-facts").textContent()), "no agent yet");
  await page.keyboard.press("Shift+ArrowRight");
  await isShown(page, file, 10);
  await facts(10);
  await until(() => /replay=.*tick=10/.test(page.url()), "an address that holds it");
  // A team's fog works in replays, too.
  await page.locator("#team").selectOption("1");
  await until(() => page.evaluate(() => window.fogmarch.view.belief?.mirror.tick === 10), "its fog");
  await finish(scene);
}

async function itPlays() {
  const scene = await stage();
  const { server, name, file, browser } = scene;
  const page = await browser.open(server.url(`#replay=${name}&tick=20`));
  await isShown(page, file, 20);
  await page.locator("#replay-rate").fill("40");
  await page.locator("#replay-play").click();
  await until(async () => (await placeOf(page)).tick > 22, "ticks");
  await until(async () => (await page.locator("#replay-play").textContent()) === "play", "the end");
  await isShown(page, file, LAST);
  // From the end it starts over; Space stops it.
  await page.locator("#replay-rate").fill("2");
  await page.locator("#replay-play").click();
  await until(async () => (await page.locator("#replay-play").textContent()) === "pause", "a beginning");
  await until(async () => (await placeOf(page)).tick < 40, "a beginning");
  await slider(page).focus();
  await page.keyboard.press(" ");
  await until(async () => (await page.locator("#replay-play").textContent()) === "play", "a pause");
  await isShown(page, file, (await placeOf(page)).tick);
  await finish(scene);
}

// A page whose timers are late, as on a busy machine: what it shows after a pause is of the tick at which the replay
// stopped, and not of the one at which it looked last.
async function aPauseWithoutTimers() {
  const scene = await stage();
  const { server, name, file, browser } = scene;
  const page = await browser.open(server.url(`#replay=${name}&tick=20`), (fresh) => fresh.addInitScript(() => {
    const whole = window.setInterval;
    window.setInterval = (callback, ms, ...more) => whole(callback, ms === 250 ? 2 ** 30 : ms, ...more);
  }));
  await isShown(page, file, 20);
  await page.locator("#replay-rate").fill("20");
  await page.locator("#replay-play").click();
  await until(async () => (await placeOf(page)).tick > 25, "ticks");
  await slider(page).focus();
  await page.keyboard.press(" ");
  await until(async () => (await page.locator("#replay-play").textContent()) === "play", "a pause");
  await isShown(page, file, (await placeOf(page)).tick);
  await finish(scene);
}

async function troublesAreSaidInWords() {
  const scene = await stage();
  const { server, admin, world, folder, name, file, bases, browser } = scene;
  await admin.call("world.create", { name: "cut", generator: "open", width: 16, height: 16, paused: true });
  copyFileSync(file, join(folder, "9-cut.journal"));
  truncateSync(join(folder, "9-cut.journal"), 3000);
  const page = await browser.open(server.url(`#replay=8-none.journal`));
  const problem = page.locator("#problem");
  await until(async () => /no such journal/.test(await problem.textContent()), "a refusal");
  await page.locator("#worlds button[aria-pressed=true]").waitFor(); // the page still shows an existing world
  await page.locator("#journals summary").click();
  await until(async () => /cannot be opened: 9-cut.journal/.test(await page.locator("#journals").textContent()),
              "what cannot be opened");
  await page.locator("#journals button", { hasText: name }).click();
  await isShown(page, file, 0);
  await slider(page).focus();
  await page.keyboard.press("End");
  await isShown(page, file, LAST);
  await page.evaluate(([x, y]) => window.fogmarch.map.centre({ x, y }, 12), bases);
  const { agents } = seek(file, LAST);
  await page.evaluate((agent) => window.fogmarch.view.inspector.select(agent), agents[0].agent);
  await clickCell(page, { x: bases[0], y: bases[1] }, { button: "right" });
  await until(async () => /is a replay of .* cannot be changed/.test(await problem.textContent()), "a refusal");
  // When the replay is closed, a running world takes its place.
  await page.locator("#replay-close").click();
  await until(async () => !(await slider(page).isVisible()), "no slider");
  await page.locator("#worlds button[aria-pressed=true]").waitFor();
  assert.equal((await admin.call("replay.list", {})).replays.length, 0);
  assert.equal((await admin.call("world.info", { world })).tick, LAST);
  // Replays that a page has opened end with the page.
  await page.locator("#journals button", { hasText: name }).click();
  await until(async () => (await admin.call("replay.list", {})).replays.length === 1, "a replay");
  await page.close();
  await until(async () => (await admin.call("replay.list", {})).replays.length === 0, "no replay");
  assert.ok(readdirSync(folder).includes(name));
  await finish(scene);
}

await run([theSliderGoesForwardsAndBackwards, searchesAreThoseOfTheTick, itPlays, aPauseWithoutTimers,
           troublesAreSaidInWords]);
