/** The known word that was probably meant by a mistyped one. Pure. */

/**
 * The nearest of the words; undefined if more than a third of its letters is wrong, missing, added
 * or swapped.
 */
export function nearestWord(typed: string, words: readonly string[]): string | undefined {
  const [nearest] = words.map((word) => ({ word, distance: distanceOf(typed.toLowerCase(), word) }))
    .filter(({ word, distance }) => distance <= Math.max(1, Math.floor(word.length / 3)))
    .toSorted((one, other) => one.distance - other.distance)
  return nearest?.word
}

/** Number of letters that are changed, added, removed or swapped with their neighbour. */
function distanceOf(one: string, other: string): number {
  if (Math.abs(one.length - other.length) > 3) return Infinity
  const rows: number[][] = [Array.from({ length: other.length + 1 }, (_, at) => at)]
  for (let i = 1; i <= one.length; i++) {
    const row = [i]
    for (let j = 1; j <= other.length; j++) {
      const changed = rows[i - 1]![j - 1]! + (one[i - 1] === other[j - 1] ? 0 : 1)
      const isSwap = i > 1 && j > 1 && one[i - 1] === other[j - 2] && one[i - 2] === other[j - 1]
      row.push(
        Math.min(changed, rows[i - 1]![j]! + 1, row[j - 1]! + 1,
          isSwap ? rows[i - 2]![j - 2]! + 1 : Infinity),
      )
    }
    rows.push(row)
  }
  return rows[one.length]![other.length]!
}
