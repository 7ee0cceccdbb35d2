// Small helpers for building pages without a framework.

type Attributes = Record<string, string | number | boolean | ((event: never) => void)>;

/**
 * Makes an element. Attributes whose value is a function are listeners: { onclick: ... }; `colour` is
 * the colour of its text.
 */
export function make<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: (Node | string)[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name === "colour") {
      element.style.color = String(value); // the server's policy forbids style attributes
    } else if (typeof value === "function") {
      element.addEventListener(name.slice(2), value as (event: Event) => void);
    } else if (value === true) {
      element.setAttribute(name, "");
    } else if (value !== false) {
      element.setAttribute(name, String(value));
    }
  }
  element.append(...children);
  return element;
}

export function find<T extends HTMLElement>(id: string): T {
  const element = document.getElementById(id);
  if (element === null) {
    throw new Error(`the page has no #${id}`);
  }
  return element as T;
}

/** Shows a problem in words at the top of the page; "": removes it. */
export function showProblem(words: string): void {
  const problem = find("problem");
  problem.textContent = words;
  problem.hidden = words === "";
}

/** A labelled choice. */
export function choice(
  label: string,
  options: readonly (readonly [value: string, text: string])[],
  onChange: (value: string) => void,
): { element: HTMLElement; select: HTMLSelectElement } {
  const select = make("select", { onchange: () => onChange(select.value) });
  fillChoice(select, options);
  return { element: make("label", {}, label, " ", select), select };
}

/** Replaces the options, and keeps the chosen one if it still exists. */
export function fillChoice(
  select: HTMLSelectElement,
  options: readonly (readonly [value: string, text: string])[],
): void {
  const before = select.value;
  select.replaceChildren(...options.map(([value, text]) => make("option", { value }, text)));
  if (options.some(([value]) => value === before)) {
    select.value = before;
  }
}

/** Two columns of names and values. */
export function facts(rows: readonly (readonly [name: string, value: string])[]): HTMLElement {
  return make(
    "dl",
    {},
    ...rows.flatMap(([name, value]) => [make("dt", {}, name), make("dd", {}, value)]),
  );
}

export function group(title: string, ...children: (Node | string)[]): HTMLElement {
  return make("section", { class: "group" }, make("h2", {}, title), ...children);
}

export function count(number: number): string {
  return number.toLocaleString("en");
}

export function bytes(number: number): string {
  const units = ["B", "KiB", "MiB", "GiB"];
  let unit = 0;
  while (number >= 1024 && unit < units.length - 1) {
    number /= 1024;
    unit++;
  }
  return `${unit === 0 ? number : number.toFixed(1)} ${units[unit]!}`;
}
