/** A row as it is stored and returned: its metadata apart from its encoded body. */

export type StoredRow = readonly [metadataJson: string, body: Uint8Array]

/** Where a row is, and how many bytes it has. */
export type SizedRow = readonly [no: number, bytes: number]

/**
 * The rows of a page or, if they have many bytes, only where they are: they are then asked for a
 * few at a time, so that writes come in between.
 */
export type RowPage<Row> =
  | { readonly rows: readonly Row[] }
  | { readonly sizes: readonly SizedRow[] }

/** Rows with so many bytes are read at once. */
const bytesAtOnce = 1024 * 1024

/** The page of these rows; `read` is called for each that is read now. */
export function pageOf<Row>(sizes: readonly SizedRow[], read: (no: number) => Row): RowPage<Row> {
  if (sizes.reduce((sum, [, bytes]) => sum + bytes, 0) > bytesAtOnce) return { sizes }
  return { rows: sizes.map(([no]) => read(no)) }
}

/** The numbers of rows in portions that are read at once each. */
export function* portionsOf(sizes: readonly SizedRow[]): Generator<number[], void, void> {
  let portion: number[] = []
  let sum = 0
  for (const [no, bytes] of sizes) {
    if (portion.length > 0 && sum + bytes > bytesAtOnce) {
      yield portion
      portion = []
      sum = 0
    }
    portion.push(no)
    sum += bytes
  }
  if (portion.length > 0) yield portion
}
