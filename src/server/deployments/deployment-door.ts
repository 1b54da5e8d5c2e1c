/** Deployments of a member as its front door needs them. */

import { buildsOver, rolloutsOver } from '../../deployment/index.ts'
import type { Rollouts } from '../../deployment/index.ts'
import { fromUserProxies } from '../../frontdoor/index.ts'
import type { FrontDoorOptions } from '../../frontdoor/index.ts'
import type { Settings } from '../../settings/index.ts'
import { askMembers } from '../member-questions.ts'
import { announcer } from './announcer.ts'
import { buildMembers } from './build-service.ts'
import type { buildService } from './build-service.ts'
import type { DeploymentRecords } from './deployment-records.ts'
import { mergedLogs } from './line-service.ts'
import type { lineService } from './line-service.ts'
import type { MemberDeploymentParts } from './member-parts.ts'
import type { problemService } from './problem-service.ts'
import type { RolloutWork } from './rollout-work.ts'
import { notServed } from './serving-metrics.ts'
import { UpdateWatch } from './update-watch.ts'
import type { updateService } from './update-watch.ts'

type DoorParts = NonNullable<FrontDoorOptions['deployments']>

/** Services that the front door asks of all members. */
export interface DeploymentServices {
  readonly lines: ReturnType<typeof lineService>
  readonly problems: ReturnType<typeof problemService>
  readonly updated: ReturnType<typeof updateService>
  readonly takeBuild: ReturnType<typeof buildService>
}

/** Roll-outs that callers ask for, done by the member that owns the records. */
export function askedRollouts({ env, later: { serving } }: MemberDeploymentParts,
  { records, secrets }: DeploymentRecords, { members }: RolloutWork): Rollouts {
  return rolloutsOver({ deployments: records, secrets, wake: members.wake, env,
    watch: (...watch) => serving.watch(...watch) })
}

/** The options of the front door for deployments. */
export function deploymentDoor(parts: MemberDeploymentParts, stored: DeploymentRecords,
  work: RolloutWork, rollouts: Rollouts, services: DeploymentServices): DoorParts {
  const { settings, env, later: { serving, graphs } } = parts
  const { records, secrets, catalogs, documents, used } = stored
  const { members, report, use } = work
  const { problems, lines, updated, takeBuild } = services
  const updateWatch = new UpdateWatch({ ...parts, service: updated })
  return {
    records,
    secrets,
    rollouts,
    builds: buildsOver({ catalogs, documents, records, env,
      members: buildMembers(parts, takeBuild) }),
    serving: { ...serving, open: graphs.open, view: graphs.view },
    announce: announcer({ env, members, learn: serving.learn,
      self: () => parts.backend.status().member.id }),
    requested: used.note,
    data: dataOf(stored, work),
    problems: async () => (await askMembers(parts, problems, null)).flat(),
    failing: () => notServed(serving.problems()),
    logs: mergedLogs(parts, lines),
    watchUpdates: (...watch) => updateWatch.watch(...watch),
    report,
    use,
    domain: settings.deploymentsDomain,
    isFromProxy: fromUserProxies(settings.trustedProxies),
    ownHosts: ownHosts(settings),
    allowedHosts: settings.deploymentsHosts,
  }
}

/** Data of a deployment's callers. It is removed by the member that owns the records. */
function dataOf({ used }: DeploymentRecords, { data, members }: RolloutWork): DoorParts['data'] {
  return {
    isEmpty: async (deployment) => {
      const namespaces = await used.namespaces(deployment)
      const empty = await Promise.all(namespaces.map((each) => data.isEmpty(each, deployment)))
      return empty.every(Boolean)
    },
    remove: ({ name }) => members.wake(name),
  }
}

/** The names of the server itself, as far as it knows them. */
function ownHosts({ allowHosts, deploymentsHosts, regionUrls }: Settings): readonly string[] {
  const ofRegions = Object.values(regionUrls).flatMap((url) => URL.parse(url)?.hostname ?? [])
  const own = allowHosts.filter((host) => host !== '*' && !deploymentsHosts.includes(host))
  return [...own, ...ofRegions]
}
