/** The address of the traces of a conversation. Pure. */

import type { ProjectSearch } from '../../addresses/traces.ts'
import { writeWords } from '../filter/filter-parts.ts'

/** Parameters with which the list of traces shows those of a conversation in their order. */
export const conversationSearch = (threadId: string): ProjectSearch => ({
  q: writeWords([{ kind: 'field', field: 'thread', value: threadId }]),
  order: 'oldest',
})
