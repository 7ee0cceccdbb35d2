// For the browser tests: a server, a browser, and a client of the test's own beside the page.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { randomInt } from "node:crypto";
import { existsSync, mkdtempSync, readFileSync, rmSync, createWriteStream } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

export const build = process.argv[2];
const library = pathToFileURL(join(build, "web-client/clients/js/dist/")).href;
export const { connectTcp } = await import(library + "node.js");
export const fogmarch = await import(library + "index.js");

export const PATIENCE_MS = 120000; // enough for a busy machine that draws without a graphics card

/** Waits until `condition` returns something true, and returns that. */
export async function until(condition, what) {
  const end = Date.now() + PATIENCE_MS;
  for (;;) {
    const result = await condition();
    if (result) return result;
    assert.ok(Date.now() < end, `waited in vain for: ${typeof what === "function" ? what() : what}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

function isFree(port) {
  return new Promise((resolve) => {
    const server = createServer();
    server.on("error", () => resolve(false));
    server.listen(port, "127.0.0.1", () => server.close(() => resolve(true)));
  });
}

/** Ports for servers that start again where they were, or are told of each other before they start. No program gets one
 *  of these for a connection of its own, as it may get any that the system picks, while no server has it. */
export async function freePorts(count) {
  const end = Number(readFileSync("/proc/sys/net/ipv4/ip_local_port_range", "utf8").split("\t")[0]);
  const ports = new Set();
  while (ports.size < count) {
    const port = randomInt(Math.floor(end / 3), end);
    if (await isFree(port)) ports.add(port);
  }
  return [...ports];
}

export class Server {
  static async start(flags = [], environment = {}, ports = ["0", "0"]) {
    const server = new Server();
    server.folder = mkdtempSync(join(tmpdir(), "fogmarch-browser-"));
    const port = join(server.folder, "port");
    const http = join(server.folder, "http");
    server.process = spawn(join(build, "bin/fogmarchd"), [
      "--listen", `127.0.0.1:${ports[0]}`, "--port-file", port,
      "--http", `127.0.0.1:${ports[1]}`, "--http-port-file", http,
      "--budget-ms", "10000", // searches are never cut short because the machine is busy
      ...flags,
    ], { env: { ...process.env, ...environment }, stdio: ["ignore", "ignore", "pipe"] });
    process.on("exit", () => server.process.kill("SIGKILL")); // a test that failed leaves nothing behind
    server.log = "";
    server.process.stderr.on("data", (data) => { server.log += data; });
    server.ended = new Promise((resolve) => server.process.on("exit", resolve));
    await until(() => existsSync(port) && existsSync(http), () => `a server: ${server.log}`);
    server.port = Number(readFileSync(port, "utf8"));
    server.http = Number(readFileSync(http, "utf8"));
    return server;
  }

  url(page = "") {
    return `http://127.0.0.1:${this.http}/${page}`;
  }

  connect(hello = {}) {
    return connectTcp("127.0.0.1", this.port, { name: "browser test", ...hello });
  }

  async stop() {
    this.process.kill("SIGTERM");
    const code = await this.ended;
    rmSync(this.folder, { recursive: true });
    assert.equal(code, 0, this.log);
  }
}

const browsers = new Set(); // that run

// Ten frames a second instead of sixty: enough for the tests, and without a graphics card drawing takes all
// processors.
const FRAME_MS = 100;

function drawLess(frameMs) {
  const [ask, cancel] = [window.requestAnimationFrame.bind(window), window.cancelAnimationFrame.bind(window)];
  const asked = new Map(); // the page's request number to the browser's
  let [last, next] = [0, 0];
  window.requestAnimationFrame = (callback) => {
    const number = ++next;
    const frame = (now) => {
      if (now !== last && now - last < frameMs) {
        asked.set(number, ask(frame));
        return;
      }
      last = now;
      asked.delete(number);
      callback(now);
    };
    asked.set(number, ask(frame));
    return number;
  };
  window.cancelAnimationFrame = (number) => {
    cancel(asked.get(number));
    asked.delete(number);
  };
}

/** Opens pages and watches them: any error on a page fails the test. */
export class Browser {
  static async start() {
    const browser = new Browser();
    browser.errors = [];
    browser.pages = []; // each page with the last lines of its console
    browsers.add(browser);
    browser.browser = await chromium.launch({
      executablePath: "/usr/bin/chromium",
      timeout: PATIENCE_MS,
      args: ["--no-sandbox", "--use-gl=angle", "--use-angle=swiftshader",
             "--enable-unsafe-swiftshader"],
    });
    return browser;
  }

  /** Opens a page in a context of its own, like another person at another machine, which `device` describes. */
  async open(url, prepare = async () => {}, device = {}) {
    const context = await this.browser.newContext({ viewport: { width: 1366, height: 768 }, ...device });
    context.setDefaultTimeout(PATIENCE_MS);
    await context.addInitScript(drawLess, FRAME_MS);
    const page = await context.newPage();
    const lines = [];
    this.pages.push({ page, lines });
    page.on("pageerror", (error) => this.errors.push(error.stack));
    page.on("console", (message) => {
      lines.push(`${message.type()}: ${message.text()}`);
      // The browser itself logs a refused WebSocket; that is no error here.
      if (message.type() === "error" && !message.text().includes("WebSocket")) {
        this.errors.push(message.text());
      }
    });
    await prepare(page);
    await page.goto(url);
    return page;
  }

  async screenshot(page, name) {
    await page.screenshot({ path: join(build, "browser/screenshots", `${name}.png`) });
  }

  async stop() {
    browsers.delete(this);
    await this.browser.close();
    assert.deepEqual(this.errors, []);
  }

  /** After a failed test: prints each page's text and console, and takes a screenshot. */
  async tell(name) {
    for (const [i, { page, lines }] of this.pages.entries()) {
      const shown = await page.evaluate(() => document.body.innerText).catch(String);
      console.log(`--- page ${i + 1} of ${name}: ${page.url()}\n${shown}\n${lines.slice(-20).join("\n")}`);
      await this.screenshot(page, `failed-${name}-${i + 1}`).catch((error) => console.log(String(error)));
    }
    console.log("--- errors on the pages:", this.errors);
  }
}

/** A paused world with two teams. */
export async function makeWorld(admin, options = {}) {
  const { world, bases } = await admin.call("world.create", {
    name: "arena", generator: "skirmish", width: 128, height: 128, players: 2, seed: 7,
    tick_hz: 20, paused: true, ...options,
  });
  const teams = [];
  for (let i = 0; i < 2; i++) teams.push((await admin.call("team.create", { world })).team);
  return { world, teams, bases };
}

/** Free cells around a base, in the form that agent.spawn takes. */
export function cellsAround(base, count) {
  const side = Math.ceil(Math.sqrt(count));
  return Array.from({ length: count }, (_, i) => [
    base[0] - (side >> 1) + (i % side), base[1] - (side >> 1) + Math.floor(i / side),
  ]).flat();
}

/** Colour of the map's canvas at the middle of a cell: [r, g, b]. */
export async function colourAt(page, cell) {
  return page.evaluate(async ({ x, y }) => {
    const { map } = window.fogmarch;
    const frames = map.frames;
    while (map.frames < frames + 2) await new Promise(requestAnimationFrame);
    map.app.render();
    const at = map.pixelOfCell({ x, y });
    const canvas = map.app.canvas;
    const copy = document.createElement("canvas");
    copy.width = copy.height = 1;
    const scale = canvas.width / canvas.clientWidth;
    const context = copy.getContext("2d");
    context.drawImage(canvas, at.x * scale, at.y * scale, 1, 1, 0, 0, 1, 1);
    return [...context.getImageData(0, 0, 1, 1).data.slice(0, 3)];
  }, cell);
}

/** The part of the map that is not under anything but the small map. */
export function partSeen(page) {
  return page.evaluate(() => {
    const box = document.getElementById("map").getBoundingClientRect();
    let [seen, all] = [0, 0];
    for (let y = box.top + 4; y < box.bottom; y += 8) {
      for (let x = box.left + 4; x < box.right; x += 8) {
        all++;
        seen += document.elementFromPoint(x, y)?.closest("#map, #minimap-box") != null;
      }
    }
    return seen / all;
  });
}

/** Clicks a cell of the map. */
export async function clickCell(page, cell, options = {}) {
  const at = await page.evaluate((where) => window.fogmarch.map.pixelOfCell(where), cell);
  await page.locator("#map canvas").click({ position: at, ...options });
}

/** The debug page's table about the selected agent: names to values. */
export async function factsOf(page) {
  const names = await page.locator("#agent-facts dt").allTextContents();
  const values = await page.locator("#agent-facts dd").allTextContents();
  return Object.fromEntries(names.map((name, i) => [name, values[i]]));
}

/** Runs functions one after the other. Arguments behind the build folder name the ones to run. */
export async function run(cases) {
  const wanted = process.argv.slice(3);
  for (const one of cases) {
    if (wanted.length > 0 && !wanted.includes(one.name)) continue;
    console.log(`[ RUN      ] ${one.name}`);
    const start = Date.now();
    try {
      await one();
    } catch (error) {
      console.log(`[  FAILED  ] ${one.name} (${((Date.now() - start) / 1000).toFixed(1)} s)\n${error.stack}`);
      for (const browser of browsers) await browser.tell(one.name);
      process.exit(1); // servers and browsers end with it
    }
    console.log(`[       OK ] ${one.name} (${((Date.now() - start) / 1000).toFixed(1)} s)`);
  }
}

export { assert };
