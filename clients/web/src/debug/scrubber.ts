// The row under the map while a replay is shown: goes to any tick, forwards and backwards, and plays.
//
// A user who drags wants only the last place: one seek is under way, and another one is sent when that
// takes long; on the server the later seek replaces the earlier one.

import type { Client, Results } from "fogmarch";
import { attempt } from "../common/connection.js";
import { count, make, showProblem } from "../common/dom.js";

const IMPATIENCE_MS = 150; // after this long the next seek does not wait for the last
const LOOK_MS = 250;       // between two requests for its progress
const FAR = 10;            // ticks, with Shift

type World = Results["world.info"];
interface Replay { file: string; first_tick: number; last_tick: number; differences: number;
                   error: string; seeks?: number }

export function replayOf(world: World): Replay | undefined {
  return "file" in world.replay ? world.replay as unknown as Replay : undefined;
}

export class Scrubber {
  /** The tick that was last known to be shown. */
  tick: number;
  /** Called when another tick was reached by a seek. */
  onArrived: () => void = () => {};
  private readonly world: number;
  private first: number;
  private last: number;
  private playing: boolean;
  private wanted: number | undefined; // the tick of the seek under way
  private sent: number | undefined;
  private sentAt = 0;
  private under = 0;                  // seeks that are not answered
  private ended = false;
  private readonly timer: ReturnType<typeof setInterval>;
  private readonly play = make("button", { type: "button", id: "replay-play" });
  private readonly range = make("input", { type: "range", id: "scrub", step: 1,
                                           "aria-label": "tick of the replay" });
  private readonly rate = make("input", { type: "number", id: "replay-rate", min: 0.1, max: 1000,
                                          step: "any" });
  private readonly place = make("output", { id: "replay-tick" });
  private readonly digest = make("output", { id: "replay-digest" });

  constructor(private readonly parent: HTMLElement, private readonly client: Client, info: World,
              onClose: () => void) {
    const replay = replayOf(info)!;
    this.world = info.world;
    this.tick = info.tick;
    this.first = replay.first_tick;
    this.last = replay.last_tick;
    this.playing = !info.paused;
    this.rate.value = String(info.tick_hz);
    this.range.addEventListener("input", () => this.seek(Number(this.range.value)));
    this.range.addEventListener("keydown", (event) => this.onKey(event));
    this.play.addEventListener("click", () => void attempt(() => this.toggle()));
    this.rate.addEventListener("change", () => void attempt(async () => {
      if (this.playing) {
        await this.start();
      }
    }));
    const close = make("button", { type: "button", id: "replay-close", onclick: onClose }, "close");
    parent.replaceChildren(
      make("strong", {}, replay.file), this.play, this.range, this.place, this.digest,
      make("label", {}, "ticks per second ", this.rate), close);
    parent.title = "On the slider: left and right go one tick, with Shift ten; Home and End to the " +
      "first and the last; Space plays and pauses.";
    parent.hidden = false;
    this.show();
    this.showDigest(info.digest, replay.differences);
    this.timer = setInterval(() => void this.look(), LOOK_MS);
  }

  end(): void {
    this.ended = true;
    clearInterval(this.timer);
    this.parent.hidden = true;
    this.parent.replaceChildren();
  }

  /** Milliseconds between two ticks. */
  get interval(): number {
    return this.playing ? 1000 / Number(this.rate.value) : 1;
  }

  /** A view has come to this tick. */
  take(tick: number): void {
    this.tick = tick;
    this.show();
  }

  /** Goes to a tick, or to the nearest one in the journal. */
  seek(tick: number): void {
    this.wanted = Math.max(this.first, Math.min(this.last, Math.round(tick)));
    this.show();
    if (this.under === 0 || performance.now() - this.sentAt > IMPATIENCE_MS) {
      void attempt(() => this.send());
    }
  }

