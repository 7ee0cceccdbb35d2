// The panel of the selected agent: everything that debug.inspect says, anew after every tick.

import type { Client, Results } from "fogmarch";
import { bytes, choice, count, facts, group, make } from "../common/dom.js";
import type { MapView } from "../common/map-view.js";
import { save, searchTrace } from "./export.js";
import { OVERLAYS, SearchOverlay, type Overlay } from "./overlay.js";

const SEARCH_CELLS_MAX = 16384; // of one debug.inspect

type Inspection = Results["debug.inspect"];

export class Inspector {
  readonly overlay = new SearchOverlay();
  agent: number | undefined;
  /** Called when another agent, or another overlay, was chosen. */
  onChanged: () => void = () => {};
  private last: Inspection | undefined;
  private lastExpansions: { tick: number; expansions: number } | undefined;
  private busy = false;
  private stale = false;
  private readonly body = make("div", { id: "agent-facts", "aria-live": "off" });
  private readonly explanation = make("div", { id: "explanation", role: "status" });
  private readonly search = make("input", { type: "number", min: 1, step: 1, name: "agent",
                                            placeholder: "id" });
  private readonly overlayChoice;

  constructor(
    parent: HTMLElement,
    private readonly client: Client,
    private readonly world: number,
    private readonly map: MapView,
    overlay: string | undefined,
  ) {
    this.overlayChoice = choice("show its", OVERLAYS, () => {
      this.onChanged();
      void this.refresh();
    });
    if (OVERLAYS.some(([name]) => name === overlay)) {
      this.overlayChoice.select.value = overlay!;
    }
    this.overlayChoice.select.id = "overlay";
    const find = make("form", { onsubmit: (event: Event) => {
      event.preventDefault();
      void this.select(Number(this.search.value), true);
    } }, make("label", {}, "agent ", this.search), make("button", {}, "find"));
    const exportButton = make("button", { type: "button", onclick: () => {
      if (this.last !== undefined) {
        save(`agent-${this.agent}.trace.yaml`, searchTrace(this.last));
      }
    } }, "save search as trace");
    const explainButton = make("button", { type: "button", id: "explain",
                                           onclick: () => void this.explain() }, "why?");
    parent.replaceChildren(group("Agent", find, this.overlayChoice.element, this.body,
                                 make("div", { class: "row" }, explainButton, exportButton),
                                 this.explanation));
    map.under.addChild(this.overlay.container);
    this.body.textContent = "Click an agent on the map, or type its id.";
  }

  get overlayName(): Overlay {
    return this.overlayChoice.select.value as Overlay;
  }

  async select(agent: number | undefined, centre = false): Promise<void> {
    this.agent = agent;
    this.explanation.replaceChildren();
    this.lastExpansions = undefined;
    this.search.value = agent === undefined ? "" : String(agent);
    this.onChanged();
    await this.refresh();
    if (centre && this.last !== undefined) {
      const [x = 0, y = 0] = this.last.cell;
      this.map.centre({ x: x + 0.5, y: y + 0.5 }, Math.max(this.map.zoom, 8));
      await this.refresh();
    }
  }

  /** Asks again; calls while an answer is awaited become one. */
  async refresh(tick?: number): Promise<void> {
    if (this.agent === undefined) {
      this.last = undefined;
      this.overlay.clear();
      this.map.marks.clear();
      this.body.textContent = "Click an agent on the map, or type its id.";
      return;
    }
    if (this.busy) {
      this.stale = true;
      return;
    }
    this.busy = true;
    try {
      const rect = this.rectInSight();
      this.last = await this.client.call("debug.inspect", {
        world: this.world, agent: this.agent, ...(rect === undefined ? {} : { rect }),
      });
      this.show(this.last, tick);
    } catch (error) {
      this.last = undefined;
      this.overlay.clear();
      this.map.marks.clear();
      this.body.textContent = error instanceof Error ? error.message : String(error);
    } finally {
      this.busy = false;
      if (this.stale) {
        this.stale = false;
        void this.refresh(tick);
      }
    }
  }

