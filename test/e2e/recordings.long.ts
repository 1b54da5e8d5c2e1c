/** Recorded calls of runs: kept as they were, without secrets, and gone with their thread. */

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'

import type { RunCallBodies, RunCalls } from '../../src/api/index.ts'
import { openCallStub } from '../support/call-stub.ts'
import type { CallStub } from '../support/call-stub.ts'
import { eventually } from '../support/eventually.ts'
import { clientOf } from '../support/server.ts'
import { oneWorker, startServer } from '../support/server-process.ts'
import type { ServerProcess } from '../support/server-process.ts'
import { ask } from '../support/wire.ts'

const secret = 'canary-8f2c61d09b7e'

let stub: CallStub
let server: ServerProcess

beforeAll(async () => {
  stub = await openCallStub()
  server = await startServer({ project: 'recorded', args: oneWorker, env: { BANK_KEY: secret } })
}, 240_000)
afterAll(async () => {
  await server.close()
  stub.close()
})

type Wanted = Readonly<Record<string, unknown>> & { readonly url: string }

async function ran(...calls: readonly Wanted[]): Promise<string> {
  const { threads, runs } = clientOf(server.url)
  const { thread_id: id } = await threads.create()
  await runs.wait(id, 'caller', { input: { calls } })
  const [run] = await runs.list(id)
  return `/threads/${id}/runs/${run!.run_id}/calls`
}

async function callsAt(path: string): Promise<RunCalls> {
  const { status, body } = await ask(server.url, 'GET', path)
  expect(status).toBe(200)
  return body as RunCalls
}

/** The calls once they are written, which no run waits for. */
const recorded = (path: string, count: number): Promise<RunCalls> =>
  eventually(async () => {
    const found = await callsAt(path)
    expect(found.calls).toHaveLength(count)
    return found
  })

const bodiesAt = async (path: string, no: number) =>
  (await ask(server.url, 'GET', `${path}/${no}`)).body as RunCallBodies

/** All bytes of the data folder, as one text. */
function filesOf({ dataDir }: ServerProcess): string {
  return readdirSync(dataDir, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => readFileSync(join(parentPath, name), 'latin1')).join('\n')
}

it('JSON, streams, compression, and both doors are kept with their site and bodies.', async () => {
  const path = await ran({ url: `${stub.url}/echo`, body: '{"a":1}' }, {
    url: `${stub.url}/pieces`,
  }, { url: `${stub.url}/gzip` }, { url: `${stub.url}/plain`, by: 'http' })
  const { is_cut: isCut, calls } = await recorded(path, 4)
  expect(isCut).toBe(false)
  expect(
    calls.map((
      { no, method, status, end, client, ordinal },
    ) => [no, method, status, end, client, ordinal]),
  ).toEqual([
    [0, 'POST', 200, 'done', 'fetch', 0],
    [1, 'GET', 200, 'done', 'fetch', 1],
    [2, 'GET', 200, 'done', 'fetch', 2],
    [3, 'GET', 200, 'done', 'http', 3],
  ])
  expect(calls[0]!.site).toEqual({ step: 1, nodes: ['ask'], attempt: 1 })
  const echoed = await bodiesAt(path, 0)
  expect([echoed.request.text, echoed.answer.text]).toEqual(['{"a":1}', '{"a":1}'])
  const streamed = await bodiesAt(path, 1)
  expect(streamed.answer.text).toContain('data: piece 199\n')
  expect(streamed.headers).toContainEqual(['content-type', 'text/event-stream'])
  const [packed, plain] = [await bodiesAt(path, 2), await bodiesAt(path, 3)]
  expect(packed.answer.text).toBe(plain.answer.text)
  expect(packed.headers.map(([name]) => name)).not.toContain('content-encoding')
})

it('Failures are kept with their kind.', async () => {
  const gone = await openCallStub()
  gone.close()
  const path = await ran({ url: gone.url }, { url: `${stub.url}/reset` }, {
    url: `${stub.url}/cut`,
  }, { url: `${stub.url}/endless`, patienceMs: 200 }, { url: `${stub.url}/failed` })
  const { calls } = await recorded(path, 5)
  expect(calls.map(({ end, status }) => [end, status])).toEqual([['refused', null], ['reset', null],
    ['reset', 200], ['aborted', 200], ['done', 503]])
  expect(calls[0]!.failure?.code).toBe('ECONNREFUSED')
})

