/** Limits on the size of a revision. */

/** Checked in the manifest, and again while its archives are unpacked. */
export interface RevisionLimits {
  /** Of all chunks together, as they travel. */
  readonly compressedBytes: number
  /** Of all archives together, as they are on disk. */
  readonly unpackedBytes: number
  /** Files and links of all archives together. */
  readonly files: number
}

/** The limits of a server that has no others. */
export const revisionLimits: RevisionLimits = { compressedBytes: 250_000_000,
  unpackedBytes: 1_000_000_000, files: 50_000 }

/** Bytes of a path in UTF-8, below the folder that its archive is unpacked into. */
export const pathBytesMax = 255

/** Bytes of a chunk, the last one of its archive excepted, which may be shorter. */
export const chunkBytesMax = 4 * 1024 * 1024
