// Two agents side by side: a kept one and the selected one. Differences are bold; the path of the kept
// one is drawn too.

import { Graphics } from "pixi.js";
import type { Client } from "fogmarch";
import { attempt } from "../common/connection.js";
import { bytes, count, make } from "../common/dom.js";
import type { MapView } from "../common/map-view.js";
import type { Inspector } from "./inspector.js";
import { AgentTrace, type Inspection } from "./trace.js";

const COLOUR = 0xe69f00;

function cell(list: readonly number[]): string {
  return list.length === 2 ? `${list[0]}, ${list[1]}` : "none";
}

const ROWS: readonly (readonly [string, (report: Inspection) => string])[] = [
  ["team", ({ team }) => String(team)],
  ["class", (report) => report.class],
  ["cell", (report) => cell(report.cell)],
  ["state", ({ state }) => state],
  ["order", ({ order, kind }) => (order === 0 ? "none" : kind)],
  ["goal", ({ goal }) => cell(goal)],
  ["planner", ({ planner }) => planner],
  ["plan", ({ plan }) => plan],
  ["shared by", ({ sharers }) => count(sharers)],
  ["path, cells", ({ path }) => count(path.length / 2)],
  ["open", ({ open }) => count(open)],
  ["closed", ({ closed }) => count(closed)],
  ["expansions", ({ expansions }) => count(expansions)],
  ["replans", ({ replans }) => count(replans)],
  ["moves", ({ moves }) => count(moves)],
  ["memory", (report) => bytes(report.bytes)],
];

export class Pair {
  readonly panel: HTMLElement;
  /** The kept agent. */
  agent: number | undefined;
  /** Called when another agent is kept. */
  onChanged: () => void = () => {};
  private readonly trace: AgentTrace;
  private readonly about = make("p", { id: "paired", class: "hint" });
  private readonly table = make("table", { id: "pair", class: "numbers pair" });
  private readonly way = new Graphics();
  private kept: Inspection | undefined;
  private shown = "";

  constructor(client: Client, world: number, private readonly map: MapView,
              private readonly inspector: Inspector) {
    this.trace = new AgentTrace(client, world);
    this.trace.onReport = (report) => {
      this.kept = report;
      this.show();
    };
    this.trace.onSilence = (words) => {
      this.kept = undefined;
      this.about.textContent = words;
    };
    const keep = make("button", { type: "button", id: "keep", onclick: () => void attempt(async () => {
      if (this.inspector.agent === undefined) {
        throw new Error("Select an agent first.");
      }
      await this.keep(this.inspector.agent);
    }) }, "keep the selected one");
    const swap = make("button", { type: "button", onclick: () => void attempt(async () => {
      const [kept, selected] = [this.agent, this.inspector.agent];
      if (kept !== undefined && selected !== undefined) {
        await this.keep(selected);
        await this.inspector.select(kept);
      }
    }) }, "swap");
    const clear = make("button", { type: "button", onclick: () => void attempt(() => this.keep(undefined)) },
                       "clear");
    this.panel = make("div", { class: "compare" }, make("div", { class: "row" }, keep, swap, clear),
                      this.about, this.table);
    map.under.addChild(this.way);
    this.clear();
  }

  end(): void {
    this.trace.end();
  }

  async keep(agent: number | undefined): Promise<void> {
    this.agent = agent;
    this.kept = undefined;
    this.clear();
    this.onChanged();
    await this.trace.want(agent === undefined ? undefined : { agent, channels: "report path" });
  }

  private clear(): void {
    this.shown = "";
    this.table.replaceChildren();
    this.way.clear();
    this.about.textContent = "Keep the selected agent, then select another one: both are shown side by " +
      "side, after every tick.";
  }

  /** There is a new report about the selected agent. */
  show(): void {
    const { kept } = this;
    if (kept === undefined) {
      return;
    }
    const { last } = this.inspector;
    const other = last?.agent === kept.agent ? undefined : last;
    this.drawWay(kept);
    this.about.textContent = `Agent ${kept.agent}, whose way is orange, and ` +
      (other === undefined ? "nobody: select another one." : `the selected one, ${other.agent}. ` +
                             "What differs is bold.");
    const rows = ROWS.map(([name, of]) => [name, of(kept), other === undefined ? "" : of(other)] as const);
    const text = JSON.stringify(rows);
    if (text === this.shown) {
      return;
    }
    this.shown = text;
    const differs = (a: string, b: string): string => (other !== undefined && a !== b ? "least" : "");
    // Four pairs of rows beside each other: the panel is low and wide.
    this.table.replaceChildren(
      make("tr", {}, make("th", {}, "agent"), ...rows.map(([name]) => make("th", {}, name))),
      make("tr", {}, make("td", {}, String(kept.agent)),
           ...rows.map(([, a, b]) => make("td", { class: differs(a, b) }, a))),
      ...(other === undefined ? [] : [make("tr", {}, make("td", {}, String(other.agent)),
        ...rows.map(([, a, b]) => make("td", { class: differs(a, b) }, b)))]));
  }

  private drawWay({ agent, cell: from, path, goal }: Inspection): void {
    this.way.clear();
    const list = [...from, ...path];
    for (let i = 0; i + 1 < list.length; i += 2) {
      const [x, y] = [list[i]! + 0.5, list[i + 1]! + 0.5];
      if (i === 0) {
        this.way.moveTo(x, y);
      } else {
        this.way.lineTo(x, y);
      }
    }
    const width = Math.max(0.16, 2 / this.map.zoom);
    this.way.stroke({ width, color: COLOUR });
    const ring = this.map.ringAround(agent);
    if (ring !== undefined) {
      this.way.circle(ring.x, ring.y, ring.radius).stroke({ width, color: COLOUR });
    }
    if (goal.length === 2) {
      this.way.rect(goal[0]! + 0.1, goal[1]! + 0.1, 0.8, 0.8).stroke({ width, color: COLOUR });
    }
  }
}
