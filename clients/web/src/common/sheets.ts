// Panels on a small screen: sheets over the map, one at a time, and a bar of buttons that open them.
// On a large screen the panels are beside the map and the bar is hidden; style.css has the limit.

import { find, make } from "./dom.js";

export interface Sheet {
  /** Id of the panel's element. */
  id: string;
  title: string;
}

/** Opens a sheet, or with undefined closes the one that is open. */
export type OpenSheet = (id: string | undefined) => void;

/** Fills the element #sheets. */
export function sheets(list: readonly Sheet[]): OpenSheet {
  const bar = find("sheets");
  const buttons = new Map<string, HTMLButtonElement>();
  const isOpen = (id: string): boolean => find(id).hasAttribute("data-open");
  const open: OpenSheet = (wanted) => {
    for (const { id } of list) {
      find(id).toggleAttribute("data-open", id === wanted);
      buttons.get(id)!.setAttribute("aria-expanded", String(id === wanted));
    }
    document.body.toggleAttribute("data-sheet", wanted !== undefined);
  };
  for (const { id, title } of list) {
    find(id).classList.add("sheet");
    const button = make("button", { type: "button", "aria-controls": id, "aria-expanded": "false",
                                    "data-sheet": id, onclick: () => open(isOpen(id) ? undefined : id) },
                        title);
    buttons.set(id, button);
    bar.append(button);
  }
  document.addEventListener("keydown", (event) => {
    const shown = list.find(({ id }) => isOpen(id));
    if (event.key === "Escape" && shown !== undefined) {
      const button = buttons.get(shown.id)!;
      open(undefined);
      if (button.offsetParent !== null) {
        button.focus();
      }
    }
  });
  return open;
}
