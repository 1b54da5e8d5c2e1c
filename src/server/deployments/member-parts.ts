/** Parts of a member that its deployments need. */

import type { ActorKey, Env, Router } from '../../../cluster/index.ts'
import type { GraphHost } from '../../graph/index.ts'
import type { ItemStore } from '../../items/index.ts'
import type { ReadQuota } from '../../limits/index.ts'
import type { Platform, SecretsKeys } from '../../platform/index.ts'
import type { Settings } from '../../settings/index.ts'
import type { Backend } from '../backends/backend.ts'
import type { RunsOfServer } from '../cron-firing.ts'
import type { LaterServing } from './later-serving.ts'

/** Parts of the member that deployments need. */
export interface MemberDeploymentParts {
  readonly settings: Settings
  readonly env: Env
  readonly backend: Backend
  readonly router: Router
  readonly platform: Pick<Platform,
    'documents' | 'ingest' | 'query' | 'datasets' | 'projects' | 'prices' | 'removals' | 'rules'
      | 'shares'>
  readonly items: Pick<ItemStore, 'delete'>
  readonly runs: RunsOfServer
  /** The memory that reads share. */
  readonly reads: ReadQuota
  readonly secretsKeys: SecretsKeys | undefined
  /** The host of the server's own project. */
  readonly graphs: GraphHost
  readonly later: LaterServing
  /** MiB of the machine, or of the container. */
  readonly memoryMb: number
  /** True if this member owns an actor. */
  owns(key: ActorKey): boolean
}
