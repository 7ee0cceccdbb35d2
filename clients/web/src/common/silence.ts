// Whether the server is there. Calls of the pages have no time-out, since seeking a long journal takes long; but
// a server that is at work answers `ping` at once, and one that is frozen, or without power, does not.

import type { Client } from "fogmarch";

const LOOK_MS = 500;
const QUIET_MS = 2000;    // after so long without a message the server is asked
const PATIENCE_MS = 6000; // for its answer; a large message shows only when it is whole

/**
 * Calls `tell` while nothing comes, with the seconds since the last message, and once with undefined when
 * something comes again; until the connection ends.
 */
export function watchSilence(client: Client, tell: (seconds: number | undefined) => void): void {
  let heardAt = performance.now(), before = heardAt;
  let received = client.received;
  let isAsked = false, isSilent = false;
  const timer = setInterval(() => {
    if (!client.isOpen) {
      clearInterval(timer);
      return;
    }
    const now = performance.now();
    const stoodStill = now - before > 4 * LOOK_MS; // the page did: what came meanwhile is not read yet
    before = now;
    if (client.received !== received || stoodStill) {
      received = client.received;
      heardAt = now;
      if (isSilent) {
        isSilent = false;
        tell(undefined);
      }
    } else if (now - heardAt > QUIET_MS + PATIENCE_MS) {
      isSilent = true;
      tell(Math.round((now - heardAt) / 1000));
    } else if (now - heardAt > QUIET_MS && !isAsked) {
      isAsked = true;
      client.call("ping", {}).catch(() => {}).finally(() => { isAsked = false; });
    }
  }, LOOK_MS);
}
