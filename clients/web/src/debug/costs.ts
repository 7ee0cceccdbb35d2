// Where the work goes: the most expensive agents, searches, teams or edits, and what the stages of a
// tick take.

import type { Client } from "fogmarch";
import { wordsFor } from "../common/connection.js";
import { choice, count, facts, group, make } from "../common/dom.js";

const ROWS = 10;

const COLUMNS = {
  agents: ["agent", "team", "agents", "per_tick", "expansions", "planner"],
  planners: ["agent", "team", "agents", "per_tick", "expansions", "bytes", "goal", "planner"],
  teams: ["team", "agents", "per_tick", "expansions"],
  edits: ["tick", "cells", "expansions", "cell"],
} as const;
type By = keyof typeof COLUMNS;

const OF_SEARCHES = { agents: "shared by", per_tick: "per tick", expansions: "search so far" };
const TITLES: Record<By, Record<string, string>> = {
  agents: { ...OF_SEARCHES, per_tick: "its part per tick" },
  planners: OF_SEARCHES,
  teams: { per_tick: "per tick", expansions: "so far" },
  edits: { cell: "first cell" },
};

const NOTHING: Readonly<Record<By, string>> = {
  agents: "no agent has searched lately",
  planners: "there is no search",
  teams: "there is no team",
  edits: "the map was not changed lately",
};

function written(name: string, value: unknown): string {
  if (Array.isArray(value)) {
    return value.length === 0 ? "none" : value.join(", ");
  }
  return typeof value === "number" && name === "per_tick" ? value.toFixed(1)
    : typeof value === "number" && name !== "agent" ? count(value) : String(value ?? "");
}

/** A planner, and the one that it chose: "auto (goal-field)"; of answers to debug.inspect and debug.top. */
export function plannerOf(answer: Readonly<Record<string, unknown>>): string {
  const [planner, runs] = [String(answer["planner"] ?? ""), String(answer["runs"] ?? "")];
  return runs === "" || planner.split(":")[0] === runs ? planner : `${planner} (${runs})`;
}

export class Costs {
  readonly panel: HTMLElement;
  private readonly table = make("table", { id: "top", class: "numbers" });
  private readonly stages = make("div", { id: "costs" });
  private readonly by = choice("most expensive", [
    ["agents", "agents"], ["planners", "searches"], ["teams", "teams"], ["edits", "edits"],
  ], () => void this.refresh());

  constructor(private readonly client: Client, private readonly world: number,
              private readonly select: (agent: number) => void) {
    this.by.select.id = "top-by";
    this.panel = make("div", { class: "lists" },
                      make("section", { class: "group wide" }, this.by.element, this.table),
                      group("A tick", this.stages));
  }

  /** Asks again. */
  async refresh(): Promise<void> {
    const by = this.by.select.value as By;
    try {
      const { rows } = await this.client.call("debug.top", { world: this.world, by, rows: ROWS });
      if (by === this.by.select.value) {
        this.show(by, rows);
      }
    } catch (error) {
      this.table.replaceChildren(make("tr", {}, make("td", {}, wordsFor(error))));
    }
  }

  /** `world` of the answer of stats. */
  showStages(stats: Record<string, unknown>): void {
    const tick = stats["tick_ms"] as { p50: number; p99: number; max: number } | undefined;
    const stages = (stats["stages_ms"] ?? {}) as Record<string, number>;
    this.stages.replaceChildren(facts([
      ["p50 / p99", `${tick?.p50.toFixed(2)} / ${tick?.p99.toFixed(2)} ms`],
      ["searches", count(Number(stats["planners"] ?? 0))],
      ["an expansion", `${Number(stats["ns_per_expansion"] ?? 0).toFixed(0)} ns`],
      ...Object.entries(stages).map(([name, ms]): [string, string] => [name, `${ms.toFixed(3)} ms`]),
    ]));
  }

  // Names of agents are buttons that select them.
  private show(by: By, rows: readonly Record<string, unknown>[]): void {
    const columns = COLUMNS[by];
    this.table.replaceChildren(
      make("tr", {}, ...columns.map((name) => make("th", {}, TITLES[by][name] ?? name))),
      ...rows.map((row) => make("tr", {}, ...columns.map((name) => {
        const text = name === "planner" ? plannerOf(row) : written(name, row[name]);
        const agent = Number(row["agent"] ?? 0);
        return make("td", {}, name === "agent" && agent > 0
          ? make("button", { type: "button", onclick: () => this.select(agent) }, text) : text);
      }))),
      ...(rows.length > 0 ? [] : [make("tr", {}, make("td", { colspan: columns.length }, NOTHING[by]))]));
  }
}
