/** The target: three members of a cluster on three nodes of Cassandra, all as real processes. */

import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'

import { startCassandra } from '../../scripts/cassandra/cluster.ts'
import type { Cassandra } from '../../scripts/cassandra/cluster.ts'
import { startCluster } from '../../test/support/cluster.ts'
import type { Cluster, ClusterMember } from '../../test/support/cluster.ts'
import { takenForDead } from '../../test/support/taken-for-dead.ts'
import { deployAgent, deployGuarded } from './deployment.ts'
import { makeKeys } from './keys.ts'
import type { Target } from './target.ts'

const count = 3
/** Longer than a member may be silent before the others take over its threads. */
const silenceMs = 8_000
/** Shorter than that: the member continues. */
const shortStopMs = 1_500
/** Time in which a member that was taken for dead learns of it and exits. */
const exitMs = 15_000

export async function startHeddleCluster(receiverUrl: string): Promise<Target> {
  const cassandra = await startCassandra({ nodes: count, firstAddress: '127.0.0.80', light: true,
    log: (line) => console.log(line) })
  const cluster = await startMembers(cassandra, receiverUrl).catch(async (error: unknown) => {
    await cassandra.close()
    throw error
  })
  const keys = await makeKeys({ dataDir: tmpdir(), cassandra: keyspaceOf(cassandra) })
  let turn = 0
  const next = () => turn++ % count
  const onMember = (inject: (member: ClusterMember) => Promise<void>) => async () => {
    await inject(cluster.members[next()]!)
    await untilAllServe(cluster)
  }
  return {
    name: 'heddle-cluster',
    urls: cluster.frontDoors,
    keys,
    deployment: await deployAgent({ url: cluster.frontDoors[0]!, key: keys.own, receiverUrl }),
    guarded: await deployGuarded({ url: cluster.frontDoors[0]!, key: keys.own, receiverUrl }),
    loadMs: 90_000,
    faults: {
      kill: onMember(async (member) => {
        await member.kill('SIGKILL')
        await member.restart()
      }),
      'kill two': async () => {
        const members = [cluster.members[next()]!, cluster.members[next()]!]
        await Promise.all(members.map((member) => member.kill('SIGKILL')))
        for (const member of members) await member.restart()
        await untilAllServe(cluster)
      },
      drain: onMember(async (member) => {
        await member.kill('SIGTERM')
        await member.restart()
      }),
      stop: onMember((member) => stop(cluster, member, shortStopMs)),
      'stop until taken over': onMember((member) => stop(cluster, member, silenceMs)),
      'cut off from Cassandra': onMember(async (member) => {
        member.cutOff('cassandra')
        await pause(silenceMs)
        member.reach()
        await restartIfFenced(cluster, member)
      }),
      'cut off from members': onMember(async (member) => {
        member.cutOff('peers')
        await pause(silenceMs)
        member.reach()
        await restartIfFenced(cluster, member)
      }),
      'kill a node': async () => {
        const node = cassandra.nodes[next()]!
        await node.kill('SIGKILL')
        await pause(silenceMs)
        await node.start()
        await cassandra.whole()
        await untilAllServe(cluster)
      },
    },
    close: async () => {
      await cluster.close()
      await cassandra.close()
    },
  }
}

function keyspaceOf({ contactPoints, dataCenter }: Cassandra) {
  return { contactPoints, dataCenter, keyspace: 'verify' }
}

async function startMembers(cassandra: Cassandra, receiverUrl: string): Promise<Cluster> {
  return await startCluster({
    members: count,
    project: join(import.meta.dirname, '../agent'),
    roads: true,
    cassandra: keyspaceOf(cassandra),
    env: { RECEIVER: receiverUrl },
    args: ['--workers', '1', '--egress-allow', '127.0.0.1', '--auth', 'keys',
      '--quota-delayed-runs', '2'],
  })
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

/** Resolves when all front doors serve, and reach Cassandra. */
async function untilAllServe({ frontDoors }: Cluster): Promise<void> {
  const serves = (url: string) => fetch(`${url}/ok?check_db=1`).then(({ ok }) => ok, () => false)
  while (!(await Promise.all(frontDoors.map(serves))).every(Boolean)) await pause(250)
}
