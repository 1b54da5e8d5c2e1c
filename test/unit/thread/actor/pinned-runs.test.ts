/** Runs of a deployment: pinned to a revision, whatever becomes active meanwhile. */

import { describe, expect, it } from 'vitest'

import { decodeRow } from '../../../../src/checkpoint/index.ts'
import { shop } from '../../../support/fake-deployments.ts'
import { settled } from '../../../support/thread-house.ts'
import { answer, asking, twoRevisions, waiting } from '../../../support/two-revisions.ts'

describe('a run', () => {
  it('ends after the time that its deployment gives, whatever it asks for', async () => {
    const { r1, house, start, newest, deployed } = twoRevisions()
    deployed.runTimeoutMs = 5_000
    await start({ plan: { ...house.run().plan, timeoutMs: 60_000 } })
    house.env.advance(4_999)
    await settled()
    expect(r1.running.size).toBe(1)
    house.env.advance(1)
    await settled()
    expect([r1.running.size, (await newest()).status]).toEqual([0, 'timeout'])
  })

  it('takes the active revision when it starts, and shows it', async () => {
    const { r1, start, newest, deployed } = twoRevisions()
    await start()
    expect(r1.only.execution).toMatchObject({ tenant: shop, graphId: 'agent' })
    r1.end(r1.only)
    await settled()
    expect(await newest()).toMatchObject({ revision: 'r1', status: 'success' })
    expect(deployed.ends).toEqual(['r1 success'])
  })

  it('keeps it while another one becomes active, and the next run takes that', async () => {
    const { r1, r2, start, deployed } = twoRevisions()
    await start()
    await start()
    deployed.active = 'r2'
    await r1.step(r1.only, 'one')
    expect(r2.running.size).toBe(0)
    r1.end(r1.only)
    await settled()
    expect(r2.only.execution.attempt).toBe(1)
  })

  it('keeps it as a later attempt, after a restart and when its worker is lost', async () => {
    const { house, r1, r2, start, deployed } = twoRevisions()
    await start()
    await r1.step(r1.only, 'one')
    deployed.active = 'r2'
    r1.lose(r1.only, 'crashed')
    await settled()
    expect(r1.only.execution.attempt).toBe(2)
    r1.running.clear()
    house.restart()
    await house.client.get(shop, 'x')
    await settled()
    expect(r1.executions).toHaveLength(3)
    expect(r2.executions).toEqual([])
  })

  it('takes the active one as its next attempt if its own is gone', async () => {
    const { r1, r2, start, newest, deployed } = twoRevisions()
    await start()
    await r1.step(r1.only, 'one')
    const lost = r1.only
    deployed.active = 'r2'
    deployed.hosts.delete('r1')
    r1.lose(lost, 'displaced')
    await settled()
    expect(r2.only.execution.attempt).toBe(2)
    expect(await newest()).toMatchObject({ revision: 'r2', attempt: 2 })
  })

  it('ends with a sentence if no revision is left that can execute it', async () => {
    const { r1, start, newest, deployed } = twoRevisions()
    await start()
    deployed.active = null
    deployed.hosts.clear()
    r1.lose(r1.only, 'crashed')
    await settled()
    expect(await newest()).toMatchObject({ status: 'error',
      errorJson: expect.stringContaining('no active revision') as string })
  })

  it('takes the one that its caller named', async () => {
    const { r2, start, house } = twoRevisions()
    await start({ plan: { ...house.run().plan, revision: 'r2' } })
    expect(r2.only.execution.attempt).toBe(1)
    await expect(start({ plan: { ...house.run().plan, revision: 'r7' } }, 'y'))
      .rejects.toMatchObject({ code: 'invalid' })
  })

  it('is refused before a revision is active, and on a deployment that is not there', async () => {
    const { start, house, deployed } = twoRevisions()
    deployed.active = null
    await expect(start()).rejects.toMatchObject({ code: 'not_ready' })
    await expect(house.client.startRun('t@other', 'x', house.run()))
      .rejects.toMatchObject({ code: 'not_found' })
  })

  it('of a share goes where the hash of its thread points', async () => {
    const { start, r1, r2, deployed } = twoRevisions()
    deployed.next = { revision: 'r2', percent: 50 }
    for (let i = 0; i < 40; i++) await start({}, `thread ${i}`)
    expect(r1.running.size + r2.running.size).toBe(40)
    const moved = new Set(r2.executions.map(({ threadId }) => threadId))
    expect(moved.size).toBeGreaterThan(8)
    expect(moved.size).toBeLessThan(32)
    for (const host of [r1, r2]) for (const each of [...host.running.values()]) host.end(each)
    await settled()
    deployed.next = { revision: 'r2', percent: 90 }
    for (const threadId of moved) await start({}, threadId)
    expect([...r2.running.values()].map(({ execution }) => execution.threadId))
      .toEqual([...moved])
  })
})

