/** Maps that are bounded: the entry that stands first makes room. */

/** Where there are more than `most`, by one: called after each that is added. */
export function dropOldest(map: Map<string, unknown>, most: number): void {
  if (map.size <= most) return
  for (const oldest of map.keys()) return void map.delete(oldest)
}
