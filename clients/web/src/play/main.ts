// The play page: a seat in a match. A player's token names its world and team; whoever may see
// everything chooses them, to try both sides in two tabs: play.html?world=1&team=2.

import type { Client } from "fogmarch";
import { attempt, startPage } from "../common/connection.js";
import { choice, find, group } from "../common/dom.js";
import { MapView } from "../common/map-view.js";
import { Game } from "./game.js";

const drawing = MapView.create(find("map"));
drawing.catch(() => {}); // said when a session begins

// For tests, and for the curious at the console.
const exposed: { map?: MapView; client?: Client } = {};
Object.assign(window, { fogmarch: exposed });

async function chooseSeat(client: Client): Promise<{ world: number; team: number }> {
  const { role, world, team } = client.welcome;
  if (role === "player") {
    if (world === 0) {
      throw new Error("The world of your seat does not exist any more.");
    }
    return { world, team };
  }
  const query = new URLSearchParams(location.search);
  const { worlds } = await client.call("world.list", {});
  const first = (worlds[0] as { world: number } | undefined)?.world;
  const wanted = Number(query.get("world") ?? first ?? 0);
  if (wanted === 0) {
    throw new Error("There is no world yet. Make one: fogmarch create arena --generate skirmish");
  }
  return { world: wanted, team: Number(query.get("team") ?? 1) };
}

startPage({
  name: "play",
  async begin(client: Client) {
    const map = await drawing;
    let game: Game | undefined;
    Object.assign(exposed, { map, client });
    await attempt(async () => {
      const seat = await chooseSeat(client);
      const info = await client.call("world.info", { world: seat.world });
      game = await Game.begin(client, info, seat.team, map);
      if (client.welcome.role !== "player") {
        const teams = Array.from({ length: info.teams },
                                 (_, i) => [String(i + 1), `team ${i + 1}`] as const);
        const { element, select } = choice("sit in for", teams, (team) => {
          location.search = `?world=${seat.world}&team=${team}`;
        });
        select.value = String(seat.team);
        find("right").append(group("Seat", element));
      }
    });
    return () => game?.end();
  },
});
