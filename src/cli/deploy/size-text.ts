/** Text for a size in bytes. */

import { megabytes } from '../megabytes.ts'

/** A size in text, such as `14 KB` or `1.4 MB`. */
export function sizeText(bytes: number): string {
  return bytes < 1_000_000 ? `${Math.ceil(bytes / 1_000)} KB` : `${megabytes(bytes)} MB`
}
