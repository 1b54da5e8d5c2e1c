/** Which execution gets a free worker, what the search costs, and that lost workers are freed. */

import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

import { describe, expect, it } from 'vitest'

import type { WorkerBatch } from '../../../../src/graph/events/worker-batch.ts'
import type { Execution } from '../../../../src/graph/execution.ts'
import { ExecutionScheduler } from '../../../../src/graph/pool/execution-scheduler.ts'
import { LoopLoad } from '../../../../src/graph/pool/turns/loop-load.ts'
import type { WorkerLink } from '../../../../src/graph/pool/worker-link.ts'
import type { WorkerPool } from '../../../../src/graph/pool/worker-pool.ts'

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

/** The last message of a worker about an execution. */
const ended: WorkerBatch = { steps: [], events: [], ackId: 0,
  outcome: { status: 'success', waiting: false, interrupts: '{}', error: null } }

/** A worker that accepts everything and sends nothing. */
const worker = () =>
  ({ executions: 0, silentMs: 0, enteredJob: 0, hasLoaded: true, load: new LoopLoad(() => 0),
    post: () => {}, ping: () => {} }) as unknown as WorkerLink

/** A scheduler over the given workers, and how often it looked for one. */
function schedulerOver(members: WorkerLink[]) {
  const looked = { times: 0 }
  const pool = {
    get members() {
      looked.times++
      return members
    },
    startQuarantined: () => undefined,
    has: () => true,
    spare: () => {},
    everyone: members,
  }
  let jobs = 0
  const scheduler = new ExecutionScheduler(pool as unknown as WorkerPool, () => ++jobs, {
    add: () => {},
  })
  const execute = (id: number) =>
    scheduler.execute(
      { id, tenant: 't', threadId: `t${id}`, runId: `r${id}`, graphId: 'g',
        request: { kind: 'run' } } as Execution,
      {} as never,
      { ended: () => {}, lost: () => {} } as never,
    )
  return { scheduler, looked, execute }
}

const apartRun = { id: 1, tenant: 't', threadId: 't', runId: 'r', graphId: 'g', apart: true,
  request: { kind: 'run' } } as Execution

const unloaded = () => Object.assign(worker(), { hasLoaded: false, isFull: true })

/** A scheduler whose runs get the first of these workers for themselves. */
function quarantining(links: readonly WorkerLink[]) {
  const pool = { members: [], startQuarantined: () => links[0], has: () => true, spare: () => {},
    everyone: links }
  const scheduler = new ExecutionScheduler(pool as unknown as WorkerPool, () => 1, {
    add: () => {},
  })
  const reasons: string[] = []
  return { scheduler,
    lost: { reasons, lost: (reason: string) => void reasons.push(reason), ended: () => {} } }
}

describe('the queue for a worker', () => {
  it('is not searched if there is no worker', () => {
    const { scheduler, looked, execute } = schedulerOver([])
    for (let id = 1; id <= 1_000; id++) execute(id)
    looked.times = 0
    scheduler.pump()
    expect(looked.times).toBe(1)
    expect(scheduler.counts).toEqual({ underWay: 0, waiting: 1_000 })
  })

  it('moves on when a worker comes, even past a suspect that finds no worker of its own', () => {
    const members = [worker()]
    const { scheduler, execute } = schedulerOver(members)
    execute(1)
    scheduler.ended(members.pop()!)
    execute(1)
    execute(2)
    members.push(worker())
    scheduler.pump()
    expect(scheduler.counts).toEqual({ underWay: 1, waiting: 1 })
  })
})

it('A run waits for another worker if its own ended before it had loaded the project.', () => {
  const links: WorkerLink[] = []
  const { scheduler, lost } = quarantining(links)
  links.push(unloaded(), worker())
  scheduler.execute(apartRun, {} as never, lost as never)
  scheduler.ended(links.shift()!)
  expect([scheduler.counts, lost.reasons]).toEqual([{ underWay: 0, waiting: 1 }, []])
  scheduler.pump()
  expect(scheduler.counts).toEqual({ underWay: 1, waiting: 0 })
  scheduler.ended(links.shift()!)
  expect(lost.reasons).toEqual(['displaced'])
})

it('A worker that has ended can be collected, even if a thread last ran on it.', async () => {
  const members = [worker()]
  const { scheduler, execute } = schedulerOver(members)
  execute(1)
  const gone = new WeakRef(members[0]!)
  scheduler.mail(members[0]!, { type: 'batch', job: 1, batch: ended })
  scheduler.ended(members.pop()!)
  // A WeakRef keeps its target alive until the turn of the event loop that made it has ended.
  await new Promise(setImmediate)
  collect()
  expect(gone.deref()).toBeUndefined()
})
