/** Bounded maps: the first entry makes room. */

/** To be called after each new entry: drops the first one if there are more than `most`. */
export function dropOldest(map: Map<string, unknown>, most: number): void {
  if (map.size <= most) return
  for (const oldest of map.keys()) return void map.delete(oldest)
}
