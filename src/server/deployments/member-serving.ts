/** The serving of deployments on a member: its options, and the cache of its revisions. */

import { join } from 'node:path'

import type { Env } from '../../../cluster/index.ts'
import { openServing } from '../../deployment/index.ts'
import type { Serving } from '../../deployment/index.ts'
import { findNetworkWall, startGraphProcess } from '../../graph/index.ts'
import type { FoundWall, NetworkWall } from '../../graph/index.ts'
import { RevisionCache } from '../../revision/index.ts'
import type { Settings } from '../../settings/index.ts'
import { findUsers } from '../graphs-users/default-users.ts'
import type { DeploymentRecords } from './deployment-records.ts'
import type { MemberDeploymentParts } from './member-parts.ts'

/** Records are read this often where other members change them. */
const refreshMs = 5_000

/** Opens the serving. Resolves when the records were read, or could not be. */
export async function openMemberServing(
  { settings, env, backend, graphs, memoryMb }: MemberDeploymentParts,
  { records, secrets, noted }: DeploymentRecords,
): Promise<Serving> {
  return await openServing({
    deployments: records,
    secrets,
    cache: lazyCache(settings, env),
    start: startGraphProcess,
    revisionsDirectory: revisionsIn(settings),
    users: findUsers(settings, env),
    networkWall: openWall(env),
    ignoreAuth: settings.ignoreAuth,
    appTimeoutMs: settings.appTimeoutMs,
    tracedRatio: settings.ownTraces === 'deep' ? settings.ownTracesRatio : undefined,
    env,
    ownHost: graphs,
    member: backend.status().member.id,
    written: noted,
    // The only member hears of every change.
    refreshMs: settings.cassandra === null ? null : refreshMs,
    limits: { graphsMemoryMb: settings.graphsMemoryMb ?? Math.floor(memoryMb / 2) },
  })
}

/** Finds the namespace of replays when the first one starts, and logs it once. */
function openWall({ log }: Env): (user: number | undefined) => Promise<NetworkWall | undefined> {
  let found: Promise<FoundWall> | undefined
  return async (user) => {
    found ??= findNetworkWall(user).then((wall) => {
      if (wall.kind === 'namespace') log.info('Replays run in a network namespace of their own.')
      else log.info('Replays have no network namespace: only JavaScript closes their network.',
          wall)
      return wall
    })
    const result = await found
    return result.kind === 'namespace' ? result.wall : undefined
  }
}

function revisionsIn({ dataDirectory }: Settings): string {
  return join(dataDirectory, 'revisions')
}

/** A cache of revisions whose folder is made when the first revision comes. */
function lazyCache(settings: Settings, env: Env): Pick<RevisionCache, 'hold'> {
  let cache: Promise<RevisionCache> | undefined
  return {
    hold: async (...revision) => {
      cache ??= RevisionCache.open({ directory: revisionsIn(settings),
        bytesMax: settings.revisionsDiskBytes, env })
      // A disk that was full may have room later.
      cache.catch(() => cache = undefined)
      return await (await cache).hold(...revision)
    },
  }
}
