/**
 * Bursts of runs over simulated workers, in virtual time: who waits for how long, what throughput
 * is left, and that each run is executed once.
 */

import { describe, expect, it } from 'vitest'

import type { Execution } from '../../../../src/graph/execution.ts'
import { ExecutionScheduler } from '../../../../src/graph/pool/execution-scheduler.ts'
import { isFree, LoopLoad } from '../../../../src/graph/pool/turns/loop-load.ts'
import type { WorkerLink } from '../../../../src/graph/pool/worker-link.ts'
import type { ToWorker } from '../../../../src/graph/pool/worker-mail.ts'
import type { WorkerPool } from '../../../../src/graph/pool/worker-pool.ts'
import { Chance } from '../../../simulation/chance.ts'

/** A run of some nodes. Each waits first, as for a model, and then holds the loop. */
interface Sent {
  readonly name: string
  readonly graph?: string
  readonly nodes: readonly { readonly waitMs?: number; readonly holdMs: number }[]
  readonly tenant?: string
  readonly isAwaited?: boolean
}

/** How a run went, in virtual milliseconds. */
interface Went {
  sentMs: number
  begins: number
  endedMs: number
}

/** A loop that does one thing after another, and what it is to do. */
class Loop {
  readonly todo: (() => number)[] = []
  isBusy = false
}

/** A scheduler over workers whose loops take virtual time. */
class Simulated {
  nowMs = 0
  readonly went = new Map<string, Went>()
  readonly #events: { atMs: number; work: () => void }[] = []
  readonly #sent = new Map<number, Sent>()
  readonly #scheduler: ExecutionScheduler
  #jobs = 0
  mostAtOnce = 0
  #underWay = 0

  constructor(workers: number) {
    const members = Array.from({ length: workers }, () => this.#worker())
    const pool = { members, everyone: members, has: () => true, spare: () => {},
      startQuarantined: () => undefined }
    this.#scheduler = new ExecutionScheduler(pool as unknown as WorkerPool, () => ++this.#jobs, {
      add: () => {},
    })
  }

  send(sent: Sent): void {
    const id = this.went.size + 1
    this.#sent.set(id, sent)
    this.went.set(sent.name, { sentMs: this.nowMs, begins: 0, endedMs: NaN })
    const { tenant = 'a', graph: graphId = 'g', isAwaited = false } = sent
    this.#scheduler.execute(
      { id, tenant, threadId: sent.name, runId: sent.name, graphId, isAwaited,
        request: { kind: 'run' } } as Execution,
      {} as never,
      {
        steps: async () => {},
        ended: () => {
          this.went.get(sent.name)!.endedMs = this.nowMs
        },
        lost: () => expect.unreachable('no worker is lost'),
      },
    )
  }

  at(atMs: number, work: () => void): void {
    this.#events.push({ atMs, work })
  }

  /** Lets time pass until nothing is left to do. Microtasks run between events. */
  async run(): Promise<this> {
    await settled()
    while (this.#events.length > 0) {
      const next = this.#events.reduce((first, event) => event.atMs < first.atMs ? event : first)
      this.#events.splice(this.#events.indexOf(next), 1)
      this.nowMs = Math.max(this.nowMs, next.atMs)
      next.work()
      await settled()
    }
    return this
  }

  /** Milliseconds from when the run was sent to its end. */
  tookMs(name: string): number {
    const { sentMs, endedMs } = this.went.get(name)!
    return endedMs - sentMs
  }

  #worker(): WorkerLink {
    const loop = new Loop()
    const link = { executions: 0, silentMs: 0, enteredJob: 0, load: new LoopLoad(() => this.nowMs),
      isPinged: false, post: (mail: ToWorker) => {
        if (mail.type === 'execute') this.#begin(link as unknown as WorkerLink, loop, mail)
      }, ping: () => {
        if (link.isPinged) return
        link.isPinged = true
        const [through, sentMs] = [this.#jobs, this.nowMs]
        this.#do(loop, () => {
          this.at(this.nowMs + 0.1, () => {
            link.isPinged = false
            if (isFree(this.nowMs - sentMs - 0.2)) link.load.free(through)
            this.#scheduler.pump()
          })
          return 0.1
        })
      } }
    return link as unknown as WorkerLink
  }

  #begin(link: WorkerLink, loop: Loop, { job, execution }: ToWorker & { type: 'execute' }): void {
    const sent = this.#sent.get(execution.id)!
    this.went.get(sent.name)!.begins += 1
    this.mostAtOnce = Math.max(this.mostAtOnce, ++this.#underWay)
    const node = (index: number) => {
      const { waitMs = 0, holdMs } = sent.nodes[index]!
      const hold = () =>
        this.#do(loop, () => holdMs, () => this.#done(link, job, sent, index, node))
      if (waitMs === 0) return hold()
      // The run begins, says so, and waits.
      this.#do(loop, () => 0.2, () => {
        this.#tell(link, job, 0, false)
        this.at(this.nowMs + waitMs, hold)
      })
    }
    node(0)
  }

  #done(link: WorkerLink, job: number, sent: Sent, index: number,
    node: (index: number) => void): void {
    const isLast = index === sent.nodes.length - 1
    if (isLast) this.#underWay -= 1
    this.#tell(link, job, sent.nodes[index]!.holdMs, isLast)
    if (!isLast) node(index + 1)
  }

  #tell(link: WorkerLink, job: number, heldMs: number, isLast: boolean): void {
    this.at(this.nowMs + 0.1,
      () =>
        this.#scheduler.mail(link, { type: 'batch', job, heldMs,
          batch: { steps: [], events: [], ackId: 1, outcome: isLast
            ? { status: 'success', waiting: false, interrupts: '{}', error: null }
            : null } }))
  }

  /** Does something in the loop when its turn comes: `work` says how long it takes. */
  #do(loop: Loop, work: () => number, after = () => {}): void {
    loop.todo.push(() => {
      const ms = work()
      this.at(this.nowMs + ms, () => {
        after()
        this.#next(loop)
      })
      return ms
    })
    if (!loop.isBusy) this.#next(loop)
  }

  #next(loop: Loop): void {
    const next = loop.todo.shift()
    loop.isBusy = next !== undefined
    next?.()
  }
}

