/** How large something is, in words. */

import { megabytes } from '../megabytes.ts'

/** As `14 KB` or `1.4 MB`. */
export function sizeText(bytes: number): string {
  return bytes < 1_000_000 ? `${Math.ceil(bytes / 1_000)} KB` : `${megabytes(bytes)} MB`
}
