// What a click on the map does: select, order, spawn, remove, edit terrain, build.

import { ORDER_KINDS, type Client, type Mirror, type Results } from "fogmarch";
import { movementClasses } from "../common/classes.js";
import { attempt } from "../common/connection.js";
import { choice, group, make } from "../common/dom.js";
import type { Cell, MapView } from "../common/map-view.js";
import { BRUSHES, strokeRects, type BrushShape } from "./brush.js";
import type { Inspector } from "./inspector.js";

const TOOLS = [
  ["select", "select an agent"],
  ["order", "send the selected agent"],
  ["spawn", "spawn agents"],
  ["remove", "remove agents"],
  ["terrain", "paint terrain"],
  ["build", "build"],
  ["demolish", "tear a building down"],
] as const;
type Tool = (typeof TOOLS)[number][0];

const PAINTS = [
  ["blocked", "wall"], ["free", "ground"], ["swamp", "swamp"], ["water", "water"], ["trees", "trees"],
  ["cost", "cost"],
] as const;

const CLICK_REACH = 3;    // cells around a click in which the nearest agent is selected
const SPAWNED_MAX = 1024; // with one click
const RECTS_MAX = 16384 / 4; // of one terrain.set

// Kinds of orders that need more than a cell are given on the play page and by `fogmarch order`.
const KINDS = ORDER_KINDS.filter((kind) => kind !== "follow");
const PLACELESS = ["stop", "hold", "explore", "flee", "keep_distance"];

export class Tools {
  readonly panel: HTMLElement;
  private tool: Tool = "select";
  private readonly team = make("input", { type: "number", min: 1, value: 1, name: "team" });
  private readonly number = make("input", { type: "number", min: 1, max: SPAWNED_MAX, value: 1,
                                            name: "count" });
  private readonly kind = choice("order", KINDS.map((kind) => [kind, kind] as const), () => {});
  private readonly brush = make("input", { type: "number", min: 1, max: 64, value: 1, name: "brush" });
  private readonly cost = make("input", { type: "number", min: 1, max: 250, value: 2, name: "cost" });
  private readonly shape = choice("brush", BRUSHES, () => {});
  private readonly paint = choice("with", PAINTS, () => this.showOptions());
  private readonly classes;
  private readonly options = make("div", { id: "tool-options" });
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
    this.kind.select.id = "kind";
    this.classes = choice("class", movementClasses(world.rules)
      .map(({ name }) => [name, name] as const), () => {});
    this.panel = group("Tools", row, this.options, make("p", { class: "hint" },
      "Right click sends the selected agent. On the map, arrow keys pan, + and - zoom, Home fits, " +
      "Enter clicks in the middle."));
    this.use("select");
    let painted: Cell | undefined;
    let begun: Cell | undefined; // a corner of a building, given by the keyboard
    map.handlers = {
      down: (cell) => {
        painted = cell;
        void attempt(() => this.click(cell));
      },
      drag: (_, cell) => {
        if (this.tool === "terrain" && painted !== undefined &&
            (cell.x !== painted.x || cell.y !== painted.y)) {
          const from = painted;
          painted = cell;
          void attempt(() => this.edit(from, cell));
        }
      },
      up: (from, to, event) => {
        if (this.tool !== "build") {
          return;
        }
        if (event.byKeyboard && begun === undefined) {
          begun = to;
          return;
        }
        const corner = event.byKeyboard ? begun! : from;
        begun = undefined;
        void attempt(() => this.build(corner, to));
      },
      command: (cell) => void attempt(() => this.order(cell, "move")),
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
    this.showOptions();
  }

