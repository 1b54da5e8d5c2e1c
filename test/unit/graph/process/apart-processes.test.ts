/** Processes for one run each: runs wait for a process that loads, in the same attempt. */

import { expect, it } from 'vitest'

import { HeddleError } from '../../../../src/errors.ts'
import type { Execution, ExecutionOutcome, LossReason } from '../../../../src/graph/index.ts'
import { ApartProcesses } from '../../../../src/graph/process/apart-processes.ts'
import { ChildExecutions } from '../../../../src/graph/process/child-executions.ts'
import type { HostingChild } from '../../../../src/graph/process/hosting-child.ts'
import { virtualEnv } from '../../../support/env.ts'

/** A process that a test loads and kills. */
class FakeChild {
  readonly #loaded = Promise.withResolvers<void>()
  readonly process = { isLoaded: false, send: () => {}, sendAlong: () => {},
    drained: () => Promise.resolve(), loaded: this.#loaded.promise }
  readonly executions: ChildExecutions

  constructor(over: () => void) {
    this.#loaded.promise.catch(() => {})
    this.executions = new ChildExecutions(this.process, { over, wrote: () => {} })
  }

  load(): void {
    this.process.isLoaded = true
    this.#loaded.resolve()
  }
  drain(): Promise<void> {
    return Promise.resolve()
  }
  close(): Promise<void> {
    return Promise.resolve()
  }
}

/** Processes for suspects; `fails` makes their starts throw. */
function world() {
  const env = virtualEnv()
  const children: FakeChild[] = []
  const state = { fails: false }
  const apart = new ApartProcesses(env, () => {
    if (state.fails) throw new HeddleError('unavailable', 'A process cannot be started now.')
    const child = new FakeChild(() => apart.over())
    children.push(child)
    return child as unknown as HostingChild
  })
  let ids = 0
  const run = () => {
    const execution = { id: ++ids, tenant: 't', threadId: `t${ids}`, runId: `r${ids}`,
      attempt: 1 } as unknown as Execution
    const given = { execution, end: undefined as ExecutionOutcome | LossReason | undefined }
    const end = (outcome: ExecutionOutcome | LossReason) => {
      given.end = outcome
    }
    apart.execute(execution, {} as never, { steps: () => Promise.resolve(), ended: end, lost: end })
    return given
  }
  const kill = (child: FakeChild) => apart.died(child as unknown as HostingChild)
  return { env, children, state, apart, run, kill }
}

it('gives a run to another process if its own was killed while it loaded', () => {
  const { env, children, apart, run, kill } = world()
  const first = run()
  for (const ms of [100, 200, 400]) {
    kill(children.at(-1)!)
    expect(apart.waiting).toBe(1)
    env.advance(ms - 1)
    expect(apart.waiting).toBe(1)
    env.advance(1)
    expect(children.at(-1)!.executions.has(first.execution.id)).toBe(true)
  }
  expect([children.length, first.end]).toEqual([4, undefined])
})

it('leaves a run to the process that had begun it', () => {
  const { children, apart, run, kill } = world()
  const { execution: { id } } = run()
  children[0]!.load()
  kill(children[0]!)
  expect([children[0]!.executions.has(id), apart.waiting]).toEqual([true, 0])
})

it('waits for a machine that can start no process', () => {
  const { env, children, state, apart, run } = world()
  state.fails = true
  const first = run()
  expect([apart.waiting, first.end]).toEqual([1, undefined])
  state.fails = false
  env.advance(100)
  expect(children[0]!.executions.has(first.execution.id)).toBe(true)
})

it('drains a run whose process was killed while it loaded', async () => {
  const { children, apart, run, kill } = world()
  const first = run()
  await apart.drain()
  kill(children[0]!)
  expect(first.end).toMatchObject({ status: 'drained' })
})

it('leaves no timer after it was closed', async () => {
  const { env, children, apart, run, kill } = world()
  run()
  kill(children[0]!)
  await apart.close()
  expect(env.timers()).toBe(0)
})
