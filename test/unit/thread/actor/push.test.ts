/** Push notifications of tasks: owed with the end of a run, and sent until they are settled. */

import { describe, expect, it } from 'vitest'

import type { PushConfig } from '../../../../proto/gen/storage/v1/push.ts'
import { HeddleError } from '../../../../src/errors.ts'
import type { StartRun } from '../../../../src/thread/index.ts'
import { received } from '../../../support/scripted-egress.ts'
import { settled, ThreadHouse } from '../../../support/thread-house.ts'

const config = (change: Partial<PushConfig> = {}): PushConfig => ({ taskId: '', id: 'one',
  url: 'https://example.org/hook', token: 'tok', scheme: 'Bearer', credentials: 'sec',
  dialect: '1.0', ...change })

const watched = (house: ThreadHouse, change: Partial<StartRun> = {}): StartRun =>
  house.run({ push: config(), ...change })

const rowOf = async (house: ThreadHouse) => (await house.tables.threads.get('t', 'x'))!

/** Starts a run and ends it, perhaps with a question. */
async function ended(house: ThreadHouse, run: StartRun, asked?: string): Promise<string> {
  await house.client.startRun('t', 'x', run)
  const execution = house.host.only
  await house.host.step(execution, run.runId)
  house.host.end(execution, asked === undefined
    ? {}
    : { waiting: true, interrupts: JSON.stringify({ t: [{ id: 'i', value: asked }] }) })
  await settled()
  return run.runId
}

