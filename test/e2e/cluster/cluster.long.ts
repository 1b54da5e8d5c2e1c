/** Three members on three nodes for long: killed, ended, stopped, cut off, at random moments. */

import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFailed } from 'vitest'
import { startCassandra } from '../../../scripts/cassandra/cluster.ts'
import type { Cassandra } from '../../../scripts/cassandra/cluster.ts'
import { whatIsMissing } from '../../../scripts/cassandra/library.ts'
import { Chance } from '../../simulation/chance.ts'
import { startBalancer } from '../../support/balancer.ts'
import { startCluster } from '../../support/cluster.ts'
import type { Cluster, ClusterMember } from '../../support/cluster.ts'
import { isNight, repeats } from '../../support/repeats.ts'
import { collect } from '../../support/run-events.ts'
import type { Part } from '../../support/run-events.ts'
import { clientOf } from '../../support/server.ts'
import { openEvents } from '../../support/thread-events.ts'
import type { EventSeen } from '../../support/thread-events.ts'
import { takenForDead } from '../../support/taken-for-dead.ts'
import { ask } from '../../support/wire.ts'
import { Load } from './load.ts'

const seed = Number(process.env['HEDDLE_SEED'] ?? Date.now() % 1_000_000)

/** For how long new rounds begin. */
const chaosMs = repeats({ day: 1, night: 40_000 })
/** Kinds of faults in a round, of four: each happens to some member. */
const faultsInRound = repeats({ day: 1, night: 4 })

/** Longer than a member may be silent before it is fenced, on a machine that is not busy. */
const silenceMs = 8_000
/** The same with allowance for a busy machine. */
const patienceMs = 40_000

/** A member back at the store learns in this time that it was fenced; it looks every second. */
const lastSeenMs = 10_000
/** How long a member may take to end. */
const drainMs = 25_000

