/**
 * Fires the crons of a member, with operations like those of a front door, whether it has one or
 * not.
 */

import type { Env, Router, Tracing } from '../../cluster/index.ts'
import { assistantClient } from '../assistants/index.ts'
import { cronClient } from '../crons/index.ts'
import type { CronActorParts } from '../crons/index.ts'
import { cronAdmission, operationsOver } from '../frontdoor/index.ts'
import type { WebhookCheck } from '../frontdoor/index.ts'
import { graphHosts } from '../graph/index.ts'
import type { DeployedGraphs, GraphHost } from '../graph/index.ts'
import type { ItemStore } from '../items/index.ts'
import type { LongJson } from '../json/index.ts'
import { Quotas } from '../limits/index.ts'
import type { QuotaLimits, ReadQuota } from '../limits/index.ts'
import type { AssistantDefaults } from '../settings/index.ts'
import { createThreadClient } from '../thread/index.ts'
import type { Backend } from './backends/backend.ts'

/** Parts of the member with which runs of crons are started. */
export interface FiringParts {
  readonly env: Env
  readonly tracing?: Tracing
  readonly router: Router
  readonly everybody: Backend['everybody']
  readonly runs: Backend['runs']
  readonly host: GraphHost
  readonly deployed?: DeployedGraphs
  readonly reads: ReadQuota
  /** Reader of long JSON. The caller closes it. */
  readonly json: LongJson
  readonly egress: WebhookCheck
  readonly items: ItemStore
  /** Defaults for the assistants of graphs, by graph id. */
  readonly assistantDefaults: ReadonlyMap<string, AssistantDefaults>
  /** The limits of each tenant. */
  readonly quotas: QuotaLimits
}

/** Operations for runs that the server itself starts. */
export type RunsOfServer = Pick<ReturnType<typeof operationsOver>['runs'],
  'createStatelessAndWait' | 'cancel' | 'assistantFor'>

/** Fires crons. It belongs to the actors. */
export interface Firing extends Pick<CronActorParts, 'fire'> {
  readonly runs: RunsOfServer
}

/** Opens the operations that fire crons. */
export function openFiring(parts: FiringParts): Firing {
  const { env, router, everybody, host, reads, json } = parts
  const threads = createThreadClient({ router, threads: everybody.threads, newThreadId: env.uuid,
    reads, env, json })
  const assistants = assistantClient(router)
  const { fireCron, runs } = operationsOver({
    ...parts,
    threads,
    admitCron: cronAdmission({ threads, assistants, graphs: graphHosts(host, parts.deployed),
      env }),
    assistants,
    assistantIndex: everybody.assistants,
    crons: cronClient(router),
    cronIndex: everybody.crons,
    runIndex: parts.runs,
    graphs: host,
    quotas: new Quotas({ limits: parts.quotas, use: (tenant) => everybody.use(tenant) }, env),
  })
  return { fire: fireCron, runs }
}