describe('a push notification', () => {
  it('is sent when the task has ended, with the token and the credentials of its client',
    async () => {
      const house = new ThreadHouse()
      const id = await ended(house, watched(house))
      const [sent] = house.egress.sent
      expect(sent!.call).toMatchObject({ url: 'https://example.org/hook', headers: {
        'content-type': 'application/a2a+json',
        'x-a2a-notification-token': 'tok',
        authorization: 'Bearer sec',
        'x-heddle-delivery': `${id}/one`,
      } })
      expect(await sent!.body()).toMatchObject({ task: id, run: id, isGivenUp: false })
      sent!.end(received)
      await settled()
      const row = await rowOf(house)
      expect([row.owedWebhooks, row.push]).toEqual([[], undefined])
    })

  it('is sent by the next owner if this one is killed', async () => {
    const house = new ThreadHouse()
    const id = await ended(house, watched(house))
    expect(house.egress.sent).toHaveLength(1)
    house.restart()
    await house.client.get('t', 'x')
    await settled()
    expect(house.egress.sent).toHaveLength(1)
    expect(await house.egress.sent[0]!.body()).toMatchObject({ task: id })
  })

  it('is sent for a task that waits when another run starts, not while that run is delayed',
    async () => {
      const house = new ThreadHouse()
      const first = await ended(house, watched(house), 'sure?')
      house.egress.sent[0]!.end(received)
      await settled()
      await house.client.startRun('t', 'x', house.run({ afterMs: 60_000 }))
      await settled()
      expect(house.egress.sent).toHaveLength(1)
      expect((await rowOf(house)).push).toMatchObject({ waitingTaskId: first })
      house.env.advance(60_000)
      await settled()
      expect(await house.egress.sent[1]!.body()).toMatchObject({ run: first, isGivenUp: true })
    })

  it('comes at the question and at the end of the answer, which is another run', async () => {
    const house = new ThreadHouse()
    const first = await ended(house, watched(house), 'sure?')
    house.egress.sent[0]!.end(received)
    await settled()
    expect((await rowOf(house)).push).toMatchObject({ waitingRunId: first,
      configs: [{ taskId: first }] })
    const next = house.run()
    const answer = await ended(house, { ...next, plan: { ...next.plan, task: first } })
    const [, sent] = house.egress.sent
    expect(await sent!.body()).toMatchObject({ task: first, run: answer, isGivenUp: false })
    sent!.end(received)
    await settled()
    expect((await rowOf(house)).push).toBeUndefined()
  })

  it.each(['fails', 'is cancelled'])(
    'says that a task waits again after its resume %s, and then that it has ended',
    async (how) => {
      const house = new ThreadHouse()
      const first = await ended(house, house.run(), 'sure?')
      const set = (runId: string) =>
        house.client.changePush('t', 'x', { kind: 'set', taskId: first, runId,
          config: config({ taskId: first }) })
      await set(first)
      const plan = { ...house.run().plan, task: first }
      const kwargs = { input: null, command: { resume: 'yes' } }
      const next = { ...house.run(), plan, kwargs }
      await house.client.startRun('t', 'x', next)
      if (how === 'fails') house.host.end(house.host.only, { status: 'error' })
      else await house.client.cancelRun('t', 'x', next.runId, { action: 'interrupt' })
      await settled()
      expect(await house.egress.sent.at(-1)!.body())
        .toMatchObject({ task: first, run: next.runId, asks: [{ id: 'i', value: 'sure?' }] })
      house.egress.sent.at(-1)!.end(received)
      await settled()
      expect((await rowOf(house)).push).toMatchObject({ waitingRunId: next.runId,
        waitingTaskId: first })
      await set(next.runId)
      const last = await ended(house, { ...house.run(), plan, kwargs })
      const { asks, ...body } = await house.egress.sent.at(-1)!.body() as { asks?: unknown }
      expect([asks, body]).toMatchObject([undefined, { task: first, run: last }])
      house.egress.sent.at(-1)!.end(received)
      await settled()
      expect((await rowOf(house)).push).toBeUndefined()
      await expect(set(last)).rejects.toMatchObject({ code: 'rejected' })
    },
  )

  it('says that a task is cancelled whose context goes on without an answer', async () => {
    const house = new ThreadHouse()
    const first = await ended(house, watched(house), 'sure?')
    house.egress.sent[0]!.end(received)
    await settled()
    await house.client.startRun('t', 'x', house.run())
    await settled()
    expect(await house.egress.sent[1]!.body()).toMatchObject({ run: first, isGivenUp: true })
    house.egress.sent[1]!.end(received)
    await settled()
    expect((await rowOf(house)).push).toBeUndefined()
  })

  it('is sent once to the one that is left if another is removed', async () => {
    const house = new ThreadHouse()
    const run = watched(house)
    await house.client.startRun('t', 'x', run)
    const { runId: taskId } = run
    const set = (change: Partial<PushConfig>) =>
      house.client.changePush('t', 'x', { kind: 'set', taskId, runId: taskId,
        config: config({ taskId, ...change }) })
    for (const id of ['two', 'three', 'four', 'five']) await set({ id })
    await expect(set({ id: 'six' })).rejects.toMatchObject({ code: 'invalid' })
    for (const id of ['one', 'two', 'three', 'five', 'never'])
      await house.client.changePush('t', 'x', { kind: 'remove', taskId, id })
    await house.host.step(house.host.only, 'one')
    house.host.end(house.host.only)
    await settled()
    expect(house.egress.sent.map(({ call }) => call.headers?.['x-heddle-delivery']))
      .toEqual([`${taskId}/four`])
    await expect(set({ id: 'late' })).rejects.toMatchObject({ code: 'rejected' })
  })

  it('is sent once, also if the body for another address cannot be read yet', async () => {
    const house = new ThreadHouse()
    const run = watched(house)
    const webhook = 'https://other.example/hook'
    const id = await ended(house, { ...run, plan: { ...run.plan, webhook } })
    const [hook, push] = house.egress.sent
    const read = house.log.read.bind(house.log)
    house.log.read = () => Promise.reject(new HeddleError('unavailable', 'the store is away'))
    await expect(hook!.body()).rejects.toThrow('away')
    hook!.end({ kind: 'failed', reason: 'the store is away' })
    await settled()
    house.log.read = read
    house.env.advance(5_000)
    await settled()
    expect(house.egress.sent.map(({ call }) => call.url))
      .toEqual([webhook, 'https://example.org/hook', webhook])
    push!.end(received)
    await settled()
    expect((await rowOf(house)).owedWebhooks).toEqual([id])
    house.egress.sent[2]!.end({ kind: 'failed', reason: 'nobody is there' })
    await settled()
    expect((await rowOf(house)).owedWebhooks).toEqual([])
  })

  it('is not sent for a run that is deleted, nor kept for it', async () => {
    const house = new ThreadHouse()
    const id = await ended(house, watched(house))
    await house.client.deleteRun('t', 'x', id)
    await settled()
    const row = await rowOf(house)
    expect([row.owedWebhooks, row.push]).toEqual([[], undefined])
    await expect(house.egress.sent[0]!.body()).resolves.toBeUndefined()
  })
})

describe('a task that was canceled while it asked', () => {
  it('is not resumed by a run that was on its way', async () => {
    const house = new ThreadHouse()
    const first = await ended(house, house.run())
    const task = await ended(house, house.run(), 'sure?')
    const run = house.run({ resumeOnly: true, kwargs: { input: null, command: { resume: 1 } } })
    const answer = { ...run, plan: { ...run.plan, task } }
    await house.client.patch('t', 'x', { a2a_canceled_run_id: task })
    await expect(house.client.startRun('t', 'x', answer)).rejects.toMatchObject({ code: 'invalid' })
    await house.client.patch('t', 'x', { a2a_canceled_run_id: first })
    const error = await house.client.startRun('t', 'x', answer).catch((caught: unknown) => caught)
    expect(error).not.toMatchObject({ message: `Task ${task} was canceled.` })
  })
})