  // Only those that the tool has.
  private showOptions(): void {
    const labelled = (title: string, input: HTMLElement): HTMLElement =>
      make("label", {}, `${title} `, input);
    const team = labelled("team", this.team);
    const options: Record<Tool, HTMLElement[]> = {
      select: [],
      order: [this.kind.element],
      spawn: [team, labelled("how many", this.number), this.classes.element],
      remove: [],
      terrain: [this.paint.element, this.shape.element, labelled("size", this.brush),
                ...(this.paint.select.value === "cost" ? [labelled("cost", this.cost)] : [])],
      build: [team],
      demolish: [],
    };
    this.options.replaceChildren(...options[this.tool]);
  }

  private async click(cell: Cell): Promise<void> {
    const world = this.world.world;
    const agent = this.agentAt(cell);
    switch (this.tool) {
      case "select":
        await this.inspector.select(agent);
        break;
      case "order":
        await this.order(cell, this.kind.select.value);
        break;
      case "spawn":
        await this.spawn(cell);
        break;
      case "remove":
        if (agent !== undefined) {
          await this.client.call("agent.remove", { world, agents: [agent] });
        }
        break;
      case "terrain":
        await this.edit(cell, cell);
        break;
      case "build":
        break; // done when the button is released
      case "demolish":
        await this.demolish(cell);
        break;
    }
  }

  // A square of agents around the cell, each on the nearest free cell.
  private async spawn(cell: Cell): Promise<void> {
    const wanted = Math.max(1, Math.min(SPAWNED_MAX, Math.floor(Number(this.number.value))));
    const side = Math.ceil(Math.sqrt(wanted));
    const clamp = (value: number, most: number): number => Math.max(0, Math.min(most - 1, value));
    const cells = Array.from({ length: wanted }, (_, i) => [
      clamp(cell.x - (side >> 1) + (i % side), this.world.width),
      clamp(cell.y - (side >> 1) + Math.floor(i / side), this.world.height),
    ]).flat();
    await this.client.call("agent.spawn", {
      world: this.world.world, team: Number(this.team.value), cells,
      ...(wanted > 1 ? { place: "nearest" } : {}),
      ...(this.classes.select.value === "" ? {} : { class: this.classes.select.value }),
    });
  }

  private async order(cell: Cell, kind: string): Promise<void> {
    if (this.inspector.agent === undefined) {
      throw new Error("Select an agent first.");
    }
    await this.client.call("agent.order", {
      world: this.world.world, agents: [this.inspector.agent], kind,
      ...(PLACELESS.includes(kind) ? {} : { goal: [cell.x, cell.y] }),
    });
    await this.inspector.refresh();
  }

  private async edit(from: Cell, to: Cell): Promise<void> {
    const size = Math.max(1, Math.min(64, Math.floor(Number(this.brush.value))));
    const set = this.paint.select.value;
    const rects = strokeRects(from, to, this.shape.select.value as BrushShape, size,
                              this.world.width, this.world.height);
    for (let at = 0; at < rects.length; at += RECTS_MAX * 4) {
      await this.client.call("terrain.set", {
        world: this.world.world, set, rects: rects.slice(at, at + RECTS_MAX * 4),
        ...(set === "cost" ? { cost: Number(this.cost.value) } : {}),
      });
    }
  }

  private async build(from: Cell, to: Cell): Promise<void> {
    const clamp = (value: number, most: number): number => Math.max(0, Math.min(most - 1, value));
    const [left, right] = [from.x, to.x].map((x) => clamp(x, this.world.width)).sort((a, b) => a - b);
    const [top, bottom] = [from.y, to.y].map((y) => clamp(y, this.world.height)).sort((a, b) => a - b);
    await this.client.call("building.place", {
      world: this.world.world, team: Number(this.team.value), on_units: "push",
      rect: [left!, top!, right! - left! + 1, bottom! - top! + 1],
    });
  }

  private async demolish(cell: Cell): Promise<void> {
    const building = this.agents()?.buildings.find(({ x, y, width, height }) =>
      cell.x >= x && cell.x < x + width && cell.y >= y && cell.y < y + height);
    if (building === undefined) {
      throw new Error("No building stands there.");
    }
    await this.client.call("building.remove", { world: this.world.world, building: building.number });
  }
}
