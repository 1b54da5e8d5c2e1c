/** Makes the operations from what they need. */

import type { Env, Tracing } from '../../../cluster/index.ts'
import type { AssistantClient } from '../../assistants/index.ts'
import type { CronClient } from '../../crons/index.ts'
import { graphHosts } from '../../graph/index.ts'
import type { DeployedGraphs, GraphHost } from '../../graph/index.ts'
import type { ItemStore } from '../../items/index.ts'
import type { LongJson } from '../../json/index.ts'
import type { Quotas, ReadQuota } from '../../limits/index.ts'
import type { AssistantSearch, CronSearch, RunSearch } from '../../search/index.ts'
import type { AssistantDefaults } from '../../settings/index.ts'
import type { ThreadClient } from '../../thread/index.ts'
import { AssistantOperations } from './assistants.ts'
import { cronFiring, cronTrigger } from './cron-firing.ts'
import type { CronFiringParts, FireCron } from './cron-firing.ts'
import { cronRemoval } from './cron-removal.ts'
import { CronOperations } from './crons.ts'
import { RunOperations } from './runs.ts'
import type { WebhookCheck } from './webhook-check.ts'
import { StoreOperations } from './store.ts'
import { ThreadOperations } from './threads.ts'

/** Clients of actors, indexes and bounds that all operations of a front door share. */
export interface OperationParts extends Pick<CronFiringParts, 'admitCron'> {
  readonly threads: ThreadClient
  readonly assistants: AssistantClient
  readonly assistantIndex: AssistantSearch
  readonly crons: CronClient
  readonly cronIndex: CronSearch
  readonly runIndex: RunSearch
  readonly items: ItemStore
  /** The server's own project. */
  readonly graphs: GraphHost
  /** The graphs of deployments; undefined for a server without them. */
  readonly deployed?: DeployedGraphs
  /** Checks which webhooks may be called. */
  readonly egress: WebhookCheck
  /** Memory that all reads share. */
  readonly reads: ReadQuota
  /** Reads long JSON beside the main thread. */
  readonly json: LongJson
  readonly env: Env
  /** Defaults with which graphs' own assistants are made, by graph id; none by default. */
  readonly assistantDefaults?: ReadonlyMap<string, AssistantDefaults>
  readonly quotas: Quotas
  /** Undefined if nothing is traced. */
  readonly tracing?: Tracing
}

/** The operations of the API. Every wire calls these. */
export interface Operations {
  readonly assistants: AssistantOperations
  readonly threads: ThreadOperations
  readonly runs: RunOperations
  readonly crons: CronOperations
  readonly fireCron: FireCron
  readonly store: StoreOperations
}

/** Makes the operations, once for each front door. */
export function operationsOver(parts: OperationParts): Operations {
  const removeCrons = cronRemoval(parts)
  const graphs = graphHosts(parts.graphs, parts.deployed)
  const assistants = new AssistantOperations({ ...parts, graphs, removeCrons })
  const runs = new RunOperations({ ...parts, graphs, assistants })
  return {
    assistants,
    threads: new ThreadOperations({ ...parts, graphs, removeCrons }),
    runs,
    crons: new CronOperations({ ...parts, runs, triggerCron: cronTrigger({ ...parts, runs }) }),
    fireCron: cronFiring({ ...parts, graphs, runs }),
    store: new StoreOperations(parts),
  }
}
