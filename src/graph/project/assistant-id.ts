/** The id of the assistant that every graph has from the start. */

import { v5 } from 'uuid'

import { LRUCache } from '../../../cluster/index.ts'

/** The namespace that the ecosystem uses. A client may compute the id by itself. */
const namespace = '6ba7b821-9dad-11d1-80b4-00c04fd430c8'

/** A cache: every run needs an id, and each costs a hash. */
const known = new LRUCache<string, string>({ max: 1_000 })

/** A UUID of version 5. It is the same for the same graph id, anywhere. */
export function systemAssistantId(graphId: string): string {
  const before = known.get(graphId)
  if (before !== undefined) return before
  const id = v5(graphId, namespace)
  known.set(graphId, id)
  return id
}
