/** Rows with columns, for people. */

/** The rows below their headings; each column is as wide as its longest text. */
export function tableOf(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, index) =>
    Math.max(...rows.map((row) => row[index]!.length))
  )
  return rows.map((row) =>
    `${row.map((text, index) => text.padEnd(widths[index]!)).join('  ').trimEnd()}\n`
  ).join('')
}

/** A time of the control API, to the minute in UTC. */
export function minuteOf(at: string): string {
  return at.slice(0, 16).replace('T', ' ')
}
