/** A row as it is stored and answered: its metadata apart from the rest of it, encoded. */

export type StoredRow = readonly [metadataJson: string, body: Uint8Array]