  private async send(): Promise<void> {
    const tick = this.wanted!;
    this.sent = tick;
    this.sentAt = performance.now();
    this.under++;
    try {
      const answer = await this.client.call("replay.seek", { world: this.world, tick });
      this.first = answer.first_tick;
      this.last = answer.last_tick;
      this.tick = answer.tick;
      this.showDigest(answer.digest, answer.differences);
    } catch (error) {
      if (this.wanted === tick) {
        this.wanted = undefined; // it cannot be reached
      }
      if (!this.ended) {
        throw error;
      }
    } finally {
      this.under--;
      if (this.under === 0 && !this.ended) {
        this.arrive();
      }
      this.show();
    }
  }

  private arrive(): void {
    if (this.wanted !== undefined && this.wanted !== this.sent) {
      void attempt(() => this.send());
      return;
    }
    this.wanted = undefined;
    this.onArrived();
  }

  private async toggle(): Promise<void> {
    if (this.playing) {
      await this.client.call("replay.pause", { world: this.world });
    } else {
      if (this.tick >= this.last) {
        await this.client.call("replay.seek", { world: this.world, tick: this.first });
      }
      await this.start();
    }
    await this.look(true);
  }

  private async start(): Promise<void> {
    await this.client.call("replay.play", { world: this.world, tick_hz: Number(this.rate.value) });
    this.playing = true;
  }

  private onKey(event: KeyboardEvent): void {
    const from = this.wanted ?? this.tick;
    const far = event.shiftKey ? FAR : 1;
    switch (event.key) {
      case "ArrowLeft": case "ArrowDown": this.seek(from - far); break;
      case "ArrowRight": case "ArrowUp": this.seek(from + far); break;
      case "Home": this.seek(this.first); break;
      case "End": this.seek(this.last); break;
      case " ": void attempt(() => this.toggle()); break;
      default: return;
    }
    event.preventDefault();
  }

  // The progress of a long seek, and the tick where nothing changed and no message came. `now`: after a
  // pause, where the digest of the last look is that of an earlier tick.
  private async look(now = false): Promise<void> {
    const seeks = this.under > 0 && performance.now() - this.sentAt > LOOK_MS;
    if (this.ended || (!seeks && !this.playing && !now)) {
      return;
    }
    const under = this.under;
    const info = await this.client.call("world.info", { world: this.world }).catch(() => undefined);
    const replay = info === undefined ? undefined : replayOf(info);
    if (info === undefined || replay === undefined || this.ended || under !== this.under) {
      return; // the end was already reported, or a seek was answered meanwhile
    }
    this.tick = info.tick;
    this.last = replay.last_tick;
    this.playing = !info.paused;
    this.showDigest(info.digest, replay.differences);
    this.show();
    if (!this.playing && replay.error !== "" && this.under === 0) {
      showProblem(`The replay stops here: ${replay.error}`);
    }
  }

  private show(): void {
    this.play.textContent = this.playing ? "pause" : "play";
    this.range.min = String(this.first);
    this.range.max = String(this.last);
    this.range.value = String(this.wanted ?? this.tick);
    const shown = `tick ${count(this.tick)} of ${count(this.first)} to ${count(this.last)}`;
    const away = this.wanted !== undefined && this.wanted !== this.tick;
    this.place.textContent = away ? `at tick ${count(this.tick)}, going to ${count(this.wanted!)}` : shown;
    this.place.dataset["tick"] = String(this.tick);
    this.place.dataset["under"] = String(this.under);
    this.range.setAttribute("aria-valuetext", this.place.textContent);
  }

  private showDigest(digest: string, differences: number): void {
    const known = /[1-9a-f]/.test(digest);
    this.digest.textContent = differences > 0
      ? `NOT as recorded: ${count(differences)} ticks came out differently`
      : known ? `digest ${digest}, as recorded` : "no digest before the first tick";
    this.digest.dataset["digest"] = known ? digest : "";
    this.digest.dataset["kind"] = differences > 0 ? "bad" : "good";
  }
}
