/** The last execution that a new execution names: a worker may use its memory of that only. */

import { describe, expect, it } from 'vitest'

import { aRun, settled, ThreadHouse } from '../../../support/thread-house.ts'
import { ThreadPair } from '../../../support/thread-pair.ts'

async function begun(house: ThreadHouse, kwargs: object = { input: null }) {
  const run = house.run({ kwargs: { ...kwargs } })
  await house.client.startRun('t', 'x', run)
  await settled()
  return { runId: run.runId, execution: house.host.only.execution }
}

describe('the last execution that a new execution names', () => {
  it('is the previous execution if no steps were written since', async () => {
    const house = new ThreadHouse()
    await house.runOnce('x', 'one')
    const last = house.host.executions.at(-1)!
    expect(last.lastExecution).toBe(null)
    expect((await begun(house)).execution.lastExecution).toBe(last.id)
  })

  it('is not known after an execution that wrote on the same head and was lost', async () => {
    const house = new ThreadHouse()
    await house.runOnce('x', 'one')
    const { headId } = (await begun(house)).execution
    const { only } = house.host
    const step = { $case: 'writes' as const,
      value: { ns: '', checkpointId: headId!, taskId: 't', writes: [] } }
    await only.listener.steps({ steps: [step], events: [] })
    house.host.abort(only.execution.id)
    only.listener.lost('displaced')
    await settled()
    expect(house.host.only.execution).toMatchObject({ headId, lastExecution: null })
  })

  it('is not known after a rollback', async () => {
    const house = new ThreadHouse()
    await house.runOnce('x', 'one')
    const { runId } = await begun(house)
    await house.client.cancelRun('t', 'x', runId, { action: 'rollback' })
    expect((await begun(house)).execution.lastExecution).toBe(null)
  })

  it('is not known after metadata were merged into the head', async () => {
    const house = new ThreadHouse()
    await house.runOnce('x', 'one')
    await house.client.patchState('t', 'x', { by: 'hand' })
    expect((await begun(house)).execution.lastExecution).toBe(null)
  })

  it('is not known to the next owner', async () => {
    const pair = new ThreadPair()
    await pair.client.startRun('t', 'x', aRun('r'))
    await settled()
    await pair.host.step(pair.host.only, 'one')
    pair.host.end(pair.host.only)
    await settled()
    await pair.handOver()
    await pair.client.startRun('t', 'x', aRun('s'))
    await settled()
    expect(pair.host.only.execution.lastExecution).toBe(null)
  })

  it('is the previous edit', async () => {
    const house = new ThreadHouse()
    await house.runOnce('x', 'one')
    const updated = house.client.updateState('t', 'x', { checkpoint: null,
      update: { values: '{"log":["two"]}', command: null, asNode: null } })
    await settled()
    const { only } = house.host
    await house.host.step(only, 'two')
    house.host.end(only)
    await updated
    expect((await begun(house)).execution.lastExecution).toBe(only.execution.id)
  })
})
