/** Each quota of a tenant, through HTTP: what is refused, with what, and when it passes again. */

import { describe, expect, it } from 'vitest'
import { eventually } from '../support/eventually.ts'
import { useGates } from '../support/gate.ts'
import { say } from '../support/run-events.ts'
import { useServer } from '../support/server.ts'
import { ask } from '../support/wire.ts'

const quotas = { threads: 4, runs: 2, 'delayed-runs': 2, streams: 2, 'stored-mb': 1 }
const server = useServer({ project: 'conformance',
  args: Object.entries(quotas).flatMap(([name, quota]) => [`--quota-${name}`, `${quota}`]) })
const gate = useGates()

const send = (method: string, path: string, body?: unknown) => ask(server.url, method, path, body)
const refused = (status: number, name: string, limit: number) => ({ status, body: {
  code: status === 507 ? 'out_of_quota' : 'over_quota',
  quota: { name, limit },
  detail: expect.any(String),
  message: expect.stringMatching(/quota/),
} })

const threads: string[] = []
const [first, second] = [() => threads[0]!, () => threads[1]!]

/** A run of the first thread that is not due within this test. */
const delayed = async () =>
  await send('POST', `/threads/${first()}/runs`, { assistant_id: 'echo', input: say('x'),
    after_seconds: 3_600 })

