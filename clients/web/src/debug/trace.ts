// What debug.subscribe says about one agent, after every tick, while the page wants it.
//
// The page may ask for another agent or another part of the map at any time. One change is made at a
// time: end the old subscription, begin the new one, and ask once for the current state, because a
// stopped world sends nothing by itself. One report a frame is shown, the newest.

import type { Client, Results } from "fogmarch";
import { wordsFor } from "../common/connection.js";

export type Inspection = Results["debug.inspect"];

export interface Wish {
  agent: number;
  rect?: readonly [number, number, number, number];
  channels: string;
}

function isSame(a: Wish | undefined, b: Wish | undefined): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

export class AgentTrace {
  /** Called with each report; `tick` where it is known. */
  onReport: (report: Inspection, tick: number | undefined) => void = () => {};
  /** Called when there is nothing to report, and why. */
  onSilence: (words: string) => void = () => {};
  /** How many reports of debug.subscribe have come. */
  received = 0;
  private wanted: Wish | undefined;
  private current: Wish | undefined;
  private subscription: number | undefined;
  private newest: { report: Inspection; tick: number } | undefined;
  private settling: Promise<void> | undefined;
  private readonly stop: () => void;

  constructor(private readonly client: Client, private readonly world: number) {
    this.stop = client.on("debug", (message) => {
      if (message.subscription !== this.subscription) {
        return;
      }
      this.received++;
      if ((message as { ended?: string }).ended) {
        this.subscription = undefined;
        this.newest = undefined;
        this.onSilence(`The agent is no more: ${message.ended}.`);
        return;
      }
      if (this.newest === undefined) {
        requestAnimationFrame(() => this.show());
      }
      this.newest = { report: message as unknown as Inspection, tick: message.tick };
    });
  }

  end(): void {
    this.stop();
    this.wanted = undefined;
    this.newest = undefined;
    if (this.client.isOpen) {
      void this.settle().catch(() => {});
    }
  }

  /** From now on this; undefined: nothing. Returns when it is so. */
  want(wish: Wish | undefined): Promise<void> {
    this.wanted = wish;
    return this.settle();
  }

  /** Asks for the current state. */
  async ask(): Promise<void> {
    const wish = this.current;
    if (wish === undefined) {
      return;
    }
    const report = await this.client.call("debug.inspect", { world: this.world, ...wish } as never);
    if (isSame(wish, this.wanted)) {
      this.newest = undefined;
      this.onReport(report, undefined);
    }
  }

  private show(): void {
    const newest = this.newest;
    this.newest = undefined;
    if (newest !== undefined) {
      this.onReport(newest.report, newest.tick);
    }
  }

  private settle(): Promise<void> {
    this.settling ??= this.change();
    return this.settling;
  }

  private async change(): Promise<void> {
    await Promise.resolve(); // so that `settling` is set before this ends
    while (!isSame(this.current, this.wanted)) {
      const wish = this.wanted;
      const before = this.subscription;
      this.subscription = undefined;
      this.current = wish;
      try {
        if (before !== undefined) { // unless it has ended by itself
          await this.client.call("debug.unsubscribe", { world: this.world, subscription: before })
            .catch((error: unknown) => console.info(wordsFor(error)));
        }
        if (wish !== undefined) {
          const { subscription } = await this.client.call(
            "debug.subscribe", { world: this.world, ...wish } as never);
          this.subscription = subscription;
          await this.ask();
        }
      } catch (error) {
        if (isSame(wish, this.wanted)) {
          this.onSilence(wordsFor(error));
        }
      }
    }
    this.settling = undefined;
  }
}
