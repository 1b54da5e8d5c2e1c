/** When files were changed last. */

import { statSync } from 'node:fs'

/** Files, with the time of their last change in ms. */
export type FileTimes = readonly (readonly [file: string, changedMs: number])[]

/** Time of the last change of a file; 0 if it cannot be read. */
export function changedMs(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0
}