describe('a quota', () => {
  it('of threads: 507, until one is deleted; a run that finds its thread passes', async () => {
    for (let n = 0; n < quotas.threads; n++) {
      const { body } = await send('POST', '/threads', {})
      threads.push((body as { thread_id: string }).thread_id)
    }
    const answer = await send('POST', '/threads', {})
    expect(answer).toMatchObject(refused(507, 'threads', quotas.threads))
    expect(answer.headers.get('retry-after')).toBeNull()
    expect(await send('POST', `/threads/${first()}/copy`)).toMatchObject({ status: 507 })
    const typed = await send('POST', '/frontdoor.v1.ThreadService/CreateThread', {})
    expect(typed).toMatchObject({ status: 429, body: { code: 'resource_exhausted' } })
    const run = { assistant_id: 'echo', input: say('x'), if_not_exists: 'create' }
    const outsider = crypto.randomUUID()
    expect(await send('POST', `/threads/${outsider}/runs/wait`, run)).toMatchObject({ status: 507 })
    expect(await send('POST', `/threads/${first()}/runs/wait`, run)).toMatchObject({ status: 200 })
    expect(await send('POST', '/threads', { thread_id: first(), if_exists: 'do_nothing' }))
      .toMatchObject({ status: 200 })
    expect(await send('POST', '/runs/wait', { assistant_id: 'echo', input: say('x') }))
      .toMatchObject({ status: 200 })
    await send('DELETE', `/threads/${threads.pop()}`)
    await send('DELETE', `/threads/${threads.pop()}`)
    expect(await send('POST', `/threads/${second()}/copy`)).toMatchObject({ status: 200 })
  })

  it('of unfinished runs: 429, until one has ended', async () => {
    const held = gate()
    const start = (id: string) =>
      send('POST', `/threads/${id}/runs`, { assistant_id: 'held', input: say(`hold ${held.url}`) })
    expect(await start(first())).toMatchObject({ status: 200 })
    const { body } = await start(second())
    const answer = await start(second())
    expect(answer).toMatchObject(refused(429, 'unfinished_runs', quotas.runs))
    expect(answer.headers.get('retry-after')).toBe('1')
    expect(await delayed()).toMatchObject({ status: 200 })
    const { run_id: runId } = body as { run_id: string }
    await send('POST', `/threads/${second()}/runs/${runId}/cancel?wait=true`)
    expect(await start(second())).toMatchObject({ status: 200 })
    for (const id of [first(), second()]) {
      const runs = await server.client.runs.list(id)
      await Promise.all(
        runs.map((run) => send('POST', `/threads/${id}/runs/${run.run_id}/cancel?wait=true`)),
      )
    }
  })

  it('of delayed runs: 429, until one is cancelled', async () => {
    const { body } = await delayed()
    expect(await delayed()).toMatchObject({ status: 200 })
    expect(await delayed()).toMatchObject(refused(429, 'delayed_runs', quotas['delayed-runs']))
    const { run_id: runId } = body as { run_id: string }
    await send('POST', `/threads/${first()}/runs/${runId}/cancel?wait=true`)
    expect(await delayed()).toMatchObject({ status: 200 })
  })

  it('of streams: 429, with requests that wait for a run, until one has ended', async () => {
    const [run] = await server.client.runs.list(first(), { status: 'pending' })
    const path = `/threads/${first()}/runs/${run!.run_id}`
    const left = new AbortController()
    const stream = await fetch(`${server.url}${path}/stream`, { signal: left.signal })
    expect(stream.status).toBe(200)
    const waiting = fetch(`${server.url}${path}/join`, { signal: left.signal })
    // Its headers come after two seconds of silence: it is open then.
    expect((await waiting).status).toBe(200)
    for (const rest of ['/stream', '/join']) {
      expect(await send('GET', path + rest)).toMatchObject(refused(429, 'streams', quotas.streams))
    }
    const before = (await server.client.runs.list(second())).length
    const run429 = await send('POST', `/threads/${second()}/runs/stream`, { assistant_id: 'echo' })
    expect(run429.status).toBe(429)
    expect(await server.client.runs.list(second())).toHaveLength(before)
    left.abort()
    await eventually(async () =>
      expect(
        await send('POST', `/threads/${second()}/runs/wait`, { assistant_id: 'echo',
          input: say('x') }),
      ).toMatchObject({ status: 200 })
    )
  })

  it('of stored bytes: 507 for all that writes, while everything can be read and deleted',
    async () => {
      const large = { assistant_id: 'echo', input: say('x'.repeat(600_000)) }
      expect(await send('POST', `/threads/${second()}/runs/wait`, large))
        .toMatchObject({ status: 200 })
      for (const [method, path, body] of [
        ['POST', `/threads/${second()}/runs/wait`, large],
        ['POST', '/threads', {}],
        ['PATCH', `/threads/${second()}`, { metadata: { a: 1 } }],
        ['POST', `/threads/${second()}/state`, { values: say('y') }],
        ['POST', '/assistants', { graph_id: 'echo' }],
      ] as const) {
        expect(await send(method, path, body))
          .toMatchObject(refused(507, 'stored_bytes', 1_048_576))
      }
      expect(await send('GET', `/threads/${second()}/state`)).toMatchObject({ status: 200 })
      expect(await send('DELETE', `/threads/${second()}`)).toMatchObject({ status: 204 })
      expect(await send('POST', '/threads', {})).toMatchObject({ status: 200 })
    })

  it('of stored bytes: refuses what a graph puts, while it can read and delete', async () => {
    const put = ['put', ['a'], 'k', { text: 'x'.repeat(400_000) }]
    const others = Array.from({ length: 7 }, (_, at) => ['put', ['a'], `k${at}`, put[3]])
    const { body } = await send('POST', '/runs/wait', { assistant_id: 'memory',
      input: { calls: [put, ...others, ['delete', ['a'], 'k'], ['get', ['a'], 'k']] } })
    const { results } = body as { results: ({ message: string } | null)[] }
    expect(results[7]).toEqual({ message: expect.stringContaining('quota') })
    expect(results.slice(8)).toEqual([null, null])
    for (let at = 0; at < others.length; at++) {
      await send('DELETE', '/store/items', { namespace: ['a'], key: `k${at}` })
    }
  })

  it('is in the metrics, with what was refused', async () => {
    const text = await (await fetch(`${server.url}/metrics`)).text()
    expect(text).toMatch(/^heddle_quota_refusals_total\{quota="stored_bytes"\} 5$/m)
    expect(text).toMatch(/^heddle_quota_highest_use_ratio\{quota="delayed_runs"\} 1$/m)
  })
})
