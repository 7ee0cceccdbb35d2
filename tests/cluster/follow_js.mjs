// A follower on the JavaScript library in Node.js, see cluster_follow.py.
//
//   node follow_js.mjs LIBRARY ADDRESS WORLD AGENT

import { createInterface } from "node:readline/promises";
import { pathToFileURL } from "node:url";

const [, , library, address, ...numbers] = process.argv;
const [world, agent] = numbers.map(Number);
const { subscribe } = await import(pathToFileURL(`${library}/index.js`).href);
const { connectTcp } = await import(pathToFileURL(`${library}/node.js`).href);
const BEFORE = 5; // orders
const AFTER = 10;
const tell = (said) => console.log(JSON.stringify(said));
const words = createInterface({ input: process.stdin })[Symbol.asyncIterator]();

const [host, port] = address.split(":");
const client = await connectTcp(host, Number(port), { name: "follow-js" });
const view = await subscribe(client, { world });
const { mirror } = view;
const until = async (isDone) => {
  while (!isDone()) await new Promise((done) => setTimeout(done, 10));
};
let answers = 0;
let moves = 0; // times it followed its world: after a move, and after its node died
let here = client.address;
for (let left = AFTER; left > 0; left -= moves === 2 ? 1 : 0) {
  const order = (i) => client.call("agent.order",
    { world, agents: [agent], kind: "move", goal: [(answers + i) % 60, (answers + i) * 7 % 60] });
  await Promise.all([order(0), order(1)]); // two under way at once: both must be sent again
  answers += 2;
  if (answers === 2 * BEFORE) tell({ ready: true });
  if (client.address !== here) {
    here = client.address;
    moves++;
    if (moves === 1) tell({ moved: true });
  }
}
tell({ done: true });
const pausedAt = Number((await words.next()).value);
await until(() => mirror.tick >= pausedAt);
const place = mirror.placeOf(agent);
tell({ answers, address: client.address, tick: mirror.tick, cell: [mirror.xs[place], mirror.ys[place]] });
await view.end();
client.close();
process.stdin.destroy();
