/**
 * A server locks its data, ends quickly, and lets commands look at it. After it was killed and
 * restarted every answer is the same, quotas hold, and what was under way goes on.
 */

import { randomBytes, randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'

import { heddle, heddleProcess } from '../support/command.ts'
import { openReceiver } from '../support/receiver.ts'
import type { Receiver } from '../support/receiver.ts'
import { isNight } from '../support/repeats.ts'
import { say } from '../support/run-events.ts'
import { failToStart } from '../support/server-process.ts'
import { clientOf, useServer } from '../support/server.ts'
import { tookMs } from '../support/stillness.ts'
import { ask } from '../support/wire.ts'

const delayedMax = 2
const folder = mkdtempSync(join(tmpdir(), 'heddle-restart-'))
const secretsKey = join(folder, 'secrets-key')
writeFileSync(secretsKey, randomBytes(32))
const server = useServer({ project: 'conformance',
  args: ['--egress-allow', '127.0.0.1', '--quota-delayed-runs', `${delayedMax}`, '--billing', 'on',
    '--secrets-key', secretsKey] })
afterAll(() => rmSync(folder, { recursive: true }))

const input = (graphId: string): Record<string, unknown> => ({
  ...graphId === 'echo' || graphId === 'tokens' ? say('hello') : {},
  ...graphId === 'counter' ? { by: 2 } : {},
  ...graphId === 'fanout' ? { words: ['a', 'b'] } : {},
  ...graphId === 'inplace' ? { cards: [{ title: 't', marks: 0 }] } : {},
  ...graphId === 'jump' ? { topic: 'left' } : {},
  ...['steps', 'nested', 'nestedask', 'failing'].includes(graphId) ? { topic: 't' } : {},
  ...graphId.startsWith('ask') ? { question: 'q' } : {},
})

/** By night also those whose states others have among theirs. */
const graphs = ['counter', 'failing', 'fanout', 'jump', 'askboth', 'nestedask', 'rich', 'inplace',
  ...isNight ? ['echo', 'tokens', 'steps', 'ask', 'nested'] : []]

/** Everything that the API shows of a thread. */
async function everythingOf(threadId: string) {
  const { runs, threads } = clientOf(server.url)
  const history = await threads.getHistory(threadId, { limit: 1_000 })
  return {
    thread: await threads.get(threadId),
    state: await threads.getState(threadId),
    deep: await threads.getState(threadId, undefined, { subgraphs: true }),
    history,
    old: await threads.getState(threadId, history.at(-1)!.checkpoint),
    runs: await runs.list(threadId, { limit: 1_000 }),
  }
}

/** Everything that the API shows besides threads. */
async function recordsOf(assistantId: string) {
  const { assistants, threads } = clientOf(server.url)
  return {
    one: await assistants.get(assistantId),
    versions: await assistants.getVersions(assistantId),
    all: await assistants.search({ limit: 1_000, sortBy: 'assistant_id', sortOrder: 'asc' }),
    threads: await threads.search({ limit: 1_000, sortBy: 'created_at', sortOrder: 'asc' }),
    waiting: await threads.count({ status: 'interrupted' }),
  }
}

/** A copy at a checkpoint that others follow. */
async function copyInTheMiddle(id: string): Promise<string> {
  const states = await server.client.threads.getHistory(id, { limit: 1_000 })
  const { checkpoint_id } = states[Math.floor(states.length / 2)]!.checkpoint
  const { body } = await ask(server.url, 'POST', `/threads/${id}/copy`, { checkpoint_id })
  return (body as { thread_id: string }).thread_id
}

/**
 * By graph: a thread, a copy of it with further runs, one as it was at a checkpoint, and what was
 * shown of them before.
 */
const seen = new Map<string, { readonly ids: readonly string[]; readonly before: unknown }>()
/** A deletion of traces that was under way. */
let deletion: { readonly id: string; readonly session: string }

/** Roots, all but one of which are asked to be deleted. */
async function deletionUnderWay(): Promise<typeof deletion> {
  const send = (path: string, body: object) => ask(server.url, 'POST', `/api/v1${path}`, body)
  const { body } = await send('/sessions', { name: 'half deleted' })
  const { id: session } = body as { readonly id: string }
  const post = Array.from({ length: 2_000 }, (_, at) => {
    const id = randomUUID()
    return { id, trace_id: id, name: at === 1_000 ? 'kept' : 'gone', run_type: 'chain',
      session_id: session, start_time: 1_764_187_200_000 + at,
      dotted_order: `20251126T200000000000Z${id}`, inputs: {} }
  })
  expect((await send('/runs/batch', { post, patch: [] })).status).toBe(202)
  const answer = await send('/bulk-deletions', { session: [session], filter: 'eq(name, "gone")' })
  expect(answer.status).toBe(202)
  return { id: (answer.body as { readonly id: string }).id, session }
}

/** A webhook whose receiver hangs when the server is killed. */
let webhook: { readonly receiver: Receiver; readonly values: unknown }
let answersWebhooks = false
/** How often it was sent before. */
let sentBefore: number

async function hangingWebhook(): Promise<typeof webhook> {
  const receiver = await openReceiver((_, response) => {
    if (answersWebhooks) response.end()
  })
  const { runs, threads } = server.client
  const { thread_id: id } = await threads.create()
  const values = await runs.wait(id, 'echo', { input: say('a'), webhook: receiver.url })
  await receiver.arrived(1)
  return { receiver, values }
}

/** A run that is not due within this test. */
const delay = async (id: string) =>
  await ask(server.url, 'POST', `/threads/${id}/runs`, { assistant_id: 'echo', input: say('x'),
    after_seconds: 3_600 })

/** A thread with as many delayed runs as its tenant may have. */
async function fullOfDelayed(): Promise<string> {
  const { thread_id: id } = await server.client.threads.create()
  for (let n = 0; n < delayedMax; n += 1) expect((await delay(id)).status).toBe(200)
  return id
}

let records: { readonly assistantId: string; readonly before: unknown }
let delayed: string
/** What the first server printed, and how a second one with its data ended meanwhile. */
let printed: string
let second: Awaited<ReturnType<typeof failToStart>>
let restartMs: number

beforeAll(async () => {
  const { assistants, runs, threads } = server.client
  await Promise.all(graphs.map(async (graphId) => {
    const payload = { input: input(graphId), raiseError: false }
    const { thread_id: id } = await threads.create({ metadata: { graphId } })
    for (let n = 0; n < 2; n += 1) await runs.wait(id, graphId, payload)
    const { thread_id: copy } = await threads.copy(id)
    await runs.wait(copy, graphId, payload)
    const ids = [id, copy, await copyInTheMiddle(id)]
    seen.set(graphId, { ids, before: await Promise.all(ids.map(everythingOf)) })
  }))
  const { assistant_id: assistantId } = await assistants.create(
    { graphId: 'echo', context: { model_name: 'v1' } },
  )
  await assistants.update(assistantId, { context: { model_name: 'v2' } })
  await assistants.setLatest(assistantId, 1)
  delayed = await fullOfDelayed()
  webhook = await hangingWebhook()
  records = { assistantId, before: await recordsOf(assistantId) }
  second = await failToStart({ project: 'conformance', dataDir: server.process.dataDir })
  printed = server.process.output()
  deletion = await deletionUnderWay()
  await server.process.kill('SIGKILL')
  sentBefore = webhook.receiver.received.length
  answersWebhooks = true
  const began = performance.now()
  await server.process.restart()
  restartMs = tookMs(began)
})
afterAll(() => webhook?.receiver.close())

describe('a server', () => {
  it('prints what is loaded', () => {
    expect(printed).toContain(server.url)
    expect(printed).toContain('echo')
  })

  it('locks its data', () => {
    expect(second.code).toBeOneOf([1, 2])
    expect(second.output).toContain(server.process.dataDir)
    expect(second.output).not.toMatch(/\n\s+at /)
  })
})

describe('after a restart', () => {
  it('assistants, searches and counts are as they were', async () => {
    expect(await recordsOf(records.assistantId)).toEqual(records.before)
  })

  it('a deletion of traces goes on to its end', async () => {
    const { id, session } = deletion
    await vi.waitFor(async () => {
      const { body } = await ask(server.url, 'GET', `/api/v1/bulk-deletions/${id}`)
      expect(body).toMatchObject({ status: 'Completed' })
    }, { timeout: 60_000, interval: 50 })
    const { body } = await ask(server.url, 'POST', '/api/v1/runs/query', { session: [session],
      select: ['name'] })
    expect((body as { readonly runs: readonly object[] }).runs).toMatchObject([{ name: 'kept' }])
  })

  it('a webhook that hung is sent, as the same delivery', async () => {
    const { receiver, values } = webhook
    await receiver.arrived(sentBefore + 1)
    const sent = receiver.received.map(({ headers, body }) => ({
      id: headers['x-heddle-delivery'],
      run: JSON.parse(body) as { values: unknown },
    }))
    expect(sent.at(-1)).toMatchObject({ id: sent[0]!.id, run: { values } })
  })

  it('a quota of delayed runs counts those from before', async () => {
    expect(await delay(delayed)).toMatchObject({ status: 429,
      body: { quota: { name: 'delayed_runs', limit: delayedMax } } })
  })

  it.each(graphs)('a thread of the graph %s and its copy are as they were', async (graphId) => {
    const { ids, before } = seen.get(graphId)!
    expect(await Promise.all(ids.map(everythingOf))).toEqual(before)
  })

  it.each(graphs)('a thread of the graph %s continues', async (graphId) => {
    const { runs } = server.client
    const [id] = seen.get(graphId)!.ids
    await runs.wait(id!, graphId, { input: input(graphId), raiseError: false })
    expect(await runs.list(id!)).toHaveLength(3)
  })
})

it('Commands find what the server beside them has.', async () => {
  const { runs, threads } = server.client
  const here = ['--data', server.process.dataDir, '--json']
  const { thread_id: threadId } = await threads.create()
  const { run_id: runId } = await runs.create(threadId, 'echo', { input: say('billed') })
  await runs.join(threadId, runId)
  const { updated_at: endedAt } = await runs.get(threadId, runId)
  const day = new Date(endedAt).toISOString().slice(0, 10)
  await ask(server.url, 'POST', '/api/v1/workspaces/current/secrets', [{ key: 'ONE',
    value: 'sk-one' }])
  const billed = await heddle('billing', '--tenant', 'local', '--day', day, ...here)
  expect(JSON.parse(billed.stdout)).toContainEqual({ tenant: 'local', day, runId, threadId,
    graphId: 'echo', assistantId: expect.any(String), status: 'success',
    startedMs: expect.any(Number), endedMs: Date.parse(endedAt) })
  const { stdout } = await heddle('secrets', 'check', '--secrets-key', secretsKey, ...here)
  expect(JSON.parse(stdout)).toMatchObject({ stored: 1, unopened: 0 })
  expect(
    await heddleProcess('keys', 'create', '--tenant', 'acme', '--data', server.process.dataDir),
  )
    .toMatchObject({ status: 0, stdout: expect.stringMatching(/^hdl_us_[\w-]+\n$/) })
})

// The last one: the server is gone then.
it('A server ends quickly when it is interrupted.', async () => {
  const began = performance.now()
  expect(await server.process.kill('SIGINT')).toEqual({ code: 0, signal: null })
  expect(tookMs(began)).toBeLessThan(Math.max(3_000, restartMs))
})
