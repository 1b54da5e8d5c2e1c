/** Tables of text with aligned columns. */

/** A line for each row, with columns as wide as their longest text. */
export function tableLines(rows: readonly (readonly string[])[]): string[] {
  const widths: number[] = []
  for (const row of rows) {
    for (const [index, text] of row.entries()) {
      widths[index] = Math.max(widths[index] ?? 0, text.length)
    }
  }
  return rows.map((row) =>
    `  ${row.map((text, index) => text.padEnd(widths[index]!)).join('  ')}`.trimEnd()
  )
}
