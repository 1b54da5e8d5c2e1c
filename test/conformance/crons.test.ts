/** Crons through the official client: create, read, change, find, count and delete them. */

import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { say } from '../support/run-events.ts'
import { useServer } from '../support/server.ts'
import { ask, messageOf } from '../support/wire.ts'

const server = useServer()
/** Once a year, so that it is not due while the test runs. */
const yearly = '0 0 1 1 *'
const hour = 60 * 60 * 1_000

/** A time as the server writes it. */
const timeAt = (ms: number) => new Date(ms).toISOString().replace('Z', '+00:00')
const newYearMs = Date.UTC(new Date().getUTCFullYear() + 1, 0, 1)

describe('a cron', () => {
  it('has all that it was made with, and is due in its zone', async () => {
    const { client } = server
    const end = timeAt(Date.now() + 400 * 24 * hour)
    const made = await client.crons.create('echo', { schedule: yearly, timezone: 'Europe/Paris',
      input: say('hi'), metadata: { team: 'north' }, endTime: end, onRunCompleted: 'keep',
      streamMode: ['values'], durability: 'sync' }) as unknown as Record<string, unknown>
    expect(made).toEqual({
      cron_id: expect.any(String),
      assistant_id: expect.stringMatching(/^[\da-f-]{36}$/),
      thread_id: null,
      on_run_completed: 'keep',
      end_time: end,
      schedule: yearly,
      timezone: 'Europe/Paris',
      created_at: expect.any(String),
      updated_at: made['created_at'],
      payload: { assistant_id: made['assistant_id'], input: say('hi'), metadata: { team: 'north' },
        stream_mode: ['values'], durability: 'sync' },
      user_id: null,
      next_run_date: timeAt(newYearMs - hour),
      metadata: { team: 'north' },
      enabled: true,
    })
    const got = await ask(server.url, 'GET', `/runs/crons/${made['cron_id'] as string}`)
    expect(got.body).toEqual(made)
  })

  it('changes as asked: what is absent stays, null clears the end, metadata merges', async () => {
    const { client } = server
    const { thread_id: threadId } = await client.threads.create()
    const end = timeAt(Date.now() + 9_000 * hour)
    const made = await client.crons.createForThread(threadId, 'echo', { schedule: yearly,
      input: say('hi'), metadata: { a: 1 }, endTime: end }) as unknown as { cron_id: string }
    expect(made).toMatchObject({ thread_id: threadId, end_time: end,
      next_run_date: timeAt(newYearMs) })
    const { cron_id: id } = made
    expect(await client.crons.update(id, { metadata: { b: 2 }, input: say('ho') })).toMatchObject({
      metadata: { a: 1, b: 2 },
      payload: { input: say('ho') },
      end_time: end,
      schedule: yearly,
      next_run_date: timeAt(newYearMs),
    })
    expect(await client.crons.update(id, { endTime: null, timezone: 'Asia/Tokyo' }))
      .toMatchObject({ end_time: null, timezone: 'Asia/Tokyo',
        next_run_date: timeAt(newYearMs - 9 * hour) })
    expect(await client.crons.update(id, { enabled: false }))
      .toMatchObject({ enabled: false, next_run_date: null, payload: { input: say('ho') } })
    expect(await client.crons.update(id, { enabled: true, schedule: '0 0 2 1 *' }))
      .toMatchObject({ enabled: true, schedule: '0 0 2 1 *',
        next_run_date: expect.stringMatching(/-01-01T15:00/) })
  })

  it('is found by assistant, thread, metadata and state, in pages and sorted', async () => {
    const { client, url } = server
    const mark = randomUUID()
    const { assistant_id: assistantId } = await client.assistants.create({ graphId: 'echo' })
    const make = (schedule: string, enabled = true) =>
      client.crons.create(assistantId, { schedule, metadata: { mark }, enabled })
    await make('0 0 1 3 *')
    await make('0 0 1 2 *', false)
    await make('0 0 1 4 *')
    const body = { metadata: { mark }, sort_by: 'next_run_date', sort_order: 'asc', limit: 2,
      select: ['schedule', 'now'] }
    const page = await ask(url, 'POST', '/runs/crons/search', body)
    const now = expect.stringMatching(/^\d{4}-/)
    expect(page.body).toEqual([{ schedule: '0 0 1 2 *', now }, {
      schedule: expect.stringMatching(/1 [34] /),
      now,
    }])
    expect(page.headers.get('x-pagination-total')).toBe('3')
    expect(page.headers.get('x-pagination-next')).toBe('2')
    expect(await client.crons.search({ assistantId, enabled: false })).toHaveLength(1)
    expect(await client.crons.count({ assistantId })).toBe(3)
    expect(await client.crons.count({ metadata: { mark: 'other' } })).toBe(0)
    expect(await client.crons.search({ threadId: randomUUID() })).toEqual([])
  })

  it('is gone when it, its thread or its assistant is deleted', async () => {
    const { client, url } = server
    const { thread_id: threadId } = await client.threads.create()
    const { assistant_id: assistantId } = await client.assistants.create({ graphId: 'echo' })
    const ofThread = await client.crons.createForThread(threadId, 'echo', { schedule: yearly })
    const ofAssistant = await client.crons.create(assistantId, { schedule: yearly })
    const alone = await client.crons.create('echo', { schedule: yearly })
    const [threadCron, assistantCron, ownCron] = [ofThread, ofAssistant, alone]
      .map((cron) => (cron as unknown as { cron_id: string }).cron_id) as [string, string, string]
    await client.threads.delete(threadId)
    await client.assistants.delete(assistantId)
    await client.crons.delete(ownCron)
    for (const id of [threadCron, assistantCron, ownCron]) {
      expect((await ask(url, 'GET', `/runs/crons/${id}`)).status).toBe(404)
      expect((await ask(url, 'DELETE', `/runs/crons/${id}`)).status).toBe(404)
    }
  })

  it('is made once by requests with the same key', async () => {
    const body = { assistant_id: 'echo', schedule: yearly }
    const make = (key: string) =>
      ask(server.url, 'POST', '/runs/crons', body, { 'idempotency-key': key })
    const key = randomUUID()
    const [first, again, other] = [await make(key), await make(key), await make(randomUUID())]
    expect(again.body).toEqual(first.body)
    expect((other.body as { cron_id: string }).cron_id)
      .not.toBe((first.body as { cron_id: string }).cron_id)
  })

  it('says its next times before it is made, and what is wrong with a schedule', async () => {
    const preview = (body: object) => ask(server.url, 'POST', '/runs/crons/preview', body)
    const answer = await preview({ schedule: yearly, timezone: 'Europe/Paris', count: 2 })
    expect(answer.body).toEqual({ times: [timeAt(newYearMs - hour), expect.any(String)] })
    expect((await preview({ schedule: '* * * * *' })).body)
      .toEqual({ times: Array.from({ length: 5 }, () => expect.any(String)) })
    const wrong = await preview({ schedule: '61 * * * *' })
    expect([wrong.status, messageOf(wrong)]).toEqual([422,
      expect.stringMatching(/schedule: cannot/)])
    expect((await preview({ schedule: yearly, timezone: 'Mars/Olympus' })).status).toBe(422)
    expect((await preview({ schedule: yearly, count: 21 })).status).toBe(422)
  })

  it.each(['keep', 'delete'] as const)('runs now, at no due time, and knows that run: %s',
    async (onRunCompleted) => {
      const { client, url } = server
      const made = await client.crons.create('echo', { schedule: yearly, input: say('now'),
        onRunCompleted, enabled: false }) as unknown as { cron_id: string; next_run_date: string }
      const { cron_id: id } = made
      const lastRun = async () =>
        (await ask(url, 'POST', '/runs/crons/last-runs', {
          cron_ids: [id, id, randomUUID()],
        })).body
      expect(await lastRun()).toEqual([])
      const { body, status } = await ask(url, 'POST', `/runs/crons/${id}/trigger`)
      expect(status).toBe(200)
      const { run_id: run, thread_id: thread } = body as { run_id: string; thread_id: string }
      expect(await lastRun()).toEqual([{ cron_id: id, at: expect.any(String), run_id: run,
        thread_id: thread, reason: null,
        status: expect.toSatisfy((given) =>
          ['pending', 'running', 'success', null].includes(given)
        ) }])
      if (onRunCompleted === 'delete') return
      await client.runs.join(thread, run)
      expect(await lastRun()).toMatchObject([{ run_id: run, status: 'success' }])
      expect(await client.runs.get(thread, run)).toMatchObject({ metadata: { cron_id: id } })
      expect((await ask(url, 'GET', `/runs/crons/${id}`)).body).toMatchObject({ enabled: false,
        next_run_date: null })
    })

  it('runs now on its thread, once for each key', async () => {
    const { client, url } = server
    const { thread_id: threadId } = await client.threads.create()
    const { cron_id: id } = await client.crons.createForThread(threadId, 'echo', {
      schedule: yearly,
      input: say('now'),
    }) as unknown as { cron_id: string }
    const trigger = async () =>
      (await ask(url, 'POST', `/runs/crons/${id}/trigger`, undefined, { 'idempotency-key': 'one' }))
        .body
    const first = await trigger()
    expect(first).toMatchObject({ thread_id: threadId })
    expect(await trigger()).toEqual(first)
    expect(await client.runs.list(threadId)).toHaveLength(1)
  })

  it('is announced by the server', async () => {
    expect((await ask(server.url, 'GET', '/info')).body).toMatchObject({ flags: { crons: true } })
  })
})

