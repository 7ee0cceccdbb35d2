// Other planners for the selected agent: what debug.compare says about each, side by side, their paths
// on the map, and a button that gives the agent one of them.

import { Container, Graphics } from "pixi.js";
import { PLANNERS, type Client, type Results } from "fogmarch";
import { attempt } from "../common/connection.js";
import { bytes, choice, count, make } from "../common/dom.js";
import type { MapView } from "../common/map-view.js";
import { css, TEAM_COLOURS } from "../common/palette.js";
import type { Inspector } from "./inspector.js";
import { SearchOverlay } from "./overlay.js";

const PLANNERS_MAX = 8;         // of one debug.compare
const SEARCH_CELLS_MAX = 16384; // of one debug.compare, all planners together
const FIRST_WISH = "dstar-lite repeated-jps adaptive-astar astar";
const LANE = 0.13;        // cells between two paths through the same cells, at least
const LANE_PIXELS = 2.2;

interface Answer {
  planner: string;
  reason: string;
  cells: number[];
  cost: number;
  length: number;
  expansions: number;
  us: number;
  open: number;
  closed: number;
  bytes: number;
  search?: number[];
}

// The columns in which the smallest value is the best.
const COSTS = [
  ["cost", "cost"], ["length", "length"], ["expansions", "expansions"], ["us", "µs"],
  ["open", "open"], ["closed", "closed"], ["bytes", "memory"],
] as const;
type Cost = (typeof COSTS)[number][0];

function written(name: Cost, value: number): string {
  return name === "bytes" ? bytes(value)
    : name === "length" || name === "us" ? value.toFixed(1) : count(value);
}

export class Compare {
  readonly panel: HTMLElement;
  private readonly names = make("input", { name: "planners", value: FIRST_WISH, size: 56,
                                           "aria-label": "planners to compare" });
  private readonly about = make("p", { id: "compared", class: "hint" });
  private readonly table = make("table", { id: "comparison", class: "numbers" });
  private readonly drawn = new Container();
  private readonly ways = new Graphics();
  private readonly search = new SearchOverlay();
  private answers: Answer[] = [];
  private shown: number | undefined; // whose cells are on the map

  constructor(
    private readonly client: Client,
    private readonly world: number,
    private readonly map: MapView,
    private readonly inspector: Inspector,
  ) {
    const more = choice("add", [["", "a planner ..."], ...PLANNERS.map((name) => [name, name] as const)],
                        (name) => {
                          if (name !== "") {
                            this.names.value = `${this.names.value.trim()} ${name}`.trim();
                          }
                          more.select.value = "";
                        });
    const form = make("form", { class: "row", onsubmit: (event: Event) => {
      event.preventDefault();
      void attempt(() => this.ask());
    } }, this.names, more.element, make("button", { id: "compare" }, "compare"),
         make("button", { type: "button", onclick: () => this.clear() }, "clear"));
    this.panel = make("div", { class: "compare" }, form, this.about, this.table);
    this.drawn.addChild(this.search.container, this.ways);
    map.under.addChild(this.drawn);
    this.clear();
  }

  /** Another agent, or none, is selected: the comparison is no longer valid. */
  clear(): void {
    this.answers = [];
    this.shown = undefined;
    this.table.replaceChildren();
    this.ways.clear();
    this.search.clear();
    this.inspector.overlay.container.visible = true;
    this.about.textContent = "Select an agent that has a goal, and see what other planners would do " +
      "about it: names with spaces between them, with options as in tba-star:lookahead=100.";
  }

  /** The map shows another part, or the same at another scale. */
  mapMoved(): void {
    if (this.answers.length > 0) {
      this.draw();
    }
  }

  private async ask(): Promise<void> {
    const { agent } = this.inspector;
    if (agent === undefined) {
      throw new Error("Select an agent first.");
    }
    if (this.inspector.last?.goal.length === 0) {
      throw new Error(`Agent ${agent} has no goal: give it an order, or select another agent.`);
    }
    const planners = this.names.value.trim().split(/\s+/).filter((name) => name !== "");
    if (planners.length === 0 || planners.length > PLANNERS_MAX) {
      throw new Error(`Name 1 to ${PLANNERS_MAX} planners, not ${planners.length}.`);
    }
    const result = await this.client.call("debug.compare", {
      world: this.world, agent, planners: planners.join(" "), rect: this.rectFor(planners.length),
    });
    this.answers = result.answers as unknown as Answer[];
    this.shown = undefined;
    this.show(result);
  }