  // What debug.explain says, in words.
  private async explain(): Promise<void> {
    if (this.agent === undefined) {
      return;
    }
    try {
      const { why, blocker, blocked_at, waits_ticks, orders, replans } = await this.client.call(
        "debug.explain", { world: this.world, agent: this.agent });
      const where = blocked_at.length === 2 ? ` at ${blocked_at.join(", ")}` : "";
      const who = blocker === 0 ? "" : ` (agent ${blocker})`;
      const since = waits_ticks === 0 ? "" : `, for ${count(waits_ticks)} ticks`;
      this.explanation.replaceChildren(
        make("p", {}, `${why}${who}${where}${since}`),
        make("ol", { "aria-label": "its orders" }, ...orders.slice(0, 8).map((entry) => make("li", {},
          `tick ${entry["tick"]}: ${entry["order"]} ${entry["event"]}, ` +
          `${entry["kind"] ?? entry["reason"]}`))),
        make("ol", { "aria-label": "its replans" }, ...replans.slice(0, 8).map((entry) => make("li", {},
          `tick ${entry["tick"]}: ${entry["changed"]} cells changed, ` +
          `${entry["expansions"]} expansions`))));
    } catch (error) {
      this.explanation.textContent = error instanceof Error ? error.message : String(error);
    }
  }

  // The cells in sight, or as many around the middle as one answer holds.
  private rectInSight(): [number, number, number, number] | undefined {
    const view = this.map.mapSize;
    if (this.overlayName === "none" || view === undefined) {
      return undefined;
    }
    const bounds = this.map.bounds;
    let left = Math.max(0, Math.floor(bounds.x));
    let top = Math.max(0, Math.floor(bounds.y));
    let width = Math.min(view.width, Math.ceil(bounds.x + bounds.width)) - left;
    let height = Math.min(view.height, Math.ceil(bounds.y + bounds.height)) - top;
    if (width <= 0 || height <= 0) {
      return undefined;
    }
    const excess = Math.sqrt((width * height) / SEARCH_CELLS_MAX);
    if (excess > 1) {
      const [x = 0, y = 0] = this.last?.cell ?? [left + width / 2, top + height / 2];
      width = Math.floor(width / excess);
      height = Math.floor(height / excess);
      left = Math.max(0, Math.min(view.width - width, Math.floor(x - width / 2)));
      top = Math.max(0, Math.min(view.height - height, Math.floor(y - height / 2)));
    }
    return [left, top, width, height];
  }

  private show(result: Inspection, tick: number | undefined): void {
    const perTick = this.expansionsPerTick(result, tick);
    const cell = (list: readonly number[]): string =>
      list.length === 2 ? `${list[0]}, ${list[1]}` : "none";
    this.body.replaceChildren(facts([
      ["id", String(result.agent)],
      ["team", String(result.team)],
      ["cell", cell(result.cell)],
      ["state", result.state],
      ["order", result.order === 0 ? "none" : String(result.order)],
      ["goal", cell(result.goal)],
      ["goes to instead", cell(result.substitute)],
      ["planner", result.planner],
      ["plan", result.plan],
      ["shared by", count(result.sharers)],
      ["path", `${result.path.length / 2} cells`],
      ["open", count(result.open)],
      ["closed", count(result.closed)],
      ["expansions", count(result.expansions)],
      ["per tick", perTick],
      ["replans", count(result.replans)],
      ["moves", count(result.moves)],
      ["search memory", bytes(result.bytes)],
      ["team knows", `${count(result.known)} cells, ${bytes(result.knowledge_bytes)}`],
    ]));
    this.overlay.draw(result, this.overlayName, this.map.zoom);
    const [x = 0, y = 0] = result.cell;
    this.map.marks.clear().circle(x + 0.5, y + 0.5, 0.9).stroke({ width: 0.2, color: 0xffffff });
  }

  private expansionsPerTick(result: Inspection, tick: number | undefined): string {
    const before = this.lastExpansions;
    if (tick !== undefined) {
      this.lastExpansions = { tick, expansions: result.expansions };
    }
    if (before === undefined || tick === undefined || tick <= before.tick ||
        result.expansions < before.expansions) {
      return "-";
    }
    return count(Math.round((result.expansions - before.expansions) / (tick - before.tick)));
  }
}
