// Whether the memory of a page grows when it is used for a long time: the debug page is panned, zoomed and
// shown with all overlays and with numbers in cells while agents march; then the same beside the play page.
//
//   bash loadtest/pages BUILD memory [MINUTES [FOLDER]]    30, the working folder
//
// Every few seconds it samples the resident memory of the page's process and of the browser's GPU process, and
// the page's heap. Writes pages-memory.csv and pages-memory.svg to FOLDER and prints JSON. Exit status 1: the
// median of a column's last quarter exceeds that of its second quarter by more than a tenth and 16 MiB.

import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Browser, cellsAround, makeWorld, Server, until } from "./support.mjs";

const SAMPLE_MS = 5000;
const DEED_MS = 120;
const GROWTH = 1.1;
const GROWTH_MIB = 16;
const AGENTS = 900;
const COLUMNS = ["debug_page_mib", "debug_heap_mib", "play_page_mib", "play_heap_mib", "graphics_mib"];

// The processes of a kind that are children or further descendants of `root`.
function processes(root, kind) {
  const parents = new Map();
  const found = [];
  for (const name of readdirSync("/proc").filter((entry) => /^\d+$/.test(entry))) {
    try {
      const pid = Number(name);
      parents.set(pid, Number(/\) \S (\d+)/.exec(readFileSync(`/proc/${pid}/stat`, "utf8"))[1]));
      if (readFileSync(`/proc/${pid}/cmdline`, "utf8").includes(`--type=${kind}`)) found.push(pid);
    } catch {
      // the process has ended
    }
  }
  const isBelow = (pid) => pid === root || (parents.has(pid) && isBelow(parents.get(pid)));
  return found.filter(isBelow);
}

// 0: the process has ended.
function residentMib(pid) {
  try {
    const [, pages] = readFileSync(`/proc/${pid}/statm`, "utf8").split(" ");
    return Math.round(Number(pages) * 4096 / 2 ** 20 * 10) / 10;
  } catch {
    return 0;
  }
}

const heapOf = async (session) => {
  const { metrics } = await session.send("Performance.getMetrics");
  return Math.round(metrics.find(({ name }) => name === "JSHeapUsedSize").value / 2 ** 20 * 10) / 10;
};

const median = (values) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)];

function judge(rows) {
  const quarter = Math.floor(rows.length / 4);
  return Object.fromEntries(COLUMNS.map((name) => {
    const values = rows.map((row) => row[name]);
    const [early, late] = [median(values.slice(quarter, 2 * quarter)), median(values.slice(-quarter))];
    return [name, { early, late, grows: late > early * GROWTH + GROWTH_MIB }];
  }));
}

function chart(rows) {
  const [width, height, left, gap] = [900, 100, 70, 34];
  const last = rows.at(-1).second;
  const panels = COLUMNS.map((name, i) => {
    const top = 24 + i * (height + gap);
    const most = Math.max(...rows.map((row) => row[name])) * 1.1;
    const points = rows.map((row) => `${(left + row.second / last * (width - left - 10)).toFixed(1)},` +
                                     `${(top + height - row[name] / most * height).toFixed(1)}`).join(" ");
    return `<text x="${left}" y="${top - 6}">${name.replaceAll("_", " ").replace("mib", "MiB")}</text>` +
      `<text x="${left - 6}" y="${top + 10}" class="n">${most.toFixed(0)}</text>` +
      `<text x="${left - 6}" y="${top + height}" class="n">0</text>` +
      `<path class="axis" d="M${left} ${top}v${height}h${width - left - 10}"/><polyline points="${points}"/>`;
  });
  const bottom = 24 + COLUMNS.length * (height + gap);
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${bottom}" font-family="sans-serif" font-size="13">` +
    "<style>.n{text-anchor:end}.axis{fill:none;stroke:#888}polyline{fill:none;stroke:#0072b2;stroke-width:1.5}</style>" +
    `<rect width="${width}" height="${bottom}" fill="#fff"/>${panels.join("")}` +
    `<text x="${width - 10}" y="${bottom - 14}" class="n">${(last / 60).toFixed(1)} minutes</text></svg>\n`;
}

