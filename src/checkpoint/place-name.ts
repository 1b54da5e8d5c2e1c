/** Names under which a log finds more than checkpoints: newest of a namespace, late writes. */

import { v5 } from 'uuid'

const namespaceSpace = 'b6f1d3f6-6d1c-4d0a-8f0e-1d8a3b0f6a01'
const lateWritesSpace = 'b6f1d3f6-6d1c-4d0a-8f0e-1d8a3b0f6a02'

/** Where the newest checkpoint of a namespace below the root is. */
export function newestOf(ns: string): string {
  return v5(ns, namespaceSpace)
}

/**
 * Where writes begin that came to a checkpoint after newer checkpoints of its namespace: the last
 * of them or, where newer checkpoints came between, those before the ones that begin in a row.
 */
export function lateWritesOf(checkpointId: string, beforeSeq?: number): string {
  const name = beforeSeq === undefined ? checkpointId : `${checkpointId}\n${beforeSeq}`
  return v5(name, lateWritesSpace)
}
