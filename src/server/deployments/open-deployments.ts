/** The deployments of a member: their records, what it serves of them, and their roll-outs. */

import type { Service } from '../../../cluster/index.ts'
import { builderOf, replaysOver } from '../../deployment/index.ts'
import type { Rollouts, Serving } from '../../deployment/index.ts'
import type { FrontDoorOptions } from '../../frontdoor/index.ts'
import { activeVariables } from './active-variables.ts'
import { buildService } from './build-service.ts'
import { askedRollouts, deploymentDoor } from './deployment-door.ts'
import { deploymentRecords } from './deployment-records.ts'
import type { DeploymentRecords } from './deployment-records.ts'
import { lineService } from './line-service.ts'
import type { MemberDeploymentParts } from './member-parts.ts'
import { openMemberServing } from './member-serving.ts'
import { problemService } from './problem-service.ts'
import { replayExperiments } from './replay-experiment.ts'
import { createThreadClient } from '../../thread/index.ts'
import { rolloutServices } from './rollout-service.ts'
import { openRolloutWork } from './rollout-work.ts'
import type { RolloutWork } from './rollout-work.ts'
import type { RolloutCounts } from './serving-metrics.ts'
import { updateService } from './update-watch.ts'

/** The deployments of a member, which belong to its server. */
export interface MemberDeployments {
  /** Services for other members. */
  readonly services: readonly Service[]
  /** Options for the front door. */
  readonly door: NonNullable<FrontDoorOptions['deployments']>
  /**
   * Reads the records and drives roll-outs from now on. Call when the router can be asked. Resolves
   * when the records were read, or could not be: that is tried again.
   */
  begin(): Promise<Serving>
  /** The variables of the code of the active revision. */
  variablesOf(namespace: string): Promise<Readonly<Record<string, string>>>
  /** Counts of the roll-outs that this member drove to their end. */
  readonly rolloutsEnded: RolloutCounts
  drain(deadline: AbortSignal): Promise<void>
  close(): Promise<void>
}

/** Makes the deployments of a member. Nothing is read before they begin. */
export function openDeployments(parts: MemberDeploymentParts): MemberDeployments {
  const { backend, later } = parts
  const { serving } = later
  const self = () => backend.status().member.id
  const stored = deploymentRecords(parts)
  const work = openRolloutWork(parts, stored)
  const rollouts = askedRollouts(parts, stored, work)
  const builder = openBuilder(parts, stored, work, rollouts)
  const replays = openReplays(parts, stored)
  const services = { lines: lineService(serving.lines, self()), takeBuild: buildService(builder),
    problems: problemService(serving.problems, self), updated: updateService(stored.updates) }
  let opened: Serving | undefined
  return {
    services: [...rolloutServices({ serving, look: work.look }), ...Object.values(services)],
    door: { ...deploymentDoor(parts, stored, work, rollouts, services), replays },
    begin: async () => {
      opened = await openMemberServing(parts, stored)
      later.settle(opened)
      work.begin()
      builder.begin()
      return opened
    },
    variablesOf: (namespace) => activeVariables(namespace, later, stored),
    rolloutsEnded: work.ended,
    drain: async (deadline) => {
      stored.updates.close()
      await opened?.drain(deadline)
    },
    close: async () => {
      work.close()
      await builder.close()
      await replays.close()
      await opened?.close()
    },
  }
}

function openReplays({ env, backend, router, reads, platform, later }: MemberDeploymentParts,
  { catalogs, documents, records }: DeploymentRecords) {
  const threads = createThreadClient({ router, env, reads, threads: backend.everybody.threads,
    newThreadId: env.uuid })
  return replaysOver({ catalogs, documents, records, env, threads, runIndex: backend.runs,
    recordings: platform.query, prices: platform.prices, serving: later.serving,
    keep: replayExperiments(platform, env), self: () => backend.status().member.id,
    isMember: (id) => backend.status().view.some((member) => member.id === id) })
}

function openBuilder({ settings, env, backend }: MemberDeploymentParts,
  { catalogs, documents, records }: DeploymentRecords, { owns }: RolloutWork, rollouts: Rollouts) {
  const { member: { id: self } } = backend.status()
  return builderOf({ catalogs, documents, records, env, rollouts, self, owns,
    builds: settings.builds, ignoreAuth: settings.ignoreAuth, allowed: settings.egressAllow,
    directory: settings.dataDirectory, variables: process.env,
    isMember: (id) => backend.status().view.some((member) => member.id === id) })
}
