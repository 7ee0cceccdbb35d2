// The pages are accessible: axe-core finds nothing on any page or sheet, at phone and at desktop size; all
// sheets work by keyboard; nothing is animated for people who have asked for reduced motion; at six sizes no
// text or button is cut off, what lies over the map does not overlap, and sheets leave most of the map.

import { createRequire } from "node:module";
import { readFileSync } from "node:fs";
import { assert, Browser, cellsAround, makeWorld, partSeen, run, Server, until } from "./support.mjs";

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

// Rows of buttons that are scrolled sideways are meant to be wider than the screen.
async function isAllThere(page, where) {
  const cut = await page.evaluate(() => {
    const isShown = (one) => one.getClientRects().length > 0 && getComputedStyle(one).visibility === "visible";
    const isCut = (one) => {
      const { left, right } = one.getBoundingClientRect();
      const box = one.closest("#right, #left, dialog, .sheet")?.getBoundingClientRect();
      const [from, to] = (box?.width ?? 0) === 0 ? [0, innerWidth] : [box.left, box.right]; // #right has no box on phones
      const isSmall = innerWidth <= 900 || innerHeight <= 500; // as style.css says
      const isScrolled = one.closest(".tabs, .wide") !== null || (isSmall && one.closest("#orders") !== null);
      return !isScrolled && (left < from - 1 || right > to + 1 || (one.matches("button") && one.scrollWidth > one.clientWidth + 1));
    };
    return [...document.querySelectorAll("button, input, select, h1, h2, dt, dd, p, li, label, #status")]
      .filter((one) => isShown(one) && !one.classList.contains("only-read") && isCut(one))
      .map((one) => `${one.tagName} ${one.id} ${one.textContent.slice(0, 30)}`);
  });
  assert.deepEqual(cut, [], `${where}: cut off`);
  const boxes = [];
  for (const id of ["#guide", "#tip", "#minimap", "#news-box", "#orders"]) {
    const box = await page.locator(id).isVisible() ? await page.locator(id).boundingBox() : null;
    for (const [other, b] of boxes) {
      assert.ok(box === null || box.x >= b.x + b.width || b.x >= box.x + box.width ||
                box.y >= b.y + b.height || b.y >= box.y + box.height, `${where}: ${id} overlaps ${other}`);
    }
    if (box !== null) boxes.push([id, box]);
  }
}

async function chartsDoNotOverlap(page, where) {
  const boxes = await page.evaluate(() => [...document.querySelectorAll(".chart > *")].map((one) => {
    const { top, bottom, left, right } = one.getBoundingClientRect();
    return { chart: one.parentElement.dataset.chart, top, bottom, left, right };
  }).filter(({ top, bottom }) => bottom > top));
  for (const [i, a] of boxes.entries()) {
    for (const b of boxes.slice(i + 1)) {
      assert.ok(a.chart === b.chart || a.bottom <= b.top + 1 || b.bottom <= a.top + 1 || a.right <= b.left + 1 ||
                b.right <= a.left + 1, `${where}: the charts ${a.chart} and ${b.chart} overlap`);
    }
  }
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

async function sixSizes() {
  const { server, world, agents, browser, end } = await stage();
  const TABLET = { viewport: { width: 768, height: 1024 }, hasTouch: true, isMobile: true };
  const LOW = { viewport: { width: 844, height: 390 }, hasTouch: true, isMobile: true }; // phones in landscape
  const LONG = { viewport: { width: 932, height: 430 }, hasTouch: true, isMobile: true };
  const WIDE = { viewport: { width: 1920, height: 1080 } };
  for (const [name, device] of Object.entries({ PHONE, LOW, LONG, TABLET, DESK, WIDE })) {
    const play = await browser.open(server.url(`play.html?world=${world}&team=1`), undefined, device);
    await play.locator("#minimap").waitFor();
    await play.locator("#map").focus();
    await play.keyboard.press("Control+a");
    await play.keyboard.press("b");
    await play.locator("#tip").waitFor();
    await isAllThere(play, `play, ${name}`);
    await play.locator("#help-open").click();
    await isAllThere(play, `help, ${name}`);
    const [title, dialog] = [await play.locator("#help-title").boundingBox(), await play.locator("#help").boundingBox()];
    assert.ok(title.y >= dialog.y, `${name}: the help begins at its top`);
    await play.context().close();
    const debug = await browser.open(server.url(`#world=${world}&agent=${agents[0]}&overlay=g`), undefined, device);
    await until(async () => await debug.locator("#agent-facts dt").count() > 0, "an agent");
    await isAllThere(debug, `debug, ${name}`);
    for (const button of await debug.locator("#sheets button").all()) {
      if (await button.isVisible()) {
        await button.click();
        assert.ok(await partSeen(debug) > 0.5, `${name}: ${await partSeen(debug)} of the map is seen`);
        await chartsDoNotOverlap(debug, `debug, ${name}`);
        await isAllThere(debug, `debug, ${name}, ${await button.textContent()}`);
      }
    }
    await debug.context().close();
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
    await page.context().close();
    const phone = await browser.open(server.url(file), undefined, PHONE);
    await phone.getByText("There is no world yet").waitFor(); // and to be seen, not only in a sheet that is closed
  }
  await browser.stop();
  await server.stop();
}

await run([thePlayPage, theDebugPage, sixSizes, emptyAndCalm]);
