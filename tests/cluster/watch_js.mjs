// Watches worlds, with the JavaScript library: see cluster_views.py.  node watch_js.mjs LIBRARY ADDRESS WORLDS OPTION

import { pathToFileURL } from "node:url";

const [, , library, address, worlds, option] = process.argv;
const { subscribe } = await import(pathToFileURL(`${library}/index.js`).href);
const { connectTcp } = await import(pathToFileURL(`${library}/node.js`).href);
const tell = (said) => console.log(JSON.stringify(said));

if (option === "clock") { // it is set back again and again
  const start = Date.now();
  Date.now = () => start - performance.now();
}

const nodes = address.split(",");
const [host, port] = nodes[0].split(":");
const times = option === "brief" || option === "never" ? { timeoutMs: 1500, followMs: 4000 } : {};
const client = await connectTcp(host, Number(port), { ...times, nodes }).catch((error) => {
  tell({ closed: error.message });
  process.exit();
});
client.onEnd((closed) => {
  tell({ closed });
  process.exit();
});

if (option === "throws") {
  process.on("uncaughtException", () => {});
}

async function watch(world) {
  try {
    const view = await subscribe(client, option === "rect" ? { world, rect: [4, 4, 8, 8] } : { world });
    const { mirror } = view;
    mirror.onChange = ({ untold }) => {
      if (untold) {
        tell({ untold: world });
      }
      tell({ view: world, tick: mirror.tick, node: client.address, agents: [...mirror.ids.subarray(0, mirror.agentCount)] });
      if (option === "throws") {
        throw new Error("of the program");
      }
    };
    view.onEnd = (error) => tell({ view: world, ended: error.message, at: error.address });
    return view;
  } catch (error) {
    tell({ view: world, ended: error.message, at: error.address ?? "" });
    return undefined;
  }
}

const views = [];
for (const world of worlds.split(",")) {
  views.push(await watch(Number(world)));
}
if (option === "call" || option === "brief") {
  await client.call("world.info", { world: Number(worlds) }).then(
    () => tell({ called: true }), (error) => tell({ late: error.message }));
}
if (option === "drop") {
  await views[0].end();
  tell({ dropped: true });
}
