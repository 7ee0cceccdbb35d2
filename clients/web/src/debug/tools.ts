// What a click on the map does: select, order, spawn, remove, edit terrain.

import type { Client, Mirror, Results } from "fogmarch";
import { attempt } from "../common/connection.js";
import { choice, group, make } from "../common/dom.js";
import type { Cell, MapView } from "../common/map-view.js";
import type { Inspector } from "./inspector.js";

const TOOLS = [
  ["select", "select an agent"],
  ["order", "send the selected agent"],
  ["spawn", "spawn agents"],
  ["remove", "remove agents"],
  ["terrain", "paint terrain"],
] as const;
type Tool = (typeof TOOLS)[number][0];

const PAINTS = [
  ["blocked", "wall"], ["free", "ground"], ["swamp", "swamp"], ["water", "water"], ["trees", "trees"],
] as const;

const CLICK_REACH = 3; // cells around a click in which the nearest agent is taken

export class Tools {
  readonly panel: HTMLElement;
  private tool: Tool = "select";
  private readonly team = make("input", { type: "number", min: 1, value: 1, name: "team" });
  private readonly brush = make("input", { type: "number", min: 1, max: 64, value: 1, name: "brush" });
  private readonly paint = choice("with", PAINTS, () => {});
  private readonly buttons = new Map<Tool, HTMLButtonElement>();

  constructor(
    private readonly client: Client,
    private readonly world: Results["world.info"],
    private readonly map: MapView,
    private readonly inspector: Inspector,
    private readonly agents: () => Mirror | undefined,
  ) {
    const row = make("div", { class: "tools", role: "group", "aria-label": "tool" });
    for (const [tool, title] of TOOLS) {
      const button = make("button", { type: "button", onclick: () => this.use(tool) }, title);
      this.buttons.set(tool, button);
      row.append(button);
    }
    this.paint.select.id = "paint";
    this.panel = group("Tools", row,
      make("label", {}, "team of new agents ", this.team),
      make("div", { class: "row" }, this.paint.element, make("label", {}, "brush ", this.brush)),
      make("p", { class: "hint" },
           "Right click sends the selected agent. Arrow keys pan, + and - zoom, Home fits."));
    this.use("select");
    let painted: Cell | undefined;
    map.handlers = {
      down: (cell) => {
        painted = cell;
        void attempt(() => this.click(cell));
      },
      drag: (_, cell) => {
        if (this.tool === "terrain" && (cell.x !== painted?.x || cell.y !== painted.y)) {
          painted = cell;
          void attempt(() => this.edit(cell));
        }
      },
      command: (cell) => void attempt(() => this.order(cell)),
    };
  }

  end(): void {
    this.map.handlers = {};
  }

  agentAt(cell: Cell): number | undefined {
    const view = this.agents();
    let best: number | undefined;
    let bestDistance = CLICK_REACH + 1;
    for (let place = 0; view !== undefined && place < view.agentCount; place++) {
      const distance = Math.max(Math.abs(view.xs[place]! - cell.x),
                                Math.abs(view.ys[place]! - cell.y));
      if (distance < bestDistance) {
        bestDistance = distance;
        best = view.ids[place]!;
      }
    }
    return best;
  }

  private use(tool: Tool): void {
    this.tool = tool;
    for (const [name, button] of this.buttons) {
      button.setAttribute("aria-pressed", String(name === tool));
    }
  }

  private async click(cell: Cell): Promise<void> {
    const world = this.world.world;
    const agent = this.agentAt(cell);
    switch (this.tool) {
      case "select":
        await this.inspector.select(agent);
        break;
      case "order":
        await this.order(cell);
        break;
      case "spawn":
        await this.client.call("agent.spawn",
                               { world, team: Number(this.team.value), cells: [cell.x, cell.y] });
        break;
      case "remove":
        if (agent !== undefined) {
          await this.client.call("agent.remove", { world, agents: [agent] });
        }
        break;
      case "terrain":
        await this.edit(cell);
        break;
    }
  }

  private async order(cell: Cell): Promise<void> {
    if (this.inspector.agent === undefined) {
      throw new Error("Select an agent first.");
    }
    await this.client.call("agent.order", {
      world: this.world.world, agents: [this.inspector.agent], kind: "move",
      goal: [cell.x, cell.y],
    });
  }

  private async edit(cell: Cell): Promise<void> {
    const size = Math.max(1, Math.floor(Number(this.brush.value)));
    const from = (middle: number, most: number): number =>
      Math.max(0, Math.min(most - 1, middle - Math.floor((size - 1) / 2)));
    const x = from(cell.x, this.world.width);
    const y = from(cell.y, this.world.height);
    await this.client.call("terrain.set", {
      world: this.world.world,
      set: this.paint.select.value,
      rects: [x, y, Math.min(size, this.world.width - x), Math.min(size, this.world.height - y)],
    });
  }
}