const settled = () => new Promise<void>((resolve) => setImmediate(resolve))

const holding = (...ms: readonly number[]) => ms.map((holdMs) => ({ holdMs }))

/** Sends a burst in the background, then one run that somebody waits for. */
async function burst(count: number, nodes: (index: number) => Sent['nodes'], last: Partial<Sent>) {
  const simulated = new Simulated(2)
  for (let index = 0; index < count; index += 1) {
    simulated.send({ name: `${index}`, nodes: nodes(index) })
  }
  simulated.at(1,
    () => simulated.send({ name: 'last', nodes: holding(5), isAwaited: true, graph: 'h', ...last }))
  return await simulated.run()
}

const total = (nodes: Sent['nodes']) => nodes.reduce((sum, { holdMs }) => sum + holdMs, 0)

describe('a burst in the background', () => {
  it.each<readonly [string, number, (index: number) => Sent['nodes'], number]>([
    ['of nodes of 10 ms', 200, () => holding(10), 10],
    ['of nodes of 150 ms', 60, () => holding(150), 150],
    ['of nodes of 2 s', 20, () => holding(2_000), 2_000],
    ['of many nodes each', 20, () => holding(150, 150, 150, 150, 150), 150],
    ['of mixed nodes', 60, (index) => holding([10, 150, 2_000][index % 3]!), 2_000],
  ])('%s: one who waits does so for a node or two; nothing is lost or done twice',
    async (_name, count, nodes, nodeMs) => {
      const simulated = await burst(count, nodes, {})
      expect(simulated.tookMs('last')).toBeLessThan(nodeMs * 2 + 50)
      const ends = [...simulated.went.values()]
      expect(ends.every(({ begins, endedMs }) => begins === 1 && endedMs > 0)).toBe(true)
      const workMs = Array.from({ length: count }, (_, index) => total(nodes(index)))
        .reduce((sum, ms) => sum + ms, 0)
      const idealMs = Math.max(workMs / 2, nodeMs)
      expect(Math.max(...ends.map(({ endedMs }) => endedMs))).toBeLessThan(
        idealMs / 0.9 + 2 * nodeMs,
      )
    })

  it('holds up no run of another tenant for more than one node, even if nobody waits for it',
    async () => {
      const simulated = await burst(200, () => holding(150), { tenant: 'b', isAwaited: false,
        nodes: holding(150, 150), graph: 'g' })
      expect(simulated.tookMs('last')).toBeLessThan(2 * 300 + 150)
    })
})

describe('runs that wait for a model', () => {
  it('run together, a thousand of them', async () => {
    const simulated = new Simulated(2)
    for (let index = 0; index < 1_000; index += 1) {
      simulated.send({ name: `${index}`, nodes: [{ waitMs: 5_000, holdMs: 1 }] })
    }
    await simulated.run()
    expect(simulated.mostAtOnce).toBe(1_000)
    expect(simulated.nowMs).toBeLessThan(6_000)
  })

  it('run together even if they compute after it', async () => {
    const simulated = new Simulated(2)
    for (let index = 0; index < 100; index += 1) {
      simulated.send({ name: `${index}`, nodes: [{ waitMs: 2_000, holdMs: 40 }] })
    }
    await simulated.run()
    expect(simulated.mostAtOnce).toBeGreaterThan(90)
    expect(simulated.nowMs).toBeLessThan(2_000 + 100 * 40 / 2 + 500)
  })
})

it('Whatever tenants send, each run is executed once, and none waits for the others of a tenant',
  async () => {
    for (let seed = 1; seed <= 6; seed += 1) {
      const chance = new Chance(seed)
      const simulated = new Simulated(2)
      for (let index = 0; index < 120; index += 1) {
        const tenant = chance.flip(0.98) ? 'big' : 'small'
        const nodes = Array.from({ length: 1 + chance.below(3) }, () => ({
          holdMs: [1, 10, 150][chance.below(3)]!,
          ...chance.flip(0.2) && { waitMs: 100 },
        }))
        simulated.at(chance.below(200), () =>
          simulated.send({ name: `${tenant}${index}`, tenant, nodes, isAwaited: chance.flip(0.2) }))
      }
      await simulated.run()
      const ends = [...simulated.went]
      expect(ends.every(([, { begins, endedMs }]) => begins === 1 && endedMs > 0)).toBe(true)
      const small = ends.filter(([name]) => name.startsWith('small'))
      for (const [name] of small) {
        expect(simulated.tookMs(name)).toBeLessThan(simulated.nowMs * 0.6)
      }
    }
  })