describe.skipIf(await whatIsMissing() !== undefined)('three members on three nodes', () => {
  let cassandra: Cassandra
  let cluster: Cluster

  beforeAll(async () => {
    cassandra = await startCassandra({ nodes: 3, firstAddress: '127.0.0.70', light: true })
    const { contactPoints, dataCenter } = cassandra
    cluster = await startCluster({
      members: 3,
      project: 'conformance',
      roads: true,
      cassandra: { contactPoints, dataCenter, keyspace: 'members' },
    })
  }, 240_000)
  afterAll(async () => {
    await cluster?.close()
    await cassandra?.close()
  }, 120_000)

  beforeEach(() => onTestFailed(() => console.log(cluster.story())))

  const loaded = (threads: number) =>
    new Load({
      frontDoors: cluster.frontDoors,
      threads,
      seed,
      paceMs: 1_000,
      lenient: true,
    })

  /** Resolves when every front door reaches the store again. */
  const allServe = () =>
    expect.poll(async () =>
      (await Promise.all(cluster.frontDoors.map((url) => ask(url, 'GET', '/ok?check_db=1')))).map((
        { status },
      ) => status)
    )
      .toEqual([200, 200, 200])

  /** Resolves when a member answers and reaches the store. */
  const serves = ({ url }: ClusterMember) =>
    expect.poll(async () => (await ask(url, 'GET', '/ok?check_db=1')).status).toBe(200)

  /** What can happen to a member; each resolves when it serves again. */
  const faults: Record<string, (member: ClusterMember, load: Load) => Promise<void>> = {
    'is killed': async (member) => {
      await member.kill('SIGKILL')
      await pause(silenceMs / 2)
      await member.restart()
    },
    'is told to end': async (member) => {
      expect(await within(drainMs, member.kill('SIGTERM'))).toEqual({ code: 0, signal: null })
      await member.restart()
    },
    'stands still': async (member, load) => {
      load.doubt(member.pid)
      member.pause()
      await isFenced(member)
      member.wake()
      await endsByItself(member)
    },
    'is cut off from Cassandra and its peers': async (member, load) => {
      load.doubt(member.pid)
      member.cutOff('cassandra')
      member.cutOff('peers')
      await isFenced(member)
      member.reach()
      await endsByItself(member)
    },
  }

  /** Resolves when another member's log says that this one is fenced. */
  async function isFenced({ session }: ClusterMember): Promise<void> {
    await expect.poll(() =>
      cluster.members.flatMap((other) => takenForDead(other.output()))
        .map((dead) => dead.session), { timeout: patienceMs, interval: 250 }).toContain(session)
  }

  /** A fenced member exits when it learns of that; it is then started again. */
  async function endsByItself(member: ClusterMember): Promise<void> {
    expect(await within(patienceMs, member.exited())).toMatchObject({ code: 1 })
    await member.restart()
  }

  it(`keep one history of each thread, whatever fails (HEDDLE_SEED=${seed})`, async () => {
    const chance = new Chance(seed)
    const load = loaded(30)
    onTestFailed(() => console.log(load.summary()))
    const end = performance.now() + chaosMs
    await load.resume(100)
    let node: Promise<void> | undefined
    do {
      for (const [what, befall] of chance.shuffled(Object.entries(faults))
        .slice(0, faultsInRound)) {
        const index = chance.below(3)
        const began = performance.now()
        load.doors.close(index)
        await befall(cluster.members[index]!, load)
        load.doors.reopen(index)
        console.log(`Member ${index} ${what}: ${load.summary()} ` +
          `(${((performance.now() - began) / 1_000).toFixed(1)} s)`)
        await load.resume(50)
        node ??= loseNode(chance.below(3))
      }
    } while (performance.now() < end)
    await node
    await load.resume(50)
    expect(await load.faults()).toEqual([])
    console.log(load.summary())
  }, 1_200_000)

  /** Loses a node of Cassandra for a while, in addition to the faults of members. */
  async function loseNode(index: number): Promise<void> {
    const node = cassandra.nodes[index]!
    await node.kill('SIGKILL')
    await pause(silenceMs)
    await node.start()
    await cassandra.whole()
  }

  it.each(isNight ? ['cassandra', 'peers'] as const : ['cassandra'] as const)(
    'serve on when one is cut off from %s',
    async (from) => {
      await allServe()
      const load = loaded(12)
      onTestFailed(() => console.log(load.summary()))
      await load.resume(24)
      const member = cluster.members[2]!
      load.doubt(member.pid)
      load.doors.close(2)
      member.cutOff(from)
      await pause(silenceMs)
      await load.resume(24)
      member.reach()
      // The others decide whether it was fenced meanwhile: it serves again, or it ends.
      const fenced = await Promise.race([member.exited().then(() => true),
        serves(member).then(() => pause(lastSeenMs, false))])
      if (fenced) await member.restart()
      await allServe()
      load.doors.reopen(2)
      await load.resume(24)
      expect(await load.faults()).toEqual([])
      console.log(`Cut off from ${from}, the member ${fenced ? 'was fenced' : 'went on'}: ` +
        load.summary())
    },
    400_000,
  )

  it('resume a stream where the client left off when its front door died', async () => {
    const stepCount = 60
    const balancer = await startBalancer(cluster.frontDoors)
    const thread = crypto.randomUUID()
    let lost: Promise<void> | undefined
    const parts: Part[] = []
    try {
      const stream = clientOf(balancer.url).runs.stream(thread, 'diary', {
        input: { file: '/dev/null', thread, word: 'w', steps: stepCount, pauseMs: 100 },
        streamMode: ['updates'],
        streamResumable: true,
        ifNotExists: 'create',
        config: { recursion_limit: 100 },
      })
      for await (const part of stream) {
        parts.push(part as Part)
        if (parts.length === 20) lost = loseDoorOf(balancer.lastFrontDoor()!)
      }
      await lost
      const replayed = await collect(clientOf(balancer.url).runs.joinStream(
        thread,
        (parts[0]!.data as { run_id: string }).run_id,
        { lastEventId: '-1' },
      ))
      const seen = Array.from({ length: stepCount }, (_, at) => `w ${at + 1}`)
      expect(linesOf(parts)).toEqual(seen)
      expect(linesOf(replayed)).toEqual(seen)
    } finally {
      balancer.close()
    }
  }, 120_000)

  it('send each event of a thread once, with its id, when the owner dies', async () => {
    const stepCount = 60
    const scratch = await mkdtemp(join(tmpdir(), 'heddle-events-'))
    const file = join(scratch, 'diary')
    const thread = crypto.randomUUID()
    const answer = await ask(cluster.frontDoors[0]!, 'POST', `/threads/${thread}/commands`, {
      id: 1,
      method: 'run.start',
      params: { assistant_id: 'diary', config: { recursion_limit: 100 },
        input: { file, thread, word: 'w', steps: stepCount, pauseMs: 100 } },
    })
    expect(answer.body).toMatchObject({ type: 'success' })
    /** Number and process of each step, as often as it was begun. */
    const stepsBegun = async () =>
      (await readFile(file, 'utf8').catch(() => '')).trim().split('\n')
        .map((line) => line.split(' ').slice(-3, -1).join(' by '))
    const pidsOf = (steps: readonly string[]) => steps.map((step) => Number(step.split(' ').at(-1)))
    await expect.poll(async () => pidsOf(await stepsBegun())[0]).toBeGreaterThan(0)
    const [pid] = pidsOf(await stepsBegun())
    const owner = cluster.members.find((member) => member.pid === pid)!
    const [door, other] = cluster.members.filter((member) => member !== owner)
    const seen: EventSeen[] = []
    let lost: Promise<void> | undefined
    for await (const event of openEvents(door!.url, thread)) {
      seen.push(event)
      if (seen.filter(isRootState).length === 15) lost ??= loseDoorOf(owner.url)
      if (isRootEnd(event)) break
    }
    await lost
    // Two owners, or more: the thread may have moved in peace as well. Each begins a step once.
    const begun = await stepsBegun()
    expect(new Set(pidsOf(begun)).size).toBeGreaterThanOrEqual(2)
    expect(begun).toHaveLength(new Set(begun).size)
    const again: EventSeen[] = []
    for await (const event of openEvents(other!.url, thread)) {
      again.push(event)
      if (isRootEnd(event)) break
    }
    expect(again).toEqual(seen)
    const lines = seen.filter(isRootState)
      .map(({ params }) => (params.data as { lines?: string[] }).lines?.length ?? 0)
    expect(lines.filter((count) => count > 0))
      .toEqual(Array.from({ length: stepCount }, (_, at) => at + 1))
    // Once for each owner.
    const running = seen.filter(({ method, params }) =>
      method === 'lifecycle' && (params.data as { event: string }).event === 'running'
    )
    expect(running.length).toBeGreaterThanOrEqual(2)
    await rm(scratch, { recursive: true })
  }, 120_000)

  async function loseDoorOf(url: string): Promise<void> {
    const member = cluster.members.find((candidate) => candidate.url === url)!
    await member.kill('SIGKILL')
    await member.restart()
  }
})

function isRootState({ method, params: { namespace } }: EventSeen): boolean {
  return method === 'values' && namespace.length === 0
}

function isRootEnd({ method, params: { namespace, data } }: EventSeen): boolean {
  const { event } = data as { event?: string }
  return method === 'lifecycle' && namespace.length === 0 && event === 'completed'
}

const linesOf = (parts: readonly Part[]) =>
  parts.filter(({ event }) => event === 'updates')
    .flatMap(({ data }) => (data as { write: { lines: string[] } }).write.lines)

async function within<Result>(ms: number, result: Promise<Result>): Promise<Result> {
  const late = new AbortController()
  const tooLate = pause(ms, undefined, { signal: late.signal }).then(
    () => {
      throw new Error(`that took longer than ${ms} ms`)
    },
    () => new Promise<never>(() => {}),
  )
  try {
    return await Promise.race([result, tooLate])
  } finally {
    late.abort()
  }
}
