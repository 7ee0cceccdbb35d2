// The pages are accessible: axe-core finds nothing on any page or sheet, at phone and at desktop size; all
// sheets work by keyboard; nothing is animated for people who have asked for reduced motion.

import { createRequire } from "node:module";
import { readFileSync } from "node:fs";
import { assert, Browser, cellsAround, makeWorld, run, Server, until } from "./support.mjs";

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

const PHONE = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true };
const DESK = { viewport: { width: 1280, height: 800 } };

async function stage() {
  const server = await Server.start();
  const admin = await server.connect();
  const { world, teams, bases } = await makeWorld(admin, { players_build: 10 });
  const { agents } = await admin.call("agent.spawn",
                                      { world, team: teams[0], cells: cellsAround(bases.slice(0, 2), 9) });
  await admin.call("agent.order", { world, agents, kind: "move", goal: bases.slice(2, 4) });
  await admin.call("world.step", { world, ticks: 2 });
  const browser = await Browser.start();
  const end = async () => {
    await browser.stop();
    admin.close();
    await server.stop();
  };
  return { server, world, agents, browser, end };
}

// axe is evaluated as text, because the pages' content security policy forbids other scripts.
async function look(page, where) {
  await page.evaluate(() => window.fogmarch.map?.app.ticker.stop()); // drawing takes most of the time here
  const { violations } = await page.evaluate(`${axe}; axe.run({ iframes: false })`);
  const found = violations.map(({ id, help, nodes }) =>
    `${id}: ${help}\n  ${nodes.map(({ html }) => html.slice(0, 160)).join("\n  ")}`);
  assert.deepEqual(found, [], where);
}

async function sheetsOf(page, where) {
  await look(page, where);
  for (const button of await page.locator("#sheets button").all()) {
    if (!(await button.isVisible())) continue;
    const id = await button.getAttribute("data-sheet");
    await button.focus();
    await page.keyboard.press("Enter");
    assert.ok(await page.locator(`#${id}`).isVisible(), `${id} opens by keyboard`);
    await look(page, `${where}, ${id}`);
    assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), `${where}, ${id}: as wide as the screen`);
    await page.keyboard.press("Escape");
    assert.ok(!(await page.locator(`#${id}`).isVisible()), `${id} closes by keyboard`);
    assert.equal(await page.evaluate(() => document.activeElement.dataset.sheet), id, "and the focus is where it was");
  }
}

async function thePlayPage() {
  const { server, world, browser, end } = await stage();
  for (const [name, device] of Object.entries({ PHONE, DESK })) {
    const page = await browser.open(server.url(`play.html?world=${world}&team=1`), undefined, device);
    await page.locator("#minimap").waitFor();
    await page.locator("#map").focus();
    await page.keyboard.press("Control+a");
    await page.keyboard.press("b");
    await sheetsOf(page, name);
    await page.locator("#help-open").click();
    await look(page, `${name}, help`);
    await page.context().close();
  }
  await end();
}

async function theDebugPage() {
  const { server, world, agents, browser, end } = await stage();
  for (const [name, device] of Object.entries({ PHONE, DESK })) {
    const page = await browser.open(server.url(`#world=${world}&agent=${agents[0]}&overlay=g`), undefined, device);
    await until(async () => await page.locator("#agent-facts dt").count() > 0, "an agent");
    assert.ok((await page.locator("#map canvas").boundingBox()).width >= Math.min(390, device.viewport.width),
              "the map has the screen");
    await sheetsOf(page, name);
    if (name === "DESK") {
      for (const tab of await page.locator("[role=tab]").all()) {
        await tab.click();
        await look(page, `${name}, ${await tab.textContent()}`);
      }
    }
    await page.context().close();
  }
  await end();
}

// Without any world, and with reduced motion.
async function emptyAndCalm() {
  const server = await Server.start();
  const browser = await Browser.start();
  for (const file of ["", "play.html"]) {
    const page = await browser.open(server.url(file), undefined, { ...DESK, reducedMotion: "reduce" });
    await until(async () => (await page.locator("body").textContent()).includes("There is no world yet"), "words");
    await look(page, `${file}, no world`);
    assert.ok(await page.evaluate(() => matchMedia("(prefers-reduced-motion: reduce)").matches));
  }
  await browser.stop();
  await server.stop();
}

await run([thePlayPage, theDebugPage, emptyAndCalm]);
