/** Bytes as people read them. */

/** In MB, with one digit behind the point. */
export function megabytes(bytes: number): string {
  return (bytes / 1_000_000).toFixed(1)
}