  // Around the agent, as many cells as there is room for.
  private rectFor(planners: number): number[] {
    const { width = 1, height = 1 } = this.map.mapSize ?? {};
    const side = Math.floor(Math.sqrt(SEARCH_CELLS_MAX / planners));
    const [x = 0, y = 0] = this.inspector.last?.cell ?? [];
    const [goalX = x, goalY = y] = this.inspector.last?.goal ?? [];
    const from = (middle: number, most: number): number =>
      Math.max(0, Math.min(most - Math.min(side, most), Math.floor(middle - side / 2)));
    return [from((x + goalX) / 2, width), from((y + goalY) / 2, height),
            Math.min(side, width), Math.min(side, height)];
  }

  private show({ agent, team, from, goal, tick }: Results["debug.compare"]): void {
    this.about.textContent = `Agent ${agent} of team ${team}, from ${from.join(", ")} to ` +
      `${goal.join(", ")}, as its team knew the map at tick ${count(tick)}. * is the least. ` +
      "Of cells, those around the middle of the way are shown." +
      (this.answers.some(({ reason }) => reason === "unfit")
        ? " Unfit: it cannot work by this world's rules; jump points want 8 neighbours and cells of equal cost."
        : "");
    const found = this.answers.filter(({ reason }) => reason === "found");
    const least = new Map(COSTS.map(([name]) => [name, Math.min(...found.map((one) => one[name]))]));
    this.table.replaceChildren(
      make("tr", {}, make("th", {}, "planner"), make("th", {}, "answer"),
           ...COSTS.map(([, title]) => make("th", {}, title)), make("th", {}), make("th", {})),
      ...this.answers.map((answer, i) => this.rowOf(answer, i, least)));
    this.draw();
  }

  private rowOf(answer: Answer, i: number, least: ReadonlyMap<Cost, number>): HTMLElement {
    const isFound = answer.reason === "found";
    const numbers = COSTS.map(([name]) => {
      const text = answer.reason === "unfit" ? "-" : written(name, answer[name]);
      const isLeast = isFound && text === written(name, least.get(name)!); // numbers that look equal are
      return make("td", { class: isLeast ? "least" : "" }, isLeast ? `${text} *` : text);
    });
    const show = make("button", { type: "button", "aria-pressed": String(this.shown === i),
                                  onclick: () => this.showCells(i) }, "cells");
    const use = make("button", { type: "button", onclick: () => void attempt(() => this.use(answer)) },
                     "use");
    use.disabled = this.client.welcome.role !== "admin" || answer.reason === "unfit";
    return make("tr", { "data-planner": answer.planner },
                make("td", { colour: css(this.colourOf(i)) }, `${i + 1} ${answer.planner}`),
                make("td", {}, answer.reason), ...numbers, make("td", {}, show), make("td", {}, use));
  }

  private colourOf(i: number): number {
    return TEAM_COLOURS[i % TEAM_COLOURS.length]!;
  }

  // Chooses whose cells are on the map; the same planner again: none.
  private showCells(i: number): void {
    this.shown = this.shown === i ? undefined : i;
    this.table.querySelectorAll("tr[data-planner]").forEach((row, k) => {
      row.querySelector("button")!.setAttribute("aria-pressed", String(this.shown === k));
    });
    this.draw();
  }

  // Paths are drawn beside each other, so that those through the same cells can be told apart.
  private draw(): void {
    this.search.clear();
    this.inspector.overlay.container.visible = this.shown === undefined;
    const shown = this.shown === undefined ? undefined : this.answers[this.shown];
    if (shown !== undefined) {
      this.search.drawSearch(shown, "state", this.map.zoom);
    }
    this.ways.clear();
    const between = Math.max(LANE, LANE_PIXELS / this.map.zoom);
    this.answers.forEach(({ cells }, i) => {
      const lane = 0.5 + (i - (this.answers.length - 1) / 2) * between;
      for (let k = 0; k + 1 < cells.length; k += 2) {
        const [x, y] = [cells[k]! + lane, cells[k + 1]! + lane];
        if (k === 0) {
          this.ways.moveTo(x, y);
        } else {
          this.ways.lineTo(x, y);
        }
      }
      const isShown = this.shown === i;
      this.ways.stroke({ width: between * (isShown ? 1.4 : 0.8), color: this.colourOf(i) });
    });
  }

  private async use({ planner }: Answer): Promise<void> {
    const { agent } = this.inspector;
    if (agent === undefined) {
      throw new Error("Select an agent first.");
    }
    await this.client.call("agent.planner", { world: this.world, agents: [agent], planner });
    await this.inspector.refresh();
  }
}
