// What other programs can open: a search as a Posthoc trace, a run as a plan for MAPF viewers.

import { AGENT_STATES, type Mirror, type Results } from "fogmarch";
import { NO_COST, searchCells } from "./overlay.js";

/** Saves text as a file of the person at the screen. */
export function save(name: string, text: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type: "text/plain" }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

/**
 * A search as a Posthoc search trace (version 1.4.0): source, destination, then every cell that it holds,
 * in the order of g, as expanded or as generated.
 */
export function searchTrace(result: Results["debug.inspect"]): string {
  const event = (type: string, x: number, y: number, more = ""): string =>
    `  - { type: ${type}, id: "${x},${y}", x: ${x}, y: ${y}${more} }\n`;
  const cells = searchCells(result)
    .map((cell) => ({ ...cell, cost: Math.min(cell.g, cell.rhs) }))
    .sort((a, b) => a.cost - b.cost || a.y - b.y || a.x - b.x);
  let text = 'version: "1.4.0"\n' +
    "views:\n  cell:\n    - $: rect\n      width: 1\n      height: 1\n" +
    "      x: $" + "{{ $.event.x }}\n      y: $" + "{{ $.event.y }}\n" +
    "      fill: $" + "{{ $.color[$.event.type] }}\n" +
    "  main:\n    - $: cell\nevents:\n";
  text += event("source", result.cell[0]!, result.cell[1]!);
  if (result.goal.length === 2) {
    text += event("destination", result.goal[0]!, result.goal[1]!);
  }
  for (const { x, y, open, closed, cost, h } of cells) {
    const number = (name: string, value: number): string =>
      value >= NO_COST ? "" : `, ${name}: ${value}`;
    const f = cost >= NO_COST || h >= NO_COST ? NO_COST : cost + h;
    const type = closed ? "expanding" : open ? "generating" : "updating";
    text += event(type, x, y, number("g", cost) + number("h", h) + number("f", f));
  }
  return text;
}

/** Records where agents stand, tick by tick. */
export class Recorder {
  private readonly paths = new Map<number, { first: number; cells: number[] }>();
  private firstTick: number | undefined;
  private lastTick = 0;

  take(view: Mirror): void {
    this.firstTick ??= view.tick;
    this.lastTick = view.tick;
    const length = view.tick - this.firstTick + 1;
    for (let place = 0; place < view.agentCount; place++) {
      const id = view.ids[place]!;
      let path = this.paths.get(id);
      if (path === undefined) {
        path = { first: length - 1, cells: [] };
        this.paths.set(id, path);
      }
      // Ticks without a message changed nothing.
      while (path.first + path.cells.length / 2 < length - 1 && path.cells.length > 0) {
        path.cells.push(path.cells.at(-2)!, path.cells.at(-1)!);
      }
      path.cells.push(view.xs[place]!, view.ys[place]!);
    }
  }

  get ticks(): number {
    return this.firstTick === undefined ? 0 : this.lastTick - this.firstTick + 1;
  }

  /**
   * The run in the JSON of the League of Robot Runners' start kit, which PlanViz opens. Its moves are up,
   * down, left, right and wait: a diagonal step is written as one of the letters "NE", "NW", "SE", "SW".
   */
  plan(): string {
    const letters = new Map([
      ["0,-1", "U"], ["0,1", "D"], ["-1,0", "L"], ["1,0", "R"], ["0,0", "W"],
      ["1,-1", "NE"], ["-1,-1", "NW"], ["1,1", "SE"], ["-1,1", "SW"],
    ]);
    const paths = [...this.paths.values()].map(({ first, cells }) => {
      const moves: string[] = new Array<string>(first).fill("W");
      for (let i = 2; i + 1 < cells.length; i += 2) {
        const step = `${cells[i]! - cells[i - 2]!},${cells[i + 1]! - cells[i - 1]!}`;
        moves.push(letters.get(step) ?? "W");
      }
      return { start: [cells[1]!, cells[0]!, "E"], moves: moves.join(",") };
    });
    return JSON.stringify({
      actionModel: "MAPF",
      version: "LoRR2024",
      teamSize: paths.length,
      makespan: this.ticks - 1,
      start: paths.map((path) => path.start),
      actualPaths: paths.map((path) => path.moves),
      plannerPaths: paths.map((path) => path.moves),
      errors: [], events: [], tasks: [],
    });
  }
}

export function stateName(state: number): string {
  return AGENT_STATES[state] ?? `state ${state}`;
}
