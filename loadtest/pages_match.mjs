// A match of two players with nothing but the pages: created on the play page, played by mouse, minimap and
// keys, each player in a browser of its own. Both act like people, at random from a seed: select, send,
// attack-move, patrol, build, recall groups, look around, reload.
//
//   bash loadtest/pages BUILD match [MINUTES [SEED]]    10, 1
//
// Prints JSON. Exit status 1: an error on a page, a page that has lost its match at the end, or players who never met.

import { join } from "node:path";
import { assert, Browser, build, Server, until } from "./support.mjs";

const THINK_MS = 700;   // between two actions of a player
const RELOAD_EVERY = 150; // actions

// Mulberry32: the same seed gives the same actions, as far as the pages behave the same.
function random(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

class Player {
  constructor(page, seed) {
    this.page = page;
    this.random = random(seed);
    this.deeds = {};
    this.met = 0;      // how often enemies were in sight
    this.stopped = 0;  // how often units had stopped for an enemy
    this.news = new Set();
    this.problems = new Set();
  }

  pick(list) {
    return list[Math.floor(this.random() * list.length)];
  }

  async point() {
    const box = await this.page.locator("#map canvas").boundingBox();
    return { x: box.x + 40 + this.random() * (box.width - 80), y: box.y + 60 + this.random() * (box.height - 160) };
  }

  async click(options) {
    const { x, y } = await this.point();
    await this.page.mouse.click(x, y, options);
  }

  async minimap(button) {
    const box = await this.page.locator("#minimap").boundingBox();
    await this.page.mouse.click(box.x + (0.1 + 0.8 * this.random()) * box.width,
                                box.y + (0.1 + 0.8 * this.random()) * box.height, { button });
  }

  // What a player may do next, each with its weight.
  get choices() {
    const { page } = this;
    const key = (name) => async () => {
      await page.locator("#map").focus();
      await page.keyboard.press(name);
    };
    const aim = (name) => async () => {
      await key(name)();
      await this.click();
    };
    return [
      [4, "box", async () => {
        const [from, to] = [await this.point(), await this.point()];
        await page.mouse.move(from.x, from.y);
        await page.mouse.down();
        await page.mouse.move(to.x, to.y, { steps: 4 });
        await page.mouse.up();
      }],
      [3, "all", key("Control+a")],
      [2, "idle", key(".")],
      [5, "send", () => this.click({ button: "right" })],
      [4, "send far", () => this.minimap("right")],
      [3, "attack", async () => {
        await key("Control+a")();
        await key("a")();
        await this.minimap("left");
      }],
      [2, "patrol", async () => {
        await key("p")();
        await page.keyboard.down("Shift");
        for (let i = 0; i < 3; i++) await this.click();
        await page.keyboard.up("Shift");
      }],
      [2, "explore", async () => {
        await key("Control+a")();
        await key("e")();
      }],
      [1, "guard", aim("g")], [1, "stop", key("s")], [1, "hold", key("h")],
      [1, "wall", async () => {
        await key("c")();
        await key("b")();
        await this.click();
        await page.keyboard.press("Escape");
      }],
      [1, "make a group", key(`Control+${1 + Math.floor(this.random() * 3)}`)],
      [2, "call a group", key(`${1 + Math.floor(this.random() * 3)}`)],
      [2, "look", () => this.minimap("left")],
      [2, "zoom", async () => {
        const { x, y } = await this.point();
        await page.mouse.move(x, y);
        await page.mouse.wheel(0, this.pick([-300, 300]));
      }],
      [1, "home", key("c")], [1, "news", key("l")], [1, "take back", key("Backspace")],
      [3, "go on", async () => {
        if (await page.locator("#go-on").isEnabled()) await key("r")();
      }],
    ];
  }

  async act() {
    const { choices } = this;
    let at = this.random() * choices.reduce((sum, [weight]) => sum + weight, 0);
    const [, name, deed] = choices.find(([weight]) => (at -= weight) < 0);
    await deed();
    this.deeds[name] = (this.deeds[name] ?? 0) + 1;
  }

  async look() {
    const seen = await this.page.evaluate(() => {
      const { game } = window.fogmarch;
      if (game === undefined) return undefined;
      const { mirror } = game.view;
      const teams = [...mirror.teams.slice(0, mirror.agentCount)];
      return { tick: mirror.tick, mine: teams.filter((team) => team === game.team).length, all: teams.length,
               stopped: game.alerts.list.length, heap: performance.memory?.usedJSHeapSize ?? 0,
               ownMs: window.fogmarch.map.ownMs };
    });
    assert.ok(seen, "the page has lost its match");
    this.met += seen.all > seen.mine;
    this.stopped += seen.stopped > 0;
    for (const line of await this.page.locator("#news li").allTextContents()) {
      this.news.add(line.replace(/[\d,. ]+/g, " ").trim());
    }
    if (await this.page.locator("#problem").isVisible()) {
      this.problems.add(await this.page.locator("#problem").textContent());
    }
    return seen;
  }

  async play(until) {
    for (let deed = 1; Date.now() < until; deed++) {
      await this.act();
      this.last = await this.look();
      this.heapFirst ??= this.last.heap;
      if (deed % RELOAD_EVERY === 0) {
        await this.page.reload();
        await this.page.locator("#minimap").waitFor();
      }
      await this.page.waitForTimeout(THINK_MS * (0.5 + this.random()));
    }
  }

  get result() {
    const { deeds, met, stopped, last } = this;
    return { deeds: Object.values(deeds).reduce((sum, n) => sum + n, 0), by_kind: deeds, looks_with_enemies: met,
             looks_with_stopped_units: stopped, units: last.mine, own_ms_of_a_frame: Number(last.ownMs.toFixed(2)),
             heap_mib: Math.round(last.heap / 2 ** 20), news: [...this.news], problems: [...this.problems] };
  }
}

async function playMatch(minutes, seed) {
  const server = await Server.start();
  const browsers = [await Browser.start(), await Browser.start()]; // a window behind another does not draw
  const host = await browsers[0].open(server.url("play.html"));
  await host.locator("input[name=seed]").fill(String(seed));
  await host.locator("#host").click();
  await until(async () => await host.locator("#seats a").count() === 2, "two seats");
  const links = await host.locator("#seats a").evaluateAll((all) => all.map((one) => one.href));
  await host.context().close();
  const players = [];
  for (const [i, link] of links.entries()) {
    const page = await browsers[i].open(link, undefined, { viewport: { width: 1280, height: 800 } });
    await page.locator("#minimap").waitFor();
    await page.locator("#guide button").click();
    players.push(new Player(page, seed * 2 + i));
  }
  const begun = Date.now();
  await Promise.all(players.map((player) => player.play(begun + minutes * 60000)));
  for (const [i, { page }] of players.entries()) {
    await page.screenshot({ path: join(build, "browser/screenshots", `match-${i + 1}.png`) });
  }
  const result = { minutes, seed, ticks: players[0].last.tick, players: players.map((player) => player.result),
                   errors: browsers.flatMap(({ errors }) => errors) };
  console.log(JSON.stringify(result, null, 2));
  for (const browser of browsers) await browser.stop(); // throws if there was an error on a page
  await server.stop();
  for (const player of players) {
    assert.ok(player.met > 0, "the players never met");
  }
}

const [minutes = "10", seed = "1"] = process.argv.slice(3);
await playMatch(Number(minutes), Number(seed));