describe('an answer', () => {
  it('goes to the revision that asked if the active one lacks the node', async () => {
    const { r1, r2, start, row, deployed } = await waiting()
    expect((await row()).waitingAt).toEqual({ revision: 'r1', nodes: ['ask'] })
    deployed.active = 'r2'
    await start(answer)
    expect(r1.only.execution.request).toMatchObject({ command: '{"resume":"yes"}' })
    r1.end(r1.only)
    await settled()
    expect((await row()).waitingAt).toBeUndefined()
    await start()
    expect(r2.running.size).toBe(1)
  })

  it('with a key returns its run after all revisions with the next node are gone', async () => {
    const { r1, start, newest, deployed } = await waiting()
    await start({ ...answer, commandId: 'key' })
    await r1.step(r1.only, 'two')
    r1.end(r1.only, asking)
    await settled()
    const { runId } = await newest()
    deployed.active = 'r2'
    deployed.hosts.delete('r1')
    expect(await start({ ...answer, commandId: 'key' })).toMatchObject({ runId })
  })

  it('to one of two interrupts closes that one, also if its revision is gone then', async () => {
    const { r1, start, row, deployed } = twoRevisions()
    const interrupts = { one: [{ id: 'a', value: '?' }], two: [{ id: 'b', value: '?' }] }
    await start()
    await r1.step(r1.only, 'one')
    await r1.interrupt(r1.only, 'one', 'a')
    await r1.interrupt(r1.only, 'two', 'b')
    r1.end(r1.only, { ...asking, interrupts: JSON.stringify(interrupts) })
    await settled()
    await start({ kwargs: { input: null, command: { resume: { a: 'yes' } } } })
    await settled()
    const { only } = r1
    const value = { json: '"x"', form: 0, serialized: undefined } as const
    await only.listener.steps({ events: [],
      steps: [{ $case: 'writes',
        value: { ns: '', checkpointId: only.headId!, taskId: 'one',
          writes: [{ index: 0, channel: 'log', value }] } }] })
    deployed.active = 'r2'
    deployed.hosts.delete('r1')
    r1.lose(only, 'crashed')
    await settled()
    const { status, interruptsJson } = await row()
    expect([status, JSON.parse(interruptsJson)]).toEqual(['error', { two: interrupts.two }])
  })

  it('is refused with 409 if that is gone, and the thread goes on waiting', async () => {
    const { r1, start, row, deployed } = await waiting()
    const before = await row()
    deployed.active = 'r2'
    deployed.hosts.delete('r1')
    await expect(start(answer)).rejects.toMatchObject({ code: 'missing_node', httpStatus: 409,
      message: expect.stringMatching(/"ask" of revision r1/) as string })
    expect(await row()).toEqual(before)
    deployed.hosts.set('r1', r1)
    await start(answer)
    expect(r1.running.size).toBe(1)
  })

  it('that waits in the queue ends as an error then, and the thread goes on waiting', async () => {
    const { r1, start, row, newest, deployed } = await waiting()
    await start(answer)
    await start(answer)
    deployed.active = 'r2'
    deployed.hosts.delete('r1')
    r1.end(r1.only, asking)
    await settled()
    expect(await newest()).toMatchObject({ status: 'error',
      errorJson: expect.stringContaining('ask') as string })
    expect(await row()).toMatchObject({ status: 'interrupted',
      waitingAt: { revision: 'r1', nodes: ['ask'] } })
    deployed.hosts.set('r1', r1)
    await start(answer)
    expect(r1.running.size).toBe(1)
  })

  it('that lost its worker and its revision is refused as well, and the thread waits', async () => {
    const { r1, start, row, newest, deployed } = await waiting()
    const { status, interruptsJson, waitingAt } = await row()
    await start(answer)
    const lost = r1.only
    deployed.active = 'r2'
    deployed.hosts.delete('r1')
    r1.lose(lost, 'crashed')
    await settled()
    expect(await newest()).toMatchObject({ status: 'error',
      errorJson: expect.stringContaining('ask') as string })
    expect(await row()).toMatchObject({ status, interruptsJson, waitingAt })
  })

  it('is still known to wait after a restart, in a copy, and after a cancelled try', async () => {
    const { house, r1, r2, start, deployed } = await waiting()
    const { row: { threadId: copy } } = await house.client.copy(shop, 'x')
    deployed.active = 'r2'
    await start(answer)
    const { runId } = r1.only.execution
    await house.client.cancelRun(shop, 'x', runId, { action: 'interrupt' })
    house.restart()
    await start(answer)
    await start(answer, copy)
    await settled()
    expect([...r1.running.values()].map(({ execution }) => execution.threadId))
      .toEqual(['x', copy])
    expect(r2.executions).toEqual([])
  })

  it('waits again after a rollback of the run that used it', async () => {
    const { house, r1, start, row, deployed } = await waiting()
    await start(answer)
    await r1.step(r1.only, 'two')
    const { runId } = r1.only.execution
    deployed.active = 'r2'
    await house.client.cancelRun(shop, 'x', runId, { action: 'rollback' })
    expect(await row()).toMatchObject({ waitingAt: { revision: 'r1', nodes: ['ask'] } })
    expect(deployed.ends).toEqual(['r1 success', 'r1 rollback'])
    await start(answer)
    expect(r1.running.size).toBe(1)
  })

  it('is not what new input is: that takes the active revision', async () => {
    const { r2, start, deployed } = await waiting()
    deployed.active = 'r2'
    await start()
    expect(r2.running.size).toBe(1)
  })
})

