/** Tables of text with aligned columns. */

/** A line for each row, with columns as wide as their longest text. */
export function tableLines(rows: readonly (readonly string[])[]): string[] {
  const widths: number[] = []
  for (const row of rows) {
    for (const [place, text] of row.entries()) {
      widths[place] = Math.max(widths[place] ?? 0, text.length)
    }
  }
  return rows.map((row) =>
    `  ${row.map((text, place) => text.padEnd(widths[place]!)).join('  ')}`.trimEnd())
}
