// The movement classes of a world, from the rules that world.info tells: "tank:size=2,ground=1,swamp=3".

export interface MovementClass {
  name: string;
  /** Cells from side to side. */
  side: number;
  /** Names of the terrains that it can enter. */
  terrains: string[];
}

export function movementClasses(rules: Record<string, unknown>): MovementClass[] {
  return ((rules["classes"] as string[] | undefined) ?? []).map((text) => {
    const [name = "", list = ""] = text.split(":");
    const entries = list.split(",").map((entry) => entry.split("=") as [string, string?]);
    const size = entries.find(([key]) => key === "size")?.[1];
    return { name, side: Number(size ?? 1),
             terrains: entries.map(([key]) => key).filter((key) => key !== "size" && key !== "") };
  });
}
