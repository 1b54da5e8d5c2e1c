/** Rows as they are stored and returned: the metadata apart from the encoded body. */

/** A row. Its body is an encoded message without the metadata. */
export type StoredRow = readonly [metadataJson: string, body: Uint8Array]

/** The number of a row, and its bytes. */
export type SizedRow = readonly [no: number, bytes: number]

/**
 * The rows of a page. If they have many bytes, only their sizes: the rows are then asked for a few
 * at a time, so that writes come in between.
 */
export type RowPage<Row> =
  | { readonly rows: readonly Row[] }
  | { readonly sizes: readonly SizedRow[] }

/** Bytes of rows that are read at once. */
const bytesAtOnce = 1024 * 1024

/** Makes the page of these rows. `read` is called for each row that is read now. */
export function pageOf<Row>(sizes: readonly SizedRow[], read: (no: number) => Row): RowPage<Row> {
  if (sizes.reduce((sum, [, bytes]) => sum + bytes, 0) > bytesAtOnce) return { sizes }
  return { rows: sizes.map(([no]) => read(no)) }
}

/** Splits the numbers of rows into portions that are read at once. */
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
