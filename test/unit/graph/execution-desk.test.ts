/** Who gets a worker when there is one, what looking for it costs, and what is left of one. */

import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

import { describe, expect, it } from 'vitest'

import type { Departure } from '../../../src/graph/departure.ts'
import { ExecutionDesk } from '../../../src/graph/execution-desk.ts'
import type { Execution } from '../../../src/graph/execution.ts'
import type { WorkerLink } from '../../../src/graph/worker-link.ts'
import type { WorkerPool } from '../../../src/graph/worker-pool.ts'

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

/** What a worker says last of an execution. */
const over: Departure = { steps: [], events: [], receipt: 0,
  outcome: { status: 'success', waiting: false, interrupts: '{}', error: null } }

/** A worker that takes everything and says nothing. */
const worker = () => ({ executions: 0, silentMs: 0, enteredJob: 0, post: () => {} }) as unknown as
  WorkerLink

/** A desk over workers that a test puts there, and how often it looked for one. */
function deskOver(members: WorkerLink[]) {
  const looked = { times: 0 }
  const pool = {
    get members() { looked.times++; return members },
    startSolitary: () => undefined, has: () => true, spare: () => {}, everyone: members,
  }
  let jobs = 0
  const desk = new ExecutionDesk(pool as unknown as WorkerPool, () => ++jobs)
  const execute = (id: number) => desk.execute({ id, tenant: 't', threadId: `t${id}`,
    runId: `r${id}` } as Execution, {} as never, { ended: () => {}, lost: () => {} } as never)
  return { desk, looked, execute }
}

describe('what waits for a worker', () => {
  it('is not looked through where there is none', () => {
    const { desk, looked, execute } = deskOver([])
    for (let id = 1; id <= 1_000; id++) execute(id)
    looked.times = 0
    desk.pump()
    expect(looked.times).toBe(1)
    expect(desk.counts).toEqual({ underWay: 0, waiting: 1_000 })
  })

  it('goes to one as soon as there is one, behind a suspect that cannot be alone too', () => {
    const members = [worker()]
    const { desk, execute } = deskOver(members)
    execute(1)
    desk.ended(members.pop()!)
    execute(1)
    execute(2)
    members.push(worker())
    desk.pump()
    expect(desk.counts).toEqual({ underWay: 1, waiting: 1 })
  })
})

it('A worker that is gone is remembered by none of the threads that it had', async () => {
  const members = [worker()]
  const { desk, execute } = deskOver(members)
  execute(1)
  const gone = new WeakRef(members[0]!)
  desk.mail(members[0]!, { type: 'departure', job: 1, departure: over })
  desk.ended(members.pop()!)
  // A reference that was made in this turn of the loop holds until the next one.
  await new Promise(setImmediate)
  collect()
  expect(gone.deref()).toBeUndefined()
})
