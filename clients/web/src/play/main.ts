// The play page: a seat in a match. A player's token names its world and team, and play.html#seat=TOKEN
// brings it along; an observer or admin chooses them, to try both sides in two tabs:
// play.html?world=1&team=2.

import type { Client, Results } from "fogmarch";
import { attempt, startPage } from "../common/connection.js";
import { choice, find, group, make, showProblem } from "../common/dom.js";
import { MapView } from "../common/map-view.js";
import { sheets } from "../common/sheets.js";
import { Game } from "./game.js";
import { Guide, helpDialog } from "./guide.js";
import { hostPanel } from "./host.js";
import { Memory } from "./memory.js";

const SEAT_PERIOD_MS = 2000; // between two checks whether the world of a seat exists

const drawing = MapView.create(find("map"));
drawing.catch(() => {}); // reported when a session begins

// For tests, and for the curious at the console.
const exposed: { map?: MapView; client?: Client; game?: Game | undefined } = {};
Object.assign(window, { fogmarch: exposed });

const openSheet = sheets([{ id: "units", title: "units" }, { id: "match", title: "match" },
                          { id: "connection", title: "server" }],
                         (pixels) => void drawing.then((map) => map.cover(pixels), () => {}));
const guide = new Guide();
const help = helpDialog(() => guide.open());
find("over").prepend(guide.element);
document.body.append(help);
find("help-open").addEventListener("click", () => {
  help.showModal();
  help.scrollTop = 0;
});

// A token that came in the address is removed from it.
const seat = new URLSearchParams(location.hash.slice(1)).get("seat");
if (seat !== null) {
  sessionStorage.setItem("fogmarch-token-play", seat);
  history.replaceState(null, "", location.pathname + location.search);
}

function wait(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

// The world of a player's seat may be gone, or not yet back after a restart of the server.
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

// What users without a player's seat find in the sheet "match".
function fillMatch(client: Client, info: Results["world.info"] | undefined, team: number): void {
  const match = find("match");
  match.replaceChildren();
  if (client.welcome.role !== "player" && info !== undefined && info.teams > 0) {
    const teams = Array.from({ length: info.teams }, (_, i) => [String(i + 1), `team ${i + 1}`] as const);
    const { element, select } = choice("sit in for", teams, (chosen) => {
      location.search = `?world=${info.world}&team=${chosen}`;
    });
    select.value = String(team);
    match.append(group("Seat", element));
  }
  if (client.welcome.role === "admin") {
    match.append(hostPanel(client));
  }
  document.querySelector<HTMLElement>("[data-sheet=match]")!.hidden = match.childElementCount === 0;
}

// Words in the middle of an empty map; "": there is a match.
function notice(words: string, ...more: Node[]): void {
  find("notice").replaceChildren(words, ...more);
  find("notice").hidden = words === "";
}

// Without a world nothing is beside the map, and the form that begins a match is in the middle.
function showEmpty(isEmpty: boolean): void {
  document.body.toggleAttribute("data-empty", isEmpty);
}

startPage({
  name: "play",
  async begin(client: Client) {
    const map = await drawing;
    let game: Game | undefined;
    let isOver = false;
    Object.assign(exposed, { map, client });
    const sitDown = async (): Promise<void> => {
      const place = await chooseSeat(client);
      if (isOver) {
        return;
      }
      if (place === undefined) {
        notice("There is no world yet. Begin a match here, or make one: fogmarch create arena ",
               make("span", { class: "whole" }, "--generate skirmish"));
        showEmpty(true);
        fillMatch(client, undefined, 0);
        openSheet("match");
        return;
      }
      showEmpty(false);
      map.app.resize(); // the panels beside it are there again
      const info = await client.call("world.info", { world: place.world });
      const begun = await Game.begin(client, info, place.team, map, Memory.of(info.name, place.team),
                                     guide);
      if (isOver) {
        begun.end();
        return;
      }
      game = exposed.game = begun;
      notice("");
      fillMatch(client, info, place.team);
      guide.greet();
    };
    const stop = client.on("world_ended", ({ world }) => {
      if (game?.world.world === world) {
        game.end();
        game = exposed.game = undefined;
        notice("The match is over: its world has ended.");
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