it('The state of a thread that waits is read with the revision its next run would take.',
  async () => {
    const { house, r1, r2, deployed } = await waiting()
    deployed.active = 'r2'
    const asked: string[] = []
    r1.ask = () => (asked.push('r1'), Promise.resolve([]))
    r2.ask = () => (asked.push('r2'), Promise.resolve([]))
    const state = () =>
      house.client.state(shop, 'x', { checkpointId: null, checkpointNs: '', subgraphs: false })
    await state()
    deployed.hosts.delete('r1')
    await state()
    expect(asked).toEqual(['r1', 'r2'])
  })

describe('an edit of the state', () => {
  const update = { values: '{"log":["edit"]}', command: null, asNode: null }

  it('is worked out by the revision of the next run, and says where the thread waits then',
    async () => {
      const { house, r1, row, deployed } = await waiting()
      deployed.active = 'r2'
      const edited = house.client.updateState(shop, 'x', { update, checkpoint: null })
      await settled()
      await r1.step(r1.only, 'edit')
      r1.end(r1.only, { waiting: true, waitsAt: ['end'] })
      await edited
      expect((await row()).waitingAt).toEqual({ revision: 'r1', nodes: ['end'] })
    })

  it('leads a thread away from a node that no revision has any more', async () => {
    const { house, r2, start, row, deployed } = await waiting()
    deployed.active = 'r2'
    deployed.hosts.delete('r1')
    const edited = house.client.updateState(shop, 'x', { update, checkpoint: null })
    await settled()
    await r2.step(r2.only, 'edit')
    r2.end(r2.only, { waiting: true, waitsAt: ['confirm'] })
    await edited
    expect((await row()).waitingAt).toEqual({ revision: 'r2', nodes: ['confirm'] })
    await start(answer)
    expect(r2.running.size).toBe(1)
  })

  it('is refused if no revision can be loaded', async () => {
    const { house, deployed } = await waiting()
    deployed.hosts.clear()
    await expect(house.client.updateState(shop, 'x', { update, checkpoint: null }))
      .rejects.toMatchObject({ code: 'graph_failed' })
  })
})

it('Runs of the server’s own project are written as before, and take nothing of deployments.',
  async () => {
    const { house, deployed } = twoRevisions()
    await house.startRun('x')
    await house.host.step(house.host.only, 'one')
    house.host.end(house.host.only, asking)
    await settled()
    const { row } = await house.client.get('t', 'x')
    expect(row.waitingAt).toBeUndefined()
    const entries = await house.log.read(row.branch!, { from: 1, through: row.seq })
    const records = entries.flatMap(({ body }) => decodeRow(body))
    expect(records.some(({ $case }) => $case === 'runStarted')).toBe(true)
    expect(JSON.stringify(records)).not.toMatch(/"(?:revision|waitingAt)":/)
    expect(deployed.ends).toEqual([])
  })
