// Begins a match: a world with units of three kinds for each player, and a token for each seat. For
// admins; on loopback without tokens every client is one.

import type { Client } from "fogmarch";
import { attempt } from "../common/connection.js";
import { group, make } from "../common/dom.js";

const CLASSES = "walker:ground=1,swamp=2;boat:water=1;hover:ground=1,swamp=1,water=1";
const MAP_SIDE = 160;
const SIGHT = 8;
const HARBOUR = 12;    // cells from a base to the middle of its lake
const LAKE_RADIUS = 5; // cells

/** A link to a seat. The part behind # is never sent to a server. */
export function seatLink(token: string): string {
  return `${location.origin}${location.pathname}#seat=${encodeURIComponent(token)}`;
}

// Rows of a round lake, as rectangles for terrain.set.
function lake(middleX: number, middleY: number): number[] {
  const rects: number[] = [];
  for (let dy = -LAKE_RADIUS; dy <= LAKE_RADIUS; dy++) {
    const reach = Math.floor(Math.sqrt(LAKE_RADIUS ** 2 - dy * dy));
    rects.push(middleX - reach, middleY + dy, 2 * reach + 1, 1);
  }
  return rects;
}

interface Match {
  players: number;
  units: number;
  buildings: number;
  seed: number;
}

/** The players' tokens, by team. */
async function beginMatch(client: Client, { players, units, buildings, seed }: Match):
  Promise<string[]> {
  const { world, bases } = await client.call("world.create", {
    name: `match-${Date.now().toString(36)}`, generator: "skirmish", width: MAP_SIDE, height: MAP_SIDE,
    players, seed, sense_radius: SIGHT, occupancy: "exclusive",
    classes: CLASSES, players_build: buildings, paused: true,
  });
  const tokens: string[] = [];
  for (let i = 0; i < players; i++) {
    const x = bases[2 * i]!;
    const y = bases[2 * i + 1]!;
    const harbour = x + (x < MAP_SIDE / 2 ? HARBOUR : -HARBOUR); // towards the middle of the map
    await client.call("terrain.set", { world, set: "water", rects: lake(harbour, y) });
    const { team } = await client.call("team.create", { world });
    const spawn = (kind: string, atX: number, count: number): Promise<unknown> =>
      client.call("agent.spawn", { world, team, class: kind, place: "nearest",
                                   cells: Array.from({ length: count }, () => [atX, y]).flat() });
    const third = Math.max(1, Math.floor(units / 3));
    await spawn("walker", x, Math.max(1, units - 2 * third));
    await spawn("hover", x, third);
    await spawn("boat", harbour, third);
    tokens.push((await client.call("token.create", { role: "player", world, team })).token);
  }
  await client.call("world.resume", { world });
  return tokens;
}

export function hostPanel(client: Client): HTMLElement {
  const number = (name: string, value: number, min: number, max: number): HTMLInputElement =>
    make("input", { type: "number", name, value, min, max, required: true });
  const players = number("players", 2, 2, 8);
  const units = number("units", 30, 3, 300);
  const buildings = number("buildings", 40, 0, 1024);
  const seed = number("seed", 1 + Math.floor(Math.random() * 9999), 0, 2 ** 31);
  const seats = make("ol", { id: "seats", "aria-label": "seats" });
  const form = make("form", { class: "stacked", onsubmit: (event: Event) => {
    event.preventDefault();
    void attempt(async () => {
      const tokens = await beginMatch(client, {
        players: Number(players.value), units: Number(units.value),
        buildings: Number(buildings.value), seed: Number(seed.value),
      });
      seats.replaceChildren(...tokens.map((token, i) => make("li", {},
        make("a", { href: seatLink(token), target: "_blank", rel: "noopener" }, `team ${i + 1}'s seat`),
        " ", make("input", { class: "token", readonly: true, value: token,
                             "aria-label": `token of team ${i + 1}` }))));
    });
  } }, make("label", {}, "players ", players), make("label", {}, "units each ", units),
       make("label", {}, "buildings each ", buildings), make("label", {}, "seed of the map ", seed),
       make("button", { id: "host" }, "begin a match"));
  return group("New match", form, seats,
               make("p", { class: "hint" }, "Open each seat in a tab, or give its token away."));
}
