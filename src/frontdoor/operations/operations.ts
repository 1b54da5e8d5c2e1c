/** Makes the operations from what they need. */

import type { Env, Tracing } from '../../../cluster/index.ts'
import type { AssistantClient } from '../../assistants/index.ts'
import type { Egress } from '../../egress/index.ts'
import type { GraphHost } from '../../graph/index.ts'
import type { ItemStore } from '../../items/index.ts'
import type { LongJson } from '../../json/index.ts'
import type { Quotas, ReadQuota } from '../../limits/index.ts'
import type { AssistantSearch } from '../../search/index.ts'
import type { ThreadClient } from '../../thread/index.ts'
import { AssistantOperations } from './assistants.ts'
import { RunOperations } from './runs.ts'
import { StoreOperations } from './store.ts'
import { ThreadOperations } from './threads.ts'

/** Clients of actors, indexes and bounds that all operations of a front door share. */
export interface OperationParts {
  readonly threads: ThreadClient
  readonly assistants: AssistantClient
  readonly assistantIndex: AssistantSearch
  readonly items: ItemStore
  readonly graphs: GraphHost
  /** Checks which webhooks may be called. */
  readonly egress: Pick<Egress, 'check'>
  /** Memory that all reads share. */
  readonly reads: ReadQuota
  /** Reads long JSON beside the main thread. */
  readonly json: LongJson
  readonly env: Env
  readonly quotas: Quotas
  /** Undefined if nothing is traced. */
  readonly tracing?: Tracing
}

/** The operations of the API. Every wire calls these. */
export interface Operations {
  readonly assistants: AssistantOperations
  readonly threads: ThreadOperations
  readonly runs: RunOperations
  readonly store: StoreOperations
}

/** Makes the operations, once for each front door. */
export function operationsOver(parts: OperationParts): Operations {
  const assistants = new AssistantOperations(parts)
  return {
    assistants,
    threads: new ThreadOperations(parts),
    runs: new RunOperations({ ...parts, assistants }),
    store: new StoreOperations(parts),
  }
}
