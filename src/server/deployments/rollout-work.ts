/** Work of a member on deployments: it drives roll-outs, and removes what is used no more. */

import type { Env } from '../../../cluster/index.ts'
import { assistantClient } from '../../assistants/index.ts'
import { cronClient } from '../../crons/index.ts'
import { driveRollouts, keepDeployments } from '../../deployment/index.ts'
import type { Deployment } from '../../deployment/index.ts'
import { createThreadClient } from '../../thread/index.ts'
import type { DeploymentRecords } from './deployment-records.ts'
import type { MemberDeploymentParts } from './member-parts.ts'
import { namespaceData } from './namespace-data.ts'
import { revisionReporter, useCounter } from './revision-reports.ts'
import { lookAtRollouts } from './rollout-poll.ts'
import { deploymentsKey, rolloutMembers } from './rollout-service.ts'
import { RolloutCounts } from './serving-metrics.ts'
import { trialRuns } from './trial-run.ts'

/** The work, and what it is done with. */
export type RolloutWork = ReturnType<typeof openRolloutWork>

/** Previews, removals and old revisions are looked at this often. */
const upkeepMs = 60_000

/** Opens the work. Only the member that owns the records does it, once it has begun. */
export function openRolloutWork(parts: MemberDeploymentParts, stored: DeploymentRecords) {
  const { env, backend, later: { serving }, runs, settings } = parts
  const { records, secrets, used } = stored
  const owns = () => parts.owns(deploymentsKey)
  const look = (name: string) => {
    driver.look(name)
    upkeep.look(name)
  }
  const members = rolloutMembers({ backend, serving, look })
  const reporting = { records, secrets, everybody: backend.everybody, namespaces: used.namespaces }
  const use = useCounter(reporting)
  const report = revisionReporter(reporting)
  const retention = retentionOf(stored, use, env)
  const ended = new RolloutCounts()
  const driver = driveRollouts({ deployments: records, members, env, owns, retention,
    self: backend.status().member.id, tryOut: trialRuns({ members, runs, env }),
    ended: ({ kind, result }) => ended.add(kind, result),
    report: async (...change) => ({ ...await report(...change) }) })
  const data = dataOf(parts, stored)
  const upkeep = keepDeployments({ deployments: records, use: used, data, members, owns, retention,
    env, known: () => serving.all() })
  const ends: (() => void)[] = []
  return {
    owns,
    look,
    members,
    use,
    report,
    ended,
    data,
    begin: () => {
      driver.look()
      if (settings.cassandra !== null) ends.push(lookAtRollouts({ env, driver, owns }))
      upkeep.look()
      ends.push(env.every(upkeepMs, () => upkeep.look()))
    },
    close: () => {
      for (const end of ends) end()
      driver.close()
      upkeep.close()
    },
  }
}

/** Removes the secrets and revisions that a deployment uses no more. */
function retentionOf({ records, secrets }: DeploymentRecords, use: ReturnType<typeof useCounter>,
  { log }: Env) {
  return async (deployment: Deployment) => {
    await secrets.settle(deployment).catch((error: unknown) =>
      log.warn('Secrets are not kept for earlier programs now, nor old values removed.', {
        error,
        deployment: deployment.name,
      })
    )
    const found = await use(deployment.name)
    // Revisions whose use cannot be counted are kept.
    if (found !== null) await records.collect(deployment, found)
  }
}

function dataOf(
  { env, backend: { everybody }, router, platform, items, reads }: MemberDeploymentParts,
  { catalogs }: DeploymentRecords,
) {
  const threads = createThreadClient({ router, env, reads, threads: everybody.threads,
    newThreadId: env.uuid })
  return namespaceData({ everybody, platform, catalogs, env, items, threads,
    assistants: assistantClient(router), crons: cronClient(router) })
}