// The actions of a person who looks at everything.
async function useDebug(page, turn) {
  await page.evaluate(async ({ turn, names }) => {
    const { map } = window.fogmarch;
    const overlay = document.querySelector("#overlay");
    if (turn % 40 === 0) {
      overlay.value = names[Math.floor(turn / 40) % names.length];
      overlay.dispatchEvent(new Event("change"));
    }
    if (turn % 400 === 200) document.querySelector("#waits-all").click();
    if (turn % 25 === 0) {
      const { width, height } = map.app.screen;
      map.zoomAt(width / 2, height / 2, map.zoom > 30 ? 0.2 : 1.6);
    }
    const angle = turn / 9;
    map.pan(60 * Math.cos(angle), 60 * Math.sin(angle));
    if (turn % 200 === 0) map.fit();
    if (turn % 200 === 40) map.centre({ x: 20 + turn % 80, y: 20 + turn % 70 }, 40);
  }, { turn, names: ["g", "state", "h", "rhs", "key", "parents", "f", "learned", "closed", "none", "open"] });
}

async function usePlay(page, turn) {
  await page.evaluate(async (turn) => {
    const { map, game } = window.fogmarch;
    const angle = turn / 7;
    map.pan(50 * Math.cos(angle), 50 * Math.sin(angle));
    if (turn % 30 === 0) map.centre({ x: 64, y: 64 }, [6, 14, 30][turn / 30 % 3]);
    if (turn % 50 === 0) game.selection.chooseAll();
    if (turn % 100 === 25) await game.send("move", { x: 20 + turn * 7 % 88, y: 20 + turn * 11 % 88 });
  }, turn);
}

async function measure(minutes, folder) {
  const server = await Server.start();
  const admin = await server.connect();
  const { world, teams, bases } = await makeWorld(admin, { paused: false, tick_hz: 10, budget_ms: 20,
                                                           planner: "dstar-lite" });
  let selected;
  for (let i = 0; i < 2; i++) {
    const base = bases.slice(2 * i, 2 * i + 2);
    const { agents } = await admin.call("agent.spawn", { world, team: teams[i], place: "nearest",
                                                         cells: cellsAround(base, AGENTS / 2) });
    await admin.call("agent.order", { world, agents, kind: "patrol", goals: [
      ...bases.slice(2 - 2 * i, 4 - 2 * i), ...base] });
    await admin.call("agent.set", { world, agents: agents.slice(0, 60), tag: new TextEncoder().encode(`unit ${i}`) });
    selected = agents[1];
  }
  const browser = await Browser.start();
  const debug = await browser.open(server.url(`#world=${world}&agent=${selected}&overlay=g`));
  await until(() => debug.evaluate(() => window.fogmarch?.view?.inspector.overlay.count > 0), "a search");
  const system = await browser.browser.newBrowserCDPSession();
  const { processInfo } = await system.send("SystemInfo.getProcessInfo");
  const root = processInfo.find(({ type }) => type === "browser").id;
  const before = new Set(processes(root, "renderer"));
  const play = await browser.open(server.url(`play.html?world=${world}&team=1`));
  await until(() => play.evaluate(() => window.fogmarch.game !== undefined), "a seat");
  const [playPid] = processes(root, "renderer").filter((pid) => !before.has(pid));
  const busiest = (list) => list.sort((a, b) => residentMib(b) - residentMib(a))[0];
  const debugPid = busiest([...before]);
  const sessions = await Promise.all([debug, play].map((page) => page.context().newCDPSession(page)));
  await Promise.all(sessions.map((session) => session.send("Performance.enable")));
  const begun = Date.now();
  const rows = [];
  let due = begun;
  for (let turn = 0; Date.now() - begun < minutes * 60000; turn++) {
    await Promise.all([useDebug(debug, turn), usePlay(play, turn)]);
    if (Date.now() >= due) {
      due += SAMPLE_MS;
      const [debugHeap, playHeap] = await Promise.all(sessions.map(heapOf));
      rows.push({ second: Math.round((Date.now() - begun) / 100) / 10, debug_page_mib: residentMib(debugPid),
                  debug_heap_mib: debugHeap, play_page_mib: residentMib(playPid), play_heap_mib: playHeap,
                  graphics_mib: residentMib(busiest(processes(root, "gpu-process"))) });
    }
    await debug.waitForTimeout(DEED_MS);
  }
  const frames = await Promise.all([debug, play].map((page) => page.evaluate(() => window.fogmarch.map.frames)));
  await browser.stop();
  admin.close();
  await server.stop();
  writeFileSync(join(folder, "pages-memory.csv"), [["second", ...COLUMNS].join(","),
    ...rows.map((row) => [row.second, ...COLUMNS.map((name) => row[name])].join(","))].join("\n") + "\n");
  writeFileSync(join(folder, "pages-memory.svg"), chart(rows));
  const figures = judge(rows);
  console.log(JSON.stringify({ minutes, samples: rows.length, frames, figures }, null, 2));
  process.exitCode = Object.values(figures).some(({ grows }) => grows) ? 1 : 0;
}

const [minutes = "30", folder = "."] = process.argv.slice(3);
await measure(Number(minutes), folder);
