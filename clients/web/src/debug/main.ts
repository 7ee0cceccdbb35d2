// The debug page: which worlds there are, and one of them in detail.

import type { Client } from "fogmarch";
import { attempt, startPage } from "../common/connection.js";
import { count, find, group, make } from "../common/dom.js";
import { MapView } from "../common/map-view.js";
import { readLink } from "./link.js";
import { WorldView } from "./world-view.js";

const LIST_PERIOD_MS = 3000;

const drawing = MapView.create(find("map"));
drawing.catch(() => {}); // said when a session begins

// For tests, and for the curious at the console.
const exposed: { map?: MapView; view?: WorldView } = {};
Object.assign(window, { fogmarch: exposed });

startPage({
  name: "debug",
  async begin(client: Client) {
    if (client.welcome.role === "player") {
      throw new Error("This token is for a player's seat. It opens the play page; this one shows " +
                      "more than a player may see.");
    }
    const map = await drawing;
    exposed.map = map;
    let view: WorldView | undefined;
    let shown: number | undefined;
    const list = make("div", { id: "worlds", role: "group", "aria-label": "worlds" });
    const left = find("left");

    const open = async (world: number): Promise<void> => {
      view?.end();
      view = undefined;
      shown = world;
      left.replaceChildren(group("Worlds", list));
      const info = await client.call("world.info", { world });
      view = await WorldView.begin(client, info, map);
      exposed.view = view;
      await fill();
    };

    const fill = async (): Promise<void> => {
      const { worlds } = await client.call("world.list", {});
      const rows = worlds as { world: number; name: string; agents: number }[];
      list.replaceChildren(...rows.map(({ world, name, agents }) => {
        const button = make("button", { type: "button", "aria-pressed": String(world === shown),
                                        onclick: () => void attempt(() => open(world)) },
                            name, make("span", {}, ` ${count(agents)} agents`));
        return button;
      }));
      if (rows.length === 0) {
        list.textContent = "There is no world yet. Make one: fogmarch create arena --generate skirmish";
      }
      if (shown === undefined && rows.length > 0) {
        const wanted = rows.find(({ world }) => world === readLink().world) ?? rows[0]!;
        await open(wanted.world);
      }
    };

    client.on("world_ended", ({ world }) => {
      if (world === shown) {
        view?.end();
        view = undefined;
        shown = undefined;
        void attempt(fill);
      }
    });
    left.replaceChildren(group("Worlds", list));
    await attempt(fill);
    const timer = setInterval(() => void attempt(fill), LIST_PERIOD_MS);
    return () => {
      clearInterval(timer);
      view?.end();
      view = undefined;
    };
  },
});