describe('a request that no cron can be made of', () => {
  const some = randomUUID()

  it.each([
    ['an unreadable schedule', { schedule: 'every day' }, /schedule: must have five fields/],
    ['a wrong field', { schedule: '61 * * * *' }, /schedule: cannot be read/],
    ['seconds', { schedule: '*/5 * * * * *' }, /schedule: must have five fields/],
    ['a nickname', { schedule: '@daily' }, /schedule: must have five fields/],
    ['a day that never comes', { schedule: '0 0 30 2 *' }, /schedule: is never due/],
    ['a very long schedule', { schedule: `0${',0'.repeat(500)} * * * *` }, /longer than 256/],
    ['no schedule', { schedule: undefined }, /schedule: is required/],
    ['an unknown zone', { timezone: 'Mars/Olympus' }, /timezone: must be the IANA name/],
    ['an end in the past', { end_time: '2020-01-01T00:00:00Z' }, /end_time: must not be in the/],
    ['an unreadable end', { end_time: 'soon' }, /end_time: must be an ISO 8601 time/],
    ['a wrong completion', { on_run_completed: 'maybe' }, /on_run_completed/],
    ['a node that is not there', { interrupt_before: ['nowhere'] }, /interrupt_before/],
    ['a webhook to this machine', { webhook: 'ftp://x' }, /webhook/],
    ['metadata that is too long', { metadata: { a: 'x'.repeat(70_000) } }, /metadata/],
  ])('%s is refused with 422', async (_, fault, message) => {
    const body = { assistant_id: 'echo', schedule: yearly, ...fault }
    const answer = await ask(server.url, 'POST', '/runs/crons', body)
    expect(messageOf(answer)).toMatch(message)
    expect(answer.status).toBe(422)
  })

  it('names an assistant or a thread that is not there: 404', async () => {
    const { url } = server
    const body = { assistant_id: some, schedule: yearly }
    expect((await ask(url, 'POST', '/runs/crons', body)).status).toBe(404)
    expect(
      (await ask(url, 'POST', `/threads/${some}/runs/crons`, { ...body, assistant_id: 'echo' }))
        .status,
    ).toBe(404)
    expect((await ask(url, 'PATCH', `/runs/crons/${some}`, { enabled: false })).status).toBe(404)
    expect((await ask(url, 'POST', `/runs/crons/${some}/trigger`)).status).toBe(404)
  })

  it('is too long: 413', async () => {
    const body = { assistant_id: 'echo', schedule: yearly, input: { text: 'x'.repeat(1_100_000) } }
    expect((await ask(server.url, 'POST', '/runs/crons', body)).status).toBe(413)
  })

  it('changes nothing of a cron', async () => {
    const { client, url } = server
    const cron = await client.crons.create('echo', { schedule: yearly }) as unknown as {
      cron_id: string
    }
    for (const wrong of [{ schedule: 'x' }, { timezone: 'x' }, { end_time: '1999-01-01' }, {
      interrupt_after: ['nowhere'],
    }]) {
      expect((await ask(url, 'PATCH', `/runs/crons/${cron.cron_id}`, wrong)).status).toBe(422)
    }
    expect((await ask(url, 'GET', `/runs/crons/${cron.cron_id}`)).body).toEqual(cron)
  })
})
