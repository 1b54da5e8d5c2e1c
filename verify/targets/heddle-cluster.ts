/** The target: three members of a cluster on three nodes of Cassandra, all as real processes. */

import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { startCassandra } from '../../scripts/cassandra/cluster.ts'
import type { Cassandra } from '../../scripts/cassandra/cluster.ts'
import { startCluster } from '../../test/support/cluster.ts'
import { clusterFaultsOf } from './cluster-faults.ts'
import { deployAgent, deployGuarded } from './deployment.ts'
import { openEarlier } from './earlier.ts'
import { makeKeys } from './keys.ts'
import { mountSmallDisk } from './small-disk.ts'
import type { SmallDisk } from './small-disk.ts'
import type { Target, TargetOptions } from './target.ts'

const count = 3

export async function startHeddleCluster(options: TargetOptions): Promise<Target> {
  const { receiverUrl, before } = options
  const closing = new AsyncDisposableStack()
  let story = () => ''
  try {
    const earlier = before === undefined ? undefined : openEarlier(before)
    closing.defer(() => earlier?.remove())
    const cassandra = await startCassandra({ nodes: count, firstAddress: '127.0.0.80', light: true,
      log: (line) => console.log(line) })
    closing.defer(() => cassandra.close())
    const disks = await mountDisks(closing)
    const cluster = await startCluster({
      members: count,
      project: join(import.meta.dirname, '../agent'),
      roads: true,
      cassandra: keyspaceOf(cassandra),
      // Tables that the version before has made serve both versions.
      program: earlier?.home,
      dataDirs: disks?.map(({ dataDir }) => dataDir),
      env: { RECEIVER: receiverUrl },
      args: ['--workers', '1', '--egress-allow', '127.0.0.1', '--auth', 'keys',
        '--quota-delayed-runs', '2'],
    })
    closing.defer(() => cluster.close())
    story = () => cluster.story()
    const [url] = cluster.frontDoors
    const keys = await makeKeys({ dataDir: tmpdir(), cassandra: keyspaceOf(cassandra) })
    const deployOptions = { url: url!, key: keys.own, receiverUrl }
    return {
      name: 'heddle-cluster',
      urls: cluster.frontDoors,
      keys,
      deployment: await deployAgent(deployOptions),
      guarded: await deployGuarded(deployOptions),
      loadMs: 90_000,
      faults: clusterFaultsOf({ cluster, cassandra, disks, before: earlier?.home }),
      close: () => closing.disposeAsync(),
    }
  } catch (error) {
    console.log(story())
    await closing.disposeAsync()
    throw error
  }
}

/** Mounts a small disk for each member. Resolves with undefined if this user may not mount. */
async function mountDisks(closing: AsyncDisposableStack): Promise<SmallDisk[] | undefined> {
  const folder = await mkdtemp(join(tmpdir(), 'heddle-verify-'))
  closing.defer(() => rm(folder, { recursive: true }))
  const disks: SmallDisk[] = []
  for (let index = 0; index < count; index++) {
    const own = join(folder, String(index))
    await mkdir(own)
    const disk = await mountSmallDisk(own)
    if (disk === undefined) return undefined
    disks.push(disk)
    closing.defer(() => disk.close())
  }
  return disks
}

function keyspaceOf({ contactPoints, dataCenter }: Cassandra) {
  return { contactPoints, dataCenter, keyspace: 'verify' }
}
