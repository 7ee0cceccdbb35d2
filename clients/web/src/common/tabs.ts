// Panels, one visible at a time, and a row of buttons that choose it. Left and right move
// between the buttons.

import { make } from "./dom.js";

export interface Tab {
  name: string;
  title: string;
  content: HTMLElement;
}

/** `onChosen` is called with the name of the tab that becomes visible. */
export function tabs(list: readonly Tab[], label: string,
                     onChosen: (name: string) => void = () => {}): HTMLElement {
  const bar = make("div", { class: "tabs", role: "tablist", "aria-label": label });
  const buttons = list.map(({ name, title, content }, i) => {
    content.setAttribute("role", "tabpanel");
    content.setAttribute("aria-label", title);
    content.tabIndex = 0; // so that keys can scroll it
    const button = make("button", { type: "button", role: "tab", "data-tab": name,
                                    onclick: () => choose(i) }, title);
    button.addEventListener("keydown", (event) => {
      const step = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
      if (step !== 0) {
        event.preventDefault();
        choose((i + step + list.length) % list.length);
        buttons[(i + step + list.length) % list.length]!.focus();
      }
    });
    return button;
  });
  const choose = (chosen: number): void => {
    list.forEach(({ content }, i) => {
      content.hidden = i !== chosen;
      buttons[i]!.setAttribute("aria-selected", String(i === chosen));
      buttons[i]!.tabIndex = i === chosen ? 0 : -1;
    });
    onChosen(list[chosen]!.name);
  };
  bar.append(...buttons);
  choose(0);
  return make("div", { class: "tabbed" }, bar, ...list.map(({ content }) => content));
}
