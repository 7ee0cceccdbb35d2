// Pages follow their world through a cluster.
//
// Goal    when a world is moved to another node, and when its node dies, the play page and the debug page continue
//         there by themselves and say where they are; the same units are selected, and orders arrive.
// Method  real nodes and real etcd; each node lets in the pages of the other (http_origins). The pages come from the
//         node that first has the world, and that node still runs when the other one is killed.

import { spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { assert, Browser, cellsAround, clickCell, freePorts, makeWorld, run, Server, until } from "./support.mjs";

const UNITS = 9;

const etcd = [...(process.env.PATH ?? "").split(delimiter), "/usr/bin", "/usr/local/bin"]
  .map((folder) => join(folder, "etcd")).find(existsSync);
if (etcd === undefined) {
  console.log("[ SKIPPED  ] install the Debian package etcd-server");
  process.exit(77);
}

async function startEtcd(folder) {
  const [client, peer] = (await freePorts(2)).map((port) => `http://127.0.0.1:${port}`);
  const child = spawn(etcd, [
    "--name", "m", "--data-dir", join(folder, "etcd"), "--listen-client-urls", client,
    "--advertise-client-urls", client, "--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer,
    "--initial-cluster", `m=${peer}`, "--logger=zap",
  ], { stdio: "ignore" });
  process.on("exit", () => child.kill("SIGKILL"));
  await until(async () => {
    const answer = await fetch(`${client}/health`).catch(() => undefined);
    return answer !== undefined && (await answer.json()).health === "true";
  }, "etcd");
  return { address: client.replace("http://", ""), child };
}

async function startNodes(folder, endpoints) {
  const ports = await freePorts(2);
  return Promise.all(["a", "b"].map(async (name, i) => {
    const journals = join(folder, name);
    mkdirSync(journals);
    return Server.start([
      "--cluster-name", "test", "--cluster-node", name, "--cluster-endpoints", endpoints, "--journal-dir", journals,
      "--http-origins", `http://127.0.0.1:${ports[1 - i]}`, "--cluster-advertise-http", `127.0.0.1:${ports[i]}`,
      "--workers", "1", "--grace-s", "1",
    ], {}, ["0", String(ports[i])]);
  }));
}

const tickOf = async (page) => Number(await page.locator("#clock").getAttribute("data-tick"));

const showsNode = (page, name) => until(
  async () => (await page.locator("#status").textContent()).includes(`node ${name} `), `a page at node ${name}`);

async function pagesFollow() {
  const folder = mkdtempSync(join(tmpdir(), "fogmarch-browser-cluster-"));
  const { address, child } = await startEtcd(folder);
  const [first, second] = await startNodes(folder, address);
  const admin = await first.connect({});
  await until(async () => (await admin.call("cluster.status", {})).nodes.length === 2, "both nodes");
  const { world, teams, bases } = await makeWorld(admin, { omniscient: true });
  const { agents } = await admin.call("agent.spawn", { world, team: teams[0], cells: cellsAround(bases, UNITS) });
  await admin.call("world.resume", { world });

  const browser = await Browser.start();
  const debug = await browser.open(first.url());
  const play = await browser.open(first.url("play.html"));
  await until(async () => (await tickOf(debug)) > 1, "ticks on the debug page");
  await play.locator("#minimap").waitFor();
  await play.locator("#map").focus();
  await play.keyboard.press("Control+a");
  const selected = async () => Number(await play.locator("#selection").getAttribute("data-selected"));
  await until(async () => (await selected()) === UNITS, "a selection");

  await admin.call("cluster.move", { world, node: "b" });
  for (const page of [debug, play]) await showsNode(page, "b");
  const movedAt = await tickOf(debug);
  await until(async () => (await tickOf(debug)) > movedAt + 20, "ticks after the move");
  assert.equal(await selected(), UNITS);

  second.process.kill("SIGKILL");
  for (const page of [debug, play]) await showsNode(page, "a");
  const takenAt = await tickOf(debug);
  await until(async () => (await tickOf(debug)) > takenAt + 20, "ticks after the takeover");
  assert.equal(await selected(), UNITS);
  await clickCell(play, { x: bases[0] + 12, y: bases[1] }, { button: "right" });
  const witness = await first.connect();
  await until(async () => (await witness.call("stats", { world })).world.orders_given >= UNITS, "orders");

  assert.equal(agents.length, UNITS);
  await browser.stop();
  await first.stop();
  child.kill("SIGKILL");
  rmSync(folder, { recursive: true });
}

await run([pagesFollow]);