it('A body above its bound is dropped, and the run says that its recording is cut.', async () => {
  const path = await ran({ url: `${stub.url}/large` }, { url: `${stub.url}/echo`,
    body: 'x'.repeat(2 * 1024 * 1024) })
  const { is_cut: isCut, calls } = await recorded(path, 2)
  expect(isCut).toBe(true)
  expect(calls.map((call) => [call.is_cut, call.answer_bytes])).toEqual([[true, 32 * 1024 * 1024], [
    true,
    2 * 1024 * 1024,
  ]])
  expect((await bodiesAt(path, 0)).answer).toMatchObject({ is_cut: true, text: '' })
})

it('A key in a query, a header or a body is nowhere.', async () => {
  const path = await ran({ url: `${stub.url}/echo?api_key=SECRET&page=2`,
    body: '{"key":"SECRET","name":"Ada"}' })
  const { calls: [call] } = await recorded(path, 1)
  expect(call!.url).toBe(`${stub.url}/echo?api_key=***&page=2`)
  const { request, answer } = await bodiesAt(path, 0)
  const hidden = `{"key":"${'*'.repeat(secret.length)}","name":"Ada"}`
  expect([request.text, answer.text]).toEqual([hidden, hidden])
  expect(filesOf(server)).not.toContain(secret)
})

it('A project redacts its recordings itself, and a call that it cannot redact has no bodies.',
  async () => {
    const masked = await startServer({ project: 'masked', args: oneWorker })
    onTestFinished(() => masked.close())
    const { threads, runs } = clientOf(masked.url)
    const { thread_id: id } = await threads.create()
    const calls = [{ url: `${stub.url}/echo?of=customer-ann`, body: '{"to":"customer-ann"}' }, {
      url: `${stub.url}/echo?of=customer-ben`,
      body: 'unmaskable customer-ben',
    }]
    await runs.wait(id, 'caller', { input: { calls } })
    const [run] = await runs.list(id)
    const path = `/threads/${id}/runs/${run!.run_id}/calls`
    const at = async (place: string) => (await ask(masked.url, 'GET', place)).body as RunCalls
    const found = await eventually(async () => {
      const each = await at(path)
      expect(each.calls).toHaveLength(2)
      return each
    })
    expect(found.is_cut).toBe(true)
    expect(found.calls.map(({ url }) => url)).toEqual([`${stub.url}/echo?of=<customer>`, stub.url])
    const bodies = await Promise.all([0, 1].map((no) => at(`${path}/${no}`)))
    expect(bodies).toMatchObject([
      { request: { text: '{"to":"<customer>"}' }, answer: { text: '{"to":"<customer>"}' } },
      { request: { text: '', is_cut: true }, answer: { text: '', is_cut: true } },
    ])
    expect(masked.output()).toContain('The function heddle.mask failed')
  }, 120_000)

it('A run that is not recorded has no calls, and an unknown one is not found.', async () => {
  const path = await ran()
  expect(await callsAt(path)).toEqual({ is_recorded: false, is_cut: false, calls: [] })
  expect((await ask(server.url, 'GET', `${path}/0`)).status).toBe(404)
  const other = '01930000-0000-7000-8000-000000000001'
  expect((await ask(server.url, 'GET', path.replace(/runs\/[^/]+/, `runs/${other}`))).status)
    .toBe(404)
})

it('A deleted thread takes its recordings with it.', async () => {
  const path = await ran({ url: `${stub.url}/echo`, body: 'gone' })
  await recorded(path, 1)
  const [, , thread = ''] = path.split('/')
  await clientOf(server.url).threads.delete(thread)
  expect((await ask(server.url, 'GET', path)).status).toBe(404)
})

it('After a kill a recording is there as far as it was written, and never half.', async () => {
  const { threads, runs } = clientOf(server.url)
  const { thread_id: id } = await threads.create()
  const large = { url: `${stub.url}/echo`, body: 'y'.repeat(700_000) }
  const hits = stub.hits()
  await runs.create(id, 'caller', {
    input: { calls: [large, large, large, { url: `${stub.url}/endless`, patienceMs: 2_000 }] },
  })
  await eventually(() => expect(stub.hits()).toBeGreaterThanOrEqual(hits + 4))
  await server.kill('SIGKILL')
  await server.restart()
  const client = clientOf(server.url)
  await eventually(async () => expect((await client.threads.get(id)).status).toBe('idle'))
  const [run] = await client.runs.list(id)
  const path = `/threads/${id}/runs/${run!.run_id}/calls`
  // What a kill cut off may be missing. What is there is whole.
  const { calls } = await callsAt(path)
  for (const { no, request_bytes: bytes } of calls) {
    expect((await bodiesAt(path, no)).request.text).toHaveLength(bytes)
  }
}, 90_000)
