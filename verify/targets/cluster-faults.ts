/** Faults of a cluster: of its members, of the nodes of Cassandra, and of connections. */

import { setTimeout as pause } from 'node:timers/promises'

import type { Cassandra } from '../../scripts/cassandra/cluster.ts'
import type { Cluster, ClusterMember } from '../../test/support/cluster.ts'
import { takenForDead } from '../../test/support/taken-for-dead.ts'
import type { SmallDisk } from './small-disk.ts'
import type { Inject } from './target.ts'

/** Longer than a member may be silent before the others take over its threads. */
const silenceMs = 8_000
/** Shorter than that: the member continues. */
const shortStopMs = 1_500
/** Time in which a member that was taken for dead learns of it and exits. */
const exitMs = 15_000
/** Time in which all members must serve after a fault. */
const serveMs = 300_000
/** Milliseconds for which the disk of a member is full. */
const diskMs = 5_000

export interface ClusterFaultsOptions {
  readonly cluster: Cluster
  readonly cassandra: Cassandra
  /** Disks of the data directories of the members, if they can be filled. */
  readonly disks?: readonly SmallDisk[]
  /** Folder of the program of the version before, which all members run at first. */
  readonly before?: string
}

/** Returns the faults that this machine and the options allow. Members and nodes take turns. */
export function clusterFaultsOf(options: ClusterFaultsOptions): Readonly<Record<string, Inject>> {
  const { cluster, cassandra, disks, before } = options
  const { members } = cluster
  let turn = 0
  const next = () => turn++ % members.length
  const onMember =
    (inject: (member: ClusterMember, index: number) => Promise<void>) => async () => {
      const index = next()
      await inject(members[index]!, index)
      await untilAllServe(cluster)
    }
  const diskFaults = disks &&
    { 'full disk of a member': onMember((member, index) => fillDisk(member, disks[index]!)) }
  return {
    ...processFaults(cluster, onMember),
    ...diskFaults,
    ...before !== undefined && { 'change the version': onMember(changeVersion(before)) },
    'kill two': async () => {
      const two = [members[next()]!, members[next()]!]
      await Promise.all(two.map((member) => member.kill('SIGKILL')))
      for (const member of two) await member.restart()
      await untilAllServe(cluster)
    },
    'kill a node': async () => {
      const node = cassandra.nodes[next()]!
      await node.kill('SIGKILL')
      await pause(silenceMs)
      await node.start()
      await cassandra.whole()
      await untilAllServe(cluster)
    },
  }
}

type OnMember = (inject: (member: ClusterMember) => Promise<void>) => Inject

function processFaults(cluster: Cluster, onMember: OnMember): Readonly<Record<string, Inject>> {
  const end = (signal: 'SIGKILL' | 'SIGTERM') =>
    onMember(async (member) => {
      await member.kill(signal)
      await member.restart()
    })
  const cutOff = (from: 'cassandra' | 'peers') =>
    onMember(async (member) => {
      member.cutOff(from)
      await pause(silenceMs)
      member.reach()
      await restartIfFenced(cluster, member)
    })
  return {
    kill: end('SIGKILL'),
    drain: end('SIGTERM'),
    stop: onMember((member) => stop(cluster, member, shortStopMs)),
    'stop until taken over': onMember((member) => stop(cluster, member, silenceMs)),
    'cut off from Cassandra': cutOff('cassandra'),
    'cut off from members': cutOff('peers'),
  }
}

/** Fills the disk of a member, which may exit then. */
async function fillDisk(member: ClusterMember, disk: SmallDisk): Promise<void> {
  let hasExited = false
  await disk.whileFull(async () => {
    hasExited = await Promise.race([member.exited().then(() => true),
      pause(diskMs).then(() => false)])
  })
  if (hasExited) await member.restart()
}

/** Drains a member, and starts it in the other one of two versions. */
function changeVersion(before: string) {
  const upgraded = new Set<ClusterMember>()
  return async (member: ClusterMember) => {
    const isUpgraded = upgraded.delete(member)
    if (!isUpgraded) upgraded.add(member)
    await member.kill('SIGTERM')
    await member.restart({ program: isUpgraded ? before : undefined })
  }
}

async function stop(cluster: Cluster, member: ClusterMember, ms: number): Promise<void> {
  member.pause()
  await pause(ms)
  member.wake()
  await restartIfFenced(cluster, member)
}

/** Restarts a member that the others took for dead: it exits when it learns of that. */
async function restartIfFenced({ members }: Cluster, member: ClusterMember): Promise<void> {
  const isFenced = members.flatMap((other) => takenForDead(other.output()))
    .some(({ session }) => session === member.session)
  const hasExited = await Promise.race([member.exited().then(() => true),
    pause(isFenced ? exitMs : 0).then(() => false)])
  if (hasExited) return await member.restart()
  if (isFenced) throw new Error('A member that was taken for dead has not exited.')
}

/** Resolves when all front doors serve, and reach Cassandra. Throws if that takes too long. */
async function untilAllServe({ frontDoors }: Cluster): Promise<void> {
  const serves = (url: string) => fetch(`${url}/ok?check_db=1`).then(({ ok }) => ok, () => false)
  const endMs = performance.now() + serveMs
  while (!(await Promise.all(frontDoors.map(serves))).every(Boolean)) {
    if (performance.now() > endMs) throw new Error('Not all members serve after five minutes.')
    await pause(250)
  }
}
