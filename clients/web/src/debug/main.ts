// The debug page: which worlds there are, and one of them in detail.

import type { Client } from "fogmarch";
import { attempt, startPage, wordsFor } from "../common/connection.js";
import { count, find, group, make, showProblem } from "../common/dom.js";
import { MapView } from "../common/map-view.js";
import { sheets } from "../common/sheets.js";
import { Journals } from "./journals.js";
import { readLink, writeLink } from "./link.js";
import { WorldView } from "./world-view.js";

const LIST_PERIOD_MS = 3000;

const drawing = MapView.create(find("map"));
drawing.catch(() => {}); // reported when a session begins

// For tests, and for the curious at the console.
const exposed: { map?: MapView; view?: WorldView } = {};
Object.assign(window, { fogmarch: exposed });

const openSheet = sheets([{ id: "left", title: "world" }, { id: "right", title: "agent" },
                          { id: "bottom", title: "charts" }, { id: "connection", title: "server" }],
                         (pixels) => void drawing.then((map) => map.cover(pixels), () => {}));

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
    let replay: number | undefined; // that this page has opened
    let opening = 0;                // of what is shown next
    let isEmpty = false;            // no world is there
    const opened = new Set<string>(); // journals opened before; the address does not open them again
    const list = make("div", { id: "worlds", role: "group", "aria-label": "worlds" });
    const journals = new Journals(client, (file) => void attempt(() => openJournal(file)));
    const left = find("left");

    const leave = (): void => {
      view?.end();
      view = undefined;
      shown = undefined;
      left.replaceChildren(group("Worlds", list), journals.element);
    };

    const open = async (world: number): Promise<void> => {
      opening++;
      try {
        leave();
        shown = world;
        if (replay !== world) {
          await closeReplay();
        }
        const info = await client.call("world.info", { world });
        view = await WorldView.begin(client, info, map, () => void attempt(closeReplay));
        exposed.view = view;
      } finally {
        opening--;
      }
      await fill();
    };

    const openJournal = async (file: string): Promise<void> => {
      opening++;
      try {
        opened.add(file);
        await closeReplay();
        const { world } = await client.call("replay.open", { file });
        replay = world;
        await open(world);
      } finally {
        opening--;
      }
    };

    // Its view is removed when the server says that it has ended.
    const closeReplay = async (): Promise<void> => {
      const world = replay;
      replay = undefined;
      if (world !== undefined) {
        await client.call("replay.close", { world });
      }
    };

    const openSomething = async (worlds: readonly { world: number }[]): Promise<void> => {
      const { replay: file, world } = readLink();
      if (file !== undefined && !opened.has(file)) {
        try {
          await openJournal(file);
          return;
        } catch (error) {
          showProblem(wordsFor(error)); // and show the worlds that exist
        }
      }
      if (worlds.length > 0) {
        await open((worlds.find((row) => row.world === world) ?? worlds[0]!).world);
      }
    };

    const fill = async (): Promise<void> => {
      const { worlds, missing } = await client.call("world.list", {});
      const rows = worlds as { world: number; name: string; agents: number }[];
      list.replaceChildren(...rows.map(({ world, name, agents }) => {
        const button = make("button", { type: "button", "aria-pressed": String(world === shown),
                                        onclick: () => void attempt(() => open(world)) },
                            name, make("span", {}, ` ${count(agents)} agents`));
        return button;
      }));
      if (rows.length === 0) {
        list.replaceChildren(...(missing ? [`Worlds may be missing here: ${missing}`]
          : ["There is no world yet. Make one: fogmarch create arena ",
             make("span", { class: "whole" }, "--generate skirmish")]));
        if (!isEmpty) {
          openSheet("left"); // on a small screen nothing else is there to see
        }
      }
      isEmpty = rows.length === 0;
      if (shown === undefined && opening === 0) {
        await openSomething(rows);
      }
    };

    client.on("world_ended", ({ world }) => {
      replay = world === replay ? undefined : replay;
      if (world === shown) {
        leave();
        writeLink({});
        void attempt(fill);
      }
    });
    left.replaceChildren(group("Worlds", list), journals.element);
    // The problem stays on the screen.
    await fill().catch((error: unknown) => showProblem(wordsFor(error)));
    const timer = setInterval(() => void fill().catch(console.info), LIST_PERIOD_MS);
    return () => {
      clearInterval(timer);
      view?.end();
      view = undefined;
    };
  },
});
