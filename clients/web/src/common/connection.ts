// The form at the top of both pages: connect, reconnect, and say in words what went wrong.
//
// The form is disabled until this file has taken it over. Otherwise a user who is faster than the page
// would submit it as browsers do: with the token in the address.

import {
  connect, ConnectionError, PROTOCOL, RequestError, ViewEnded, type Client, type Subscription,
} from "fogmarch";
import { find, make, showProblem } from "./dom.js";
import { watchSilence } from "./silence.js";

const RETRY_FIRST_MS = 500;
const RETRY_LAST_MS = 8000;

export interface Page {
  name: string;
  /** Called with each new session; what it returns is called when that session ends. */
  begin(client: Client): Promise<() => void>;
}

function defaultUrl(): string {
  const scheme = location.protocol === "https:" ? "wss" : "ws";
  return `${scheme}://${location.host}/ws`;
}

/** A sentence for people. */
export function wordsFor(error: unknown): string {
  if (error instanceof RequestError) {
    if (error.method === "hello" && error.status === "denied") {
      return "The server refused this token. Check it and connect again.";
    }
    if (error.method === "hello" && error.status === "bad_value") {
      return `The server does not speak protocol ${PROTOCOL}: ${error.message}.`;
    }
    return `${error.method}: ${error.message}`;
  }
  return error instanceof Error ? error.message : String(error);
}

/** Runs what the user asked for, and shows errors. */
export async function attempt(action: () => Promise<unknown>): Promise<void> {
  try {
    await action();
    showProblem("");
  } catch (error) {
    if (error instanceof ConnectionError) {
      return; // the end of the connection was already reported, see startPage()
    }
    console.warn(error);
    showProblem(wordsFor(error));
  }
}

/**
 * Connects again when a view is over, but neither the connection nor the world is: in a cluster, when nobody has said
 * for long where the world is. `isShown`: whether the page still shows the view, after it has heard of `world_ended`.
 */
export function watchView(client: Client, view: Subscription, isShown: () => boolean): void {
  view.onEnd = (error) => queueMicrotask(() => {
    if (error instanceof ViewEnded && isShown()) {
      client.close(error.message);
    }
  });
}

export function startPage(page: Page): void {
  const form = find<HTMLFormElement>("connection");
  const status = find("status");
  const url = form.elements.namedItem("url") as HTMLInputElement;
  const token = form.elements.namedItem("token") as HTMLInputElement;
  url.value = sessionStorage.getItem("fogmarch-url") ?? defaultUrl();
  token.value = sessionStorage.getItem(`fogmarch-token-${page.name}`) ?? "";
  form.querySelector("fieldset")!.disabled = false;
  let generation = 0; // counts attempts to connect; older ones do nothing
  let current: Client | undefined;
  let isLost = false; // a session has ended by itself, and there was no other since
  let beginning: Promise<unknown> = Promise.resolve(); // the start of the last session; they start one at a time

  const say = (text: string, kind: string): void => {
    status.textContent = text;
    status.dataset["kind"] = kind;
  };

  const run = async (mine: number, wait: number): Promise<void> => {
    say("connecting ...", "busy");
    let client: Client | undefined;
    try {
      client = await connect(url.value, {
        name: `fogmarch-web ${page.name}`,
        timeoutMs: 0, // a long journal takes long to seek in; see silence.ts
        ...(token.value === "" ? {} : { token: token.value }),
      });
      if (mine !== generation) {
        client.close();
        return;
      }
      current = client;
      const connected = client;
      const sayWhere = (): void => {
        const { server, role, node } = connected.welcome;
        say("", "good");
        status.append(make("span", { class: "long" }, `connected to ${server}${(node ?? "") === "" ? "" : `, node ${node}`} `),
                      `as ${role}`);
      };
      sayWhere();
      client.onNode(() => mine === generation && sayWhere());
      watchSilence(client, (seconds) => {
        if (mine === generation && seconds !== undefined) {
          say(`the server has not answered for ${seconds} s`, "bad");
        } else if (mine === generation) {
          sayWhere();
        }
      });
      isLost = false;
      showProblem("");
      sessionStorage.setItem("fogmarch-url", url.value);
      sessionStorage.setItem(`fogmarch-token-${page.name}`, token.value);
      await beginning;
      const begun = page.begin(client);
      beginning = begun.catch(() => {});
      const end = await begun;
      const over = (reason: string): void => {
        end();
        if (mine === generation) {
          isLost = true;
          say("not connected", "bad");
          showProblem(`Connection lost: ${reason}. Trying again ...`);
          void retry(mine, RETRY_FIRST_MS);
        }
      };
      if (client.isOpen) {
        client.onEnd(over);
      } else {
        over("the server is gone");
      }
    } catch (error) {
      if (mine !== generation) {
        return;
      }
      say("not connected", "bad");
      const words = wordsFor(error);
      client?.close();
      if (!(error instanceof ConnectionError)) {
        showProblem(words);
      } else {
        showProblem(`${isLost ? "Connection lost: " : ""}${words}. Trying again ...`);
        void retry(mine, Math.min(wait * 2, RETRY_LAST_MS));
      }
    }
  };

  const retry = async (mine: number, wait: number): Promise<void> => {
    await new Promise((resolve) => setTimeout(resolve, wait));
    if (mine === generation) {
      await run(mine, wait);
    }
  };

  form.addEventListener("submit", (event) => {
    event.preventDefault();
    generation++;
    isLost = false;
    current?.close();
    void run(generation, RETRY_FIRST_MS);
  });
  generation++;
  void run(generation, RETRY_FIRST_MS);
}
