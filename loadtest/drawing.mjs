// Measures what drawing many moving agents costs the web client: its debug page in headless Chromium.
//
//   bash loadtest/drawing BUILD [AGENTS [SECONDS]]    build/release, 20000, 15
//
// Prints JSON. `frame_cpu_ms` is the page's own work for a frame, from its first callback until the draw
// calls are handed to the browser; `move_cpu_ms` is the part that moves all agents between two ticks;
// `message_cpu_ms` is the cost of a tick's delta, from bytes to agents that know where to go. The medians of
// these hardly depend on the renderer; the maxima are waits for it. `frame_interval_ms` does depend on it:
// headless Chromium has no graphics card here and draws with processors, which it shares with the server and
// with everything else that runs.

import { cpus } from "node:os";
import { Browser, makeWorld, Server, until } from "./support.mjs";

const SPREAD = 40; // agents begin within so many cells of a base

function quantiles(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const at = (share) => Number((sorted[Math.min(sorted.length - 1,
                                                Math.floor(sorted.length * share))] ?? 0).toFixed(3));
  return { count: sorted.length, p50: at(0.5), p90: at(0.9), p99: at(0.99), max: at(1) };
}

async function measure(agentCount, seconds) {
  const server = await Server.start();
  const admin = await server.connect();
  const { world, teams, bases } = await makeWorld(admin, {
    width: 384, height: 384, paused: false, budget_ms: 25, planner: "dstar-lite", agents_max: agentCount });
  for (let team = 0; team < 2; team++) {
    const [x, y] = bases.slice(2 * team, 2 * team + 2);
    const count = Math.floor(agentCount / 2);
    const cells = Array.from({ length: count }, (_, i) => [
      x - SPREAD / 2 + (i % SPREAD), y - SPREAD / 2 + (Math.floor(i / SPREAD) % SPREAD)]).flat();
    const { agents } = await admin.call("agent.spawn",
                                        { world, team: teams[team], cells, place: "nearest" });
    // To and fro for ever; all agents of a team share the searches for both ends.
    await admin.call("agent.order", { world, agents, kind: "patrol", goals: [
      ...bases.slice(2 - 2 * team, 4 - 2 * team), ...bases.slice(2 * team, 2 * team + 2)] });
  }
  const moving = async () => (await admin.call("stats", { world })).world.states.moving;
  await until(async () => (await moving()) > agentCount * 0.9, "agents that move");
  const browser = await Browser.start();
  const page = await browser.open(server.url(`#world=${world}`));
  await until(() => page.evaluate((count) => window.fogmarch?.view?.truth?.mirror.agentCount === count,
                                  agentCount), "all agents");
  const drawn = await page.evaluate(async (ms) => {
    const { map, view } = window.fogmarch;
    const frames = [], moves = [], messages = [], intervals = [];
    const move = map.agents.move.bind(map.agents);
    map.agents.move = (mirror) => {
      const from = performance.now();
      move(mirror);
      moves.push(performance.now() - from);
    };
    let begun = 0, last = 0;
    map.app.ticker.add(() => { begun = performance.now(); }, undefined, 1000);   // before all others
    map.app.ticker.add(() => { frames.push(performance.now() - begun); }, undefined, -1000);
    const { carrier } = view.client.link;
    const take = carrier.onMessage;
    carrier.onMessage = (bytes) => {
      const from = performance.now();
      take(bytes);
      if (bytes.length > 10000) messages.push(performance.now() - from); // deltas, not answers
    };
    const tick = view.truth.mirror.tick;
    const started = performance.now();
    const bytes = view.client.received;
    await new Promise((done) => {
      const frame = (now) => {
        if (last > 0) intervals.push(now - last);
        last = now;
        if (now - started < ms) requestAnimationFrame(frame);
        else done();
      };
      requestAnimationFrame(frame);
    });
    const took = performance.now() - started;
    return { frames, moves, messages, intervals, ticks: view.truth.mirror.tick - tick,
             bytes: Math.round((view.client.received - bytes) / took * 1000) };
  }, seconds * 1000);
  const movingAtTheEnd = await moving();
  await browser.screenshot(page, "drawing");
  await browser.stop();
  admin.close();
  await server.stop();
  return {
    machine: cpus()[0].model, processors: cpus().length, agents: agentCount, moving: movingAtTheEnd,
    seconds, ticks: drawn.ticks, bytes_per_second: drawn.bytes,
    frame_cpu_ms: quantiles(drawn.frames), move_cpu_ms: quantiles(drawn.moves), message_cpu_ms: quantiles(drawn.messages),
    frame_interval_ms: quantiles(drawn.intervals),
  };
}

const [agents = "20000", seconds = "15"] = process.argv.slice(3);
console.log(JSON.stringify(await measure(Number(agents), Number(seconds)), null, 2));
