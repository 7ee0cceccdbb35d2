// The play page: a seat in a match. A player's token names its world and team, and play.html#seat=TOKEN
// brings it along; an observer or admin chooses them, to try both sides in two tabs:
// play.html?world=1&team=2.

import type { Client, Results } from "fogmarch";
import { attempt, startPage } from "../common/connection.js";
import { choice, find, group, make, showProblem } from "../common/dom.js";
import { MapView } from "../common/map-view.js";
import { Game, type Memory } from "./game.js";
import { hostPanel } from "./host.js";

const SEAT_PERIOD_MS = 2000; // between two looks whether the world of a seat is there

const drawing = MapView.create(find("map"));
drawing.catch(() => {}); // said when a session begins

// For tests, and for the curious at the console.
const exposed: { map?: MapView; client?: Client; game?: Game | undefined } = {};
Object.assign(window, { fogmarch: exposed });

// What a player made of the screen, for when the connection comes back.
const memories = new Map<string, Memory>();

// A token that came with the address does not stay in it.
const seat = new URLSearchParams(location.hash.slice(1)).get("seat");
if (seat !== null) {
  sessionStorage.setItem("fogmarch-token-play", seat);
  history.replaceState(null, "", location.pathname + location.search);
}

function wait(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

// The world of a player's seat may be gone, or not be back yet after a restart of the server.
async function worldOfSeat(client: Client): Promise<number> {
  for (;;) {
    const { worlds } = await client.call("world.list", {});
    const [first] = worlds as { world: number }[];
    if (first !== undefined) {
      showProblem("");
      return first.world;
    }
    showProblem("The world of your seat is not there. Waiting for it ...");
    await wait(SEAT_PERIOD_MS);
  }
}

async function chooseSeat(client: Client): Promise<{ world: number; team: number } | undefined> {
  const { role, team } = client.welcome;
  if (role === "player") {
    return { world: await worldOfSeat(client), team };
  }
  const query = new URLSearchParams(location.search);
  const { worlds } = await client.call("world.list", {});
  const first = (worlds[0] as { world: number } | undefined)?.world;
  const world = Number(query.get("world") ?? first ?? 0);
  return world === 0 ? undefined : { world, team: Number(query.get("team") ?? 1) };
}

// Panels for those who are nobody's player.
function addAdminPanels(client: Client, info: Results["world.info"] | undefined, team: number): void {
  const right = find("right");
  if (info !== undefined && info.teams > 0) {
    const teams = Array.from({ length: info.teams }, (_, i) => [String(i + 1), `team ${i + 1}`] as const);
    const { element, select } = choice("sit in for", teams, (chosen) => {
      location.search = `?world=${info.world}&team=${chosen}`;
    });
    select.value = String(team);
    right.append(group("Seat", element));
  }
  if (client.welcome.role === "admin") {
    right.append(hostPanel(client));
  }
}

startPage({
  name: "play",
  async begin(client: Client) {
    const map = await drawing;
    let game: Game | undefined;
    let isOver = false;
    Object.assign(exposed, { map, client });
    const sitDown = async (): Promise<void> => {
      const right = find("right");
      const place = await chooseSeat(client);
      if (isOver) {
        return;
      }
      if (place === undefined) {
        right.replaceChildren(make("p", {}, "There is no world yet. Begin a match here, or make one: " +
                                            "fogmarch create arena --generate skirmish"));
        addAdminPanels(client, undefined, 0);
        return;
      }
      const info = await client.call("world.info", { world: place.world });
      const key = `${info.name} ${place.team}`;
      const memory = memories.get(key) ?? { groups: new Map() };
      memories.set(key, memory);
      const begun = await Game.begin(client, info, place.team, map, memory);
      if (isOver) {
        begun.end();
        return;
      }
      game = exposed.game = begun;
      if (client.welcome.role !== "player") {
        addAdminPanels(client, info, place.team);
      }
    };
    const stop = client.on("world_ended", ({ world }) => {
      if (game?.world.world === world) {
        game.end();
        game = exposed.game = undefined;
        find("right").replaceChildren(make("p", {}, "The match is over: its world has ended."));
        void attempt(sitDown);
      }
    });
    void attempt(sitDown);
    return () => {
      isOver = true;
      stop();
      game?.end();
    };
  },
});
