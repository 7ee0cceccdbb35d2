// What other programs can open: a search as a Posthoc trace, a run as a plan for PlanViz with its map.

import { TERRAINS, type Mirror, type Results } from "fogmarch";
import { NO_COST, searchCells, type SearchLists } from "./search-cells.js";

/** Saves text as a file on the user's computer. */
export function save(name: string, text: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type: "text/plain" }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

/**
 * A search as a Posthoc search trace (version 1.4.0): source, destination, then every cell that it holds,
 * in the order of g, as expanded or as generated; the parent of each where it is known.
 */
export function searchTrace(result: Results["debug.inspect"] & SearchLists): string {
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
  for (const { x, y, open, closed, cost, h, details } of cells) {
    const number = (name: string, value: number): string =>
      value >= NO_COST ? "" : `, ${name}: ${value}`;
    const f = cost >= NO_COST || h >= NO_COST ? NO_COST : cost + h;
    const type = closed ? "expanding" : open ? "generating" : "updating";
    const [px, py] = details?.parent ?? [x, y];
    const parent = px === x && py === y ? "" : `, pId: "${px},${py}"`;
    text += event(type, x, y, parent + number("g", cost) + number("h", h) + number("f", f));
  }
  return text;
}

const GROUND = TERRAINS.indexOf("ground");
const TREES = TERRAINS.indexOf("trees");

/** What a view shows as a .map file with the three letters that PlanViz knows. */
export function mapText(view: Mirror): string {
  const [, , width, height] = view.rect;
  let text = `type octile\nheight ${height}\nwidth ${width}\nmap\n`;
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const terrain = view.looks[y * width + x]! & 15;
      text += terrain === GROUND ? "." : terrain === TREES ? "T" : "@";
    }
    text += "\n";
  }
  return text;
}

// PlanViz has rows grow with U and shrink with D, whatever the letters suggest.
const LETTERS = new Map([["0,1", "U"], ["0,-1", "D"], ["-1,0", "L"], ["1,0", "R"], ["0,0", "W"]]);

/**
 * Records where agents stand, tick by tick.
 *
 * A plan in the format of the League of Robot Runners has a letter for four directions and for waiting,
 * and none for diagonals. A tick in which agents may step diagonally is therefore two timesteps: a
 * diagonal is a step and another across it, by way of a cell that is free where there is one; everything
 * else is a step and a wait.
 */
export class Recorder {
  private readonly paths = new Map<number, { first: number; cells: number[] }>();
  private firstTick: number | undefined;
  private lastTick = 0;
  private readonly blocked = new Set<string>(); // side cells of diagonals that could not be entered

  constructor(private readonly diagonals: boolean) {}

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
      const { cells } = path;
      // Ticks without a message changed nothing.
      while (path.first + cells.length / 2 < length - 1 && cells.length > 0) {
        cells.push(cells.at(-2)!, cells.at(-1)!);
      }
      const [x, y] = [view.xs[place]!, view.ys[place]!];
      const [beforeX = x, beforeY = y] = cells.slice(-2);
      if (beforeX !== x && beforeY !== y && (view.lookAt(x, beforeY) & 15) !== GROUND) {
        this.blocked.add(`${x},${beforeY}`);
      }
      if (path.first + cells.length / 2 < length) {
        cells.push(x, y);
      } else { // the same tick again
        cells.splice(-2, 2, x, y);
      }
    }
  }

  get ticks(): number {
    return this.firstTick === undefined ? 0 : this.lastTick - this.firstTick + 1;
  }

  // The timesteps of a tick. In messages that were merged into one, an agent may have made several steps.
  private stepsOf(fromX: number, fromY: number, toX: number, toY: number): string[] {
    const letter = (dx: number, dy: number): string => LETTERS.get(`${dx},${dy}`) ?? "W";
    const dx = Math.sign(toX - fromX);
    const dy = Math.sign(toY - fromY);
    if (!this.diagonals) {
      return [letter(dx, dx === 0 ? dy : 0)];
    }
    return dx !== 0 && dy !== 0 && this.blocked.has(`${toX},${fromY}`)
      ? [letter(0, dy), letter(dx, 0)]
      : dx === 0 ? [letter(0, dy), "W"] : [letter(dx, 0), letter(0, dy)];
  }

  /** The run in the JSON of the start kit of 2023, which every PlanViz opens. */
  plan(): string {
    const wait = this.diagonals ? ["W", "W"] : ["W"];
    const paths = [...this.paths.values()].map(({ first, cells }) => {
      const moves: string[] = [];
      for (let tick = 0; tick < first; tick++) {
        moves.push(...wait);
      }
      let [x, y] = [cells[0]!, cells[1]!];
      for (let i = 2; i + 1 < cells.length; i += 2) {
        for (const step of this.stepsOf(x, y, cells[i]!, cells[i + 1]!)) {
          x += step === "R" ? 1 : step === "L" ? -1 : 0;
          y += step === "U" ? 1 : step === "D" ? -1 : 0;
          moves.push(step);
        }
      }
      while (moves.length < (this.ticks - 1) * wait.length) {
        moves.push("W"); // it is gone
      }
      if (moves.length === 0) {
        moves.push(...wait); // PlanViz cannot read an empty list of moves
      }
      return { start: [cells[1]!, cells[0]!, "E"], moves: moves.join(",") };
    });
    return JSON.stringify({
      actionModel: "MAPF",
      version: "2023 LoRR",
      AllValid: "Yes",
      teamSize: paths.length,
      makespan: Math.max(1, this.ticks - 1) * wait.length,
      start: paths.map((path) => path.start),
      actualPaths: paths.map((path) => path.moves),
      plannerPaths: paths.map((path) => path.moves),
      errors: [], events: paths.map(() => []), tasks: [],
    });
  }
}
