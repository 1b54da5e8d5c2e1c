/** Names under which a log finds places other than those of checkpoint ids. */

import { v5 } from 'uuid'

const namespaceSpace = 'b6f1d3f6-6d1c-4d0a-8f0e-1d8a3b0f6a01'
const lateWritesSpace = 'b6f1d3f6-6d1c-4d0a-8f0e-1d8a3b0f6a02'

/** Name of the place of the newest checkpoint of a namespace below the root. */
export function newestOf(ns: string): string {
  return v5(ns, namespaceSpace)
}

/**
 * Name of the place where the last range of late writes on a checkpoint begins. Late writes came
 * after a newer checkpoint of its namespace. With `beforeSeq`, the range before the one that
 * begins in that row.
 */
export function lateWritesOf(checkpointId: string, beforeSeq?: number): string {
  const name = beforeSeq === undefined ? checkpointId : `${checkpointId}\n${beforeSeq}`
  return v5(name, lateWritesSpace)
}
