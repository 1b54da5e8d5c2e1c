/** By night: deployments on three members and three nodes of Cassandra, while members die. */

import { randomUUID } from 'node:crypto'

import { afterAll, beforeAll, describe, expect, it, onTestFailed } from 'vitest'

import { startCassandra } from '../../scripts/cassandra/cluster.ts'
import type { Cassandra } from '../../scripts/cassandra/cluster.ts'
import { whatIsMissing } from '../../scripts/cassandra/library.ts'
import { until } from '../bench/patience.ts'
import { documentsOf } from '../support/cassandra-tables.ts'
import { heddleProcessIn } from '../support/command.ts'
import { ask } from '../support/wire.ts'
import { ShopLoad } from './deployments/shop-load.ts'
import { startShopCluster } from './deployments/shop-cluster.ts'
import type { SeenDeployment, ShopCluster } from './deployments/shop-cluster.ts'
import { changeShop, done, makeShop, shopPath, uploadShop } from './deployments/shop.ts'

/** Requests a second that no roll-out, secret, rollback or death of its driver may lose. */
const perSecond = 200
/** Those beside what comes after that: with more, both cores are busy with them alone. */
const fewerPerSecond = 60
const rolloutMs = 90_000
const startMs = 400_000

interface Answer {
  readonly active: string
  readonly pointer_ms: number
  readonly members: readonly { readonly id: string; readonly state: string; readonly ms: number }[]
  readonly unconfirmed: readonly string[]
  readonly rollout_id: string
}

const cannotRun = await whatIsMissing() !== undefined

