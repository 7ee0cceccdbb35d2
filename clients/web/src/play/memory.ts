// What a player has set up and what outlives the connection and a reload of the page: control groups, which
// units are selected, and where the screen was. Kept for each tab, because a seat belongs to a tab.

export interface Place {
  x: number;
  y: number;
  /** Pixels per cell. */
  zoom: number;
}

export class Memory {
  readonly groups = new Map<number, number[]>();
  selected: readonly number[] = [];
  at: Place | undefined;

  private constructor(private readonly key: string) {}

  /** Of a team in a world. */
  static of(world: string, team: number): Memory {
    const memory = new Memory(`fogmarch-memory ${world} ${team}`);
    try {
      const kept = JSON.parse(sessionStorage.getItem(memory.key) ?? "{}") as
        { groups?: [number, number[]][]; selected?: number[]; at?: Place };
      kept.groups?.forEach(([number, ids]) => memory.groups.set(number, ids));
      memory.selected = kept.selected ?? [];
      memory.at = kept.at;
    } catch {
      // not written by this page
    }
    return memory;
  }

  keep(): void {
    const { selected, at } = this;
    sessionStorage.setItem(this.key, JSON.stringify({ groups: [...this.groups], selected, at }));
  }
}
