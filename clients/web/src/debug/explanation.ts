// Why an agent does what it does, by debug.explain: always what last made its search continue; its
// orders and replans on request.

import type { Client, Results } from "fogmarch";
import { wordsFor } from "../common/connection.js";
import { count, make } from "../common/dom.js";

const ENTRIES_SHOWN = 8;
const PERIOD_MS = 1000; // between two requests; each searches the world's events

const HELP: Record<string, string> = { search: "; a joint search looks for a way for those around it",
                                       plan: "; it follows the plan of a joint search",
                                       escort: "; others stand so that it gets through",
                                       stands: "; it stands so that another gets through" };

type Explained = Results["debug.explain"];

function replanWords(entry: Record<string, unknown>): string {
  const cell = entry["cell"] as number[] | undefined;
  const where = cell?.length === 2 ? ` at ${cell.join(", ")}` : "";
  const changed = Number(entry["changed"]);
  const cause = changed === 0 ? "nothing it knew had changed"
    : `${count(changed)} ${changed === 1 ? "cell" : "cells"} changed${where}`;
  return `tick ${entry["tick"]}: ${cause}; ${count(Number(entry["expansions"]))} expansions`;
}

function meetingWords({ passes_until, passes_team, concedes, via }: Explained): string {
  return (passes_until === 0 ? ""
    : `; it keeps to the right until tick ${passes_until}, to pass units of team ${passes_team}`) +
    (concedes ? "; it concedes: units of other teams may push it" : "") +
    (via.length === 2 ? `; it goes round a press, by way of ${via.join(", ")}` : "");
}

// A list with its title; nothing where it is empty.
function listOf(title: string, entries: readonly string[]): HTMLElement[] {
  return entries.length === 0 ? [] : [
    make("h3", {}, title),
    make("ul", {}, ...entries.slice(0, ENTRIES_SHOWN).map((entry) => make("li", {}, entry))),
  ];
}

export class Explanation {
  readonly last = make("p", { id: "last-replan" });
  readonly lists = make("div", { id: "explanation", role: "status" });
  private agent: number | undefined;
  private isOpen = false;
  private asked = 0;
  private due: ReturnType<typeof setTimeout> | undefined;

  constructor(private readonly client: Client, private readonly world: number) {}

  end(): void {
    clearTimeout(this.due);
    this.agent = undefined;
  }

  /** Explains another agent from now on. */
  select(agent: number | undefined): void {
    this.agent = agent;
    this.isOpen = false;
    this.asked = 0;
    this.last.textContent = "";
    this.lists.replaceChildren();
  }

  /** From now on shows the lists as well. */
  open(): Promise<void> {
    this.isOpen = true;
    return this.ask();
  }

  /** Something about the agent changed: asks again, at most once a second. */
  refresh(): void {
    if (this.due === undefined) {
      this.due = setTimeout(() => {
        this.due = undefined;
        void this.ask();
      }, Math.max(0, this.asked + PERIOD_MS - performance.now()));
    }
  }

  private async ask(): Promise<void> {
    const agent = this.agent;
    if (agent === undefined || !this.client.isOpen) {
      return;
    }
    this.asked = performance.now();
    try {
      const explained = await this.client.call("debug.explain", { world: this.world, agent });
      if (agent === this.agent) {
        this.show(explained);
      }
    } catch (error) {
      this.last.textContent = "";
      this.lists.textContent = this.isOpen ? wordsFor(error) : "";
    }
  }

  private show(explained: Explained): void {
    const { why, blocker, blocked_at, waits_ticks, stuck, help, escort, lanes, lanes_to, orders, replans } = explained;
    const newest = replans[0];
    this.last.textContent = newest === undefined ? "It has not replanned lately."
      : `Replanned last in ${replanWords(newest)}.`;
    if (!this.isOpen) {
      return;
    }
    const where = blocked_at.length === 2 ? ` at ${blocked_at.join(", ")}` : "";
    const who = blocker === 0 ? "" : ` (agent ${blocker})`;
    const whom = help === "stands" ? `: agent ${escort}` : "";
    const since = waits_ticks === 0 ? "" : `, for ${count(waits_ticks)} ticks`;
    const kept = lanes.length === 4
      ? `; it keeps to the lanes of the passage at ${lanes[0]}, ${lanes[1]}, to the ${lanes_to}` : "";
    this.lists.replaceChildren(
      make("p", {}, `${why}${who}${where}${since}${stuck ? "; it is stuck" : ""}${HELP[help] ?? ""}${whom}${kept}` +
                    meetingWords(explained)),
      ...listOf("Its orders, newest first", orders.map((entry) =>
        `tick ${entry["tick"]}: order ${entry["order"]} ${entry["event"]}, ${entry["kind"] ?? entry["reason"]}`)),
      ...listOf("What made it search again, newest first", replans.map(replanWords)));
  }
}