describe.skipIf(cannotRun)('deployments on three members', () => {
  let cassandra: Cassandra
  let cluster: ShopCluster
  let folder: string
  let load: ShopLoad
  /** What runs may say: the texts of revisions that were pointed at. */
  const texts = new Map<string, string>()
  let revisions = 0

  beforeAll(async () => {
    // Unlike that of other tests it gets fast: here it has much to do for long.
    cassandra = await startCassandra({ nodes: 3, firstAddress: '127.0.0.110' })
    cluster = await startShopCluster(cassandra)
    await cluster.whole()
    folder = await makeShop(cluster.root)
    const made = owner('POST', '/control/v1/deployments', { name: 'shop', limits: { workers: 1 } })
    done(await made.catch((error: unknown) => {
      console.log(cluster.story())
      throw error
    }))
    load = new ShopLoad({ frontDoors: cluster.frontDoors, headers: cluster.headers })
    load.begin()
  }, startMs)

  afterAll(async () => {
    await load?.end()
    await cluster?.close()
    await cassandra?.close()
  })

  const story = () => {
    console.log(load.summary(), [...load.caller.faults, ...load.faults].slice(0, 20))
    console.log(cluster.story())
  }

  const owner = (method: string, path: string, body?: unknown, door = 0) =>
    ask(cluster.frontDoors[door]!, method, path, body, { ...cluster.headers,
      'idempotency-key': randomUUID() })

  /** Runs the command where the project is. */
  const inShop = async (...args: readonly string[]) => {
    const began = performance.now()
    const ended = await heddleProcessIn({ INIT_CWD: folder, npm_lifecycle_event: 'heddle',
      HEDDLE_URL: cluster.frontDoors[1]!, HEDDLE_API_KEY: cluster.headers['x-api-key']! }, ...args)
    expect(ended).toMatchObject({ status: 0, stderr: '' })
    return { ...ended, tookMs: performance.now() - began }
  }

  /** A revision that no run has had yet; its name. */
  const upload = async (door: number) => {
    const text = `text-${++revisions}`
    changeShop(folder, text)
    const name = await uploadShop(folder, { url: cluster.frontDoors[door]!,
      headers: cluster.headers })
    texts.set(text, name)
    return name
  }

  const activate = async (revision: string, door: number, options: object = {}) =>
    done(await owner('POST', `${shopPath}/revisions/${revision}/activate`, options, door)) as Answer

  /** What the runs that were sent from now on say. */
  const saidNow = async (count = 10) => {
    const from = performance.now()
    return await until(rolloutMs, 'enough runs', async () => {
      const some = load.answers.filter(({ sentMs, said }) => said !== undefined && sentMs >= from)
      return some.length < count ? undefined : [...new Set(some.map(({ said }) => said))]
    })
  }

  /**
   * Two cores with all of this on them may let a member take longer to confirm than the 2 s that
   * are waited: then it is named, and soon it is as the others. A run that is sent after an answer
   * that names nobody must have the revision.
   */
  const saysNow = async (text: string, unconfirmed: readonly string[] = []) => {
    const late = unconfirmed.length
    if (late === 0) return expect(await saidNow()).toEqual([text])
    console.log(`${late} confirmed later`)
    await until(rolloutMs, `${text} alone`, async () => {
      const [one, ...others] = await saidNow()
      return others.length === 0 && one === text || undefined
    })
  }

  const over = async (door: number, id?: string) =>
    await until(rolloutMs, 'the end of the roll-out', async () => {
      const shop = await cluster.shop(door)
      const isOver = shop.rollout === null && (id === undefined || shop.last_rollout?.id === id)
      return isOver ? shop : undefined
    })

  /** Those that did not confirm in time. */
  const silentIn = ({ last_rollout: last }: SeenDeployment) =>
    last!.members.filter(({ state }) => state !== 'confirmed').map(({ state }) => state)

  /** The same in what the command says. */
  const lateIn = (stdout: string) => {
    const lines = stdout.trim().split('\n').map((line) => JSON.parse(line) as Partial<Answer>)
    return lines.flatMap(({ members = [] }) => members)
      .filter(({ state }) => state === 'silent').map(({ id }) => id)
  }

  const around = (name: string, fromMs: number, untilMs: number) => {
    const before = load.percentile(99, fromMs - 10_000, fromMs)
    const during = load.percentile(99, fromMs, untilMs)
    console.log(`${name}: p99 before ${before.toFixed(0)} ms (median ` +
      `${load.percentile(50, fromMs - 10_000, fromMs).toFixed(0)}), during ` +
      `${during.toFixed(0)} ms, ratio ${(during / before).toFixed(1)}; ` +
      `${load.rate(fromMs, untilMs).toFixed(0)} answers/s, ` +
      `${load.rate(fromMs, untilMs, 'run').toFixed(0)} runs/s`)
  }

  it('loses no request while a project is deployed, changed, and taken back.', async () => {
    onTestFailed(story)
    texts.set('text-0', 'r1')
    changeShop(folder, 'text-0')
    let from = performance.now()
    const first = await inShop('deploy', '--json', '--no-watch')
    around(`first deploy, ${(first.tookMs / 1_000).toFixed(1)} s`, from, performance.now())
    console.log(first.stdout)
    load.isDeployed = true
    load.perSecond = perSecond
    await saysNow('text-0 none', lateIn(first.stdout))

    texts.set('text-00', 'r2')
    changeShop(folder, 'text-00')
    from = performance.now()
    const second = await inShop('deploy', '--json', '--no-watch')
    around(`second deploy, ${(second.tookMs / 1_000).toFixed(1)} s`, from, performance.now())
    console.log(second.stdout)
    await saysNow('text-00 none', lateIn(second.stdout))

    from = performance.now()
    const { rollout } = done(
      await owner('PUT', `${shopPath}/secrets/TOKEN`, { value: 'sesame' }, 2),
    ) as { readonly rollout: { readonly id: string } }
    const after = await over(1, rollout.id)
    around(`secret, ${((performance.now() - from) / 1_000).toFixed(1)} s`, from, performance.now())
    await saysNow('text-00 sesame', silentIn(after))

    // Loaded, and never pointed at.
    const unused = await upload(0)
    done(await owner('POST', `${shopPath}/revisions/${unused}/check`, {}))
    expect(await saidNow()).toEqual(['text-00 sesame'])

    const times: number[] = []
    for (let count = 0; count < 3; count++) {
      from = performance.now()
      const back = done(await owner('POST', `${shopPath}/rollback`, {}, count)) as Answer
      times.push(performance.now() - from)
      if (count === 0) around('rollback', from, performance.now())
      const other = back.active === 'r1' ? 'text-0' : 'text-00'
      await saysNow(`${other} sesame`, back.unconfirmed)
    }
    console.log('rollbacks took', times.map((ms) => Math.round(ms)).join(', '), 'ms')
  })

  const phases = ['preparing', 'confirming', 'watching']

  /** Kills a member in a phase of a roll-out; the roll-out ends, and the member comes back. */
  const killIn = async (phase: string, victim: number) => {
    onTestFailed(story)
    const door = (victim + 1) % 3
    const name = await upload(door)
    const answering = activate(name, door, { watch_s: phase === 'watching' ? 4 : 1 })
    await until(rolloutMs, phase, async () => {
      const { rollout } = await cluster.shop(door)
      return rollout !== null && phases.indexOf(rollout.phase!) >= phases.indexOf(phase) ||
        undefined
    }, 10)
    load.doors.close(victim)
    const from = performance.now()
    await cluster.members[victim]!.kill('SIGKILL')
    const { rollout_id: id } = await answering
    const confirmedMs = performance.now() - from
    const shop = await over(door, id)
    const endMs = performance.now() - from
    around(`killed in ${phase}, confirmed after ${confirmedMs.toFixed(0)} ms, ended after ` +
      `${endMs.toFixed(0)} ms`, from, performance.now())
    expect(shop.last_rollout).toMatchObject({ result: 'done', revision: name })
    await saysNow(`text-${revisions} sesame`, silentIn(shop))
    const began = performance.now()
    await cluster.members[victim]!.restart()
    load.doors.reopen(victim)
    await cluster.whole()
    expect(await saidNow()).toEqual([`text-${revisions} sesame`])
    around('restarted', began, performance.now())
  }

  it('goes on when the member that drives is killed.', async () => {
    for (const phase of phases) {
      await killIn(phase, await cluster.driver())
    }
  })

  it('goes on when another member is killed.', async () => {
    load.perSecond = fewerPerSecond
    for (const phase of ['preparing', 'watching']) {
      await killIn(phase, (await cluster.driver() + 1) % 3)
    }
  })

  it('waits for a member that joins, and for none that stands still.', async () => {
    onTestFailed(story)
    const driver = await cluster.driver()
    const [victim, door] = [(driver + 1) % 3, (driver + 2) % 3]
    const member = cluster.members[victim]!
    load.doors.close(victim)
    await member.kill('SIGKILL')
    await cluster.whole(2)
    const joined = await upload(door)
    const answering = activate(joined, door, { watch_s: 0 })
    await member.restart()
    const { active, unconfirmed } = await answering
    expect(active).toBe(joined)
    load.doors.reopen(victim)
    await cluster.whole()
    await saysNow(`text-${revisions} sesame`, unconfirmed)

    const still = await upload(door)
    const going = activate(still, door, { watch_s: 0 })
    await until(rolloutMs, 'preparing',
      async () => (await cluster.shop(door)).rollout?.phase === 'preparing' || undefined, 10)
    load.doors.close(victim)
    const from = performance.now()
    member.pause()
    const answer = await going
    around(`stood still, confirmed after ${(performance.now() - from).toFixed(0)} ms`, from,
      performance.now())
    expect(answer.active).toBe(still)
    await saysNow(`text-${revisions} sesame`, answer.unconfirmed)
    member.wake()
    await member.exited()
    await member.restart()
    load.doors.reopen(victim)
    await cluster.whole()
    expect(await saidNow()).toEqual([`text-${revisions} sesame`])
  })

  it('keeps tenants apart, whichever front door they ask.', async () => {
    const other = (door: number, method: string, path: string, body?: unknown) =>
      ask(cluster.frontDoors[door]!, method, path, body, cluster.others)
    for (const door of [0, 1, 2]) {
      expect(await other(door, 'POST', '/d/shop/threads', {})).toMatchObject({ status: 404 })
      expect(await other(door, 'GET', shopPath)).toMatchObject({ status: 404 })
    }
    done(await owner('PATCH', shopPath, { access: 'any' }))
    const threads = await Promise.all(
      [0, 1, 2].map((door) =>
        until(rolloutMs, `a thread through front door ${door}`, async () => {
          const { status, body } = await other(door, 'POST', '/d/shop/threads', {})
          return status === 200 ? (body as { readonly thread_id: string }).thread_id : undefined
        })
      ),
    )
    for (const [door, id] of threads.entries()) {
      const path = `/d/shop/threads/${id}`
      const run = { assistant_id: 'show', input: {} }
      expect(await other((door + 1) % 3, 'POST', `${path}/runs/wait`, run))
        .toMatchObject({ status: 200, body: { said: expect.stringMatching(/ sesame$/) } })
      expect(await owner('GET', path)).toMatchObject({ status: 404 })
      expect(await other(door, 'GET', shopPath)).toMatchObject({ status: 404 })
    }
  })

  it('reports no fault of all that.', async () => {
    console.log(load.summary())
    expect(await load.end()).toEqual([])
    const pointed = new Set((await cluster.events(0)).filter(({ kind }) => kind === 'pointer')
      .flatMap(({ active, next }) => [active, next?.revision]))
    const said = new Set(load.answers.flatMap(({ said }) => said?.split(' ').slice(0, 1) ?? []))
    expect([...said].filter((text) => !pointed.has(texts.get(text)))).toEqual([])
  })

  it('leaves nothing behind when it is removed.', async () => {
    expect(await documentsOf(cluster.place)).not.toEqual([])
    done(await owner('DELETE', `${shopPath}?data=remove`))
    await until(rolloutMs, 'the end of the removal', async () => {
      const { status } = await owner('GET', shopPath, undefined, 1)
      return status === 404 || undefined
    })
    // It is hidden at once; what it had goes after that.
    await until(rolloutMs, 'the end of all documents',
      async () => (await documentsOf(cluster.place)).length === 0 || undefined)
    expect(await owner('POST', '/d/shop/threads', {}, 2)).toMatchObject({ status: 404 })
  })
})
