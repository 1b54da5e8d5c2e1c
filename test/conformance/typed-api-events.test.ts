/** Crons and the events of threads over the typed API. */

import { randomUUID } from 'node:crypto'
import { timestampFromMs } from '@bufbuild/protobuf/wkt'
import { Code, createClient } from '@connectrpc/connect'
import type { Transport } from '@connectrpc/connect'
import { createConnectTransport, createGrpcTransport,
  createGrpcWebTransport } from '@connectrpc/connect-node'
import { describe, expect, it } from 'vitest'
import { CronService } from '../../proto/gen/frontdoor/v1/cron_pb.js'
import type { Cron } from '../../proto/gen/frontdoor/v1/cron_pb.js'
import { ThreadService } from '../../proto/gen/frontdoor/v1/thread_pb.js'
import type { ThreadEvent } from '../../proto/gen/frontdoor/v1/thread_pb.js'
import { useGates } from '../support/gate.ts'
import { say, texts } from '../support/run-events.ts'
import { useServer } from '../support/server.ts'

const server = useServer()
const gate = useGates()

const transports: [string, () => Transport][] = [
  ['Connect', () => createConnectTransport({ baseUrl: server.url, httpVersion: '1.1' })],
  ['gRPC-Web', () => createGrpcWebTransport({ baseUrl: server.url, httpVersion: '1.1' })],
  ['gRPC', () => createGrpcTransport({ baseUrl: server.url })],
]

const bytes = (value: unknown) => new TextEncoder().encode(JSON.stringify(value))
const parsed = (json: Uint8Array) => JSON.parse(new TextDecoder().decode(json)) as unknown
/** Once a year, so that it is not due while the test runs. */
const schedule = '0 0 1 1 *'
const newYearMs = Date.UTC(new Date().getUTCFullYear() + 1, 0, 1)

describe.each(transports)('over %s', (_, transport) => {
  const crons = () => createClient(CronService, transport())
  const threads = () => createClient(ThreadService, transport())
  const newThread = async () => (await server.client.threads.create()).thread_id

  it('a cron is made, read, changed, found, counted and deleted', async () => {
    const metadata = { mark: randomUUID() }
    const threadId = await newThread()
    const endTime = timestampFromMs(newYearMs + 1_000)
    const { cron: made } = await crons().createCron({ assistantId: 'echo', threadId,
      times: { schedule, timezone: 'Europe/Paris', endTime }, metadataJson: bytes(metadata),
      run: { inputJson: bytes(say('x')), streamModes: ['values'] } })
    expect(made).toMatchObject({ threadId, schedule, timezone: 'Europe/Paris', enabled: true,
      onRunCompleted: 'delete', endTime, nextRunAt: timestampFromMs(newYearMs - 3_600_000) })
    expect(parsed(made!.payloadJson)).toEqual({ assistant_id: made!.assistantId, metadata,
      input: say('x'), stream_mode: ['values'] })
    const { cronId } = made!
    expect((await crons().getCron({ cronId })).cron).toEqual(made)
    const { cron: changed } = await crons().updateCron({ cronId, clearEndTime: true,
      times: { timezone: '', enabled: true } })
    expect(changed).toEqual({ ...without(made!, 'timezone', 'endTime'),
      updatedAt: changed!.updatedAt, nextRunAt: timestampFromMs(newYearMs) })
    await crons().updateCron({ cronId, times: { enabled: false } })
    const filter = { threadId, enabled: false, metadataJson: bytes(metadata) }
    const { crons: found, total } = await crons().searchCrons({ ...filter, page: { limit: 5 } })
    expect([found.map((each) => each.cronId), total]).toEqual([[cronId], 1n])
    expect(await crons().countCrons(filter)).toMatchObject({ count: 1n })
    expect(await server.client.crons.search({ threadId })).toMatchObject([{ cron_id: cronId }])
    await crons().deleteCron({ cronId })
    expect(await crons().countCrons(filter)).toMatchObject({ count: 0n })
    await expect(crons().getCron({ cronId })).rejects.toMatchObject({ code: Code.NotFound })
  })

  it('one cron is made of requests with the same key', async () => {
    const request = { assistantId: 'echo', times: { schedule }, idempotencyKey: randomUUID() }
    const [{ cron: first }, { cron: second }] = await Promise.all([crons().createCron(request),
      crons().createCron(request)])
    expect(first).toEqual(second)
    expect(first!.threadId).toBeUndefined()
    await crons().deleteCron({ cronId: first!.cronId })
  })

  it('a wrong cron is refused', async () => {
    const wrong = [{ times: {} }, {}, { times: { schedule: 'every full moon' } }, {
      times: { schedule, timezone: 'Mars/Olympus' },
    }, { times: { schedule, endTime: timestampFromMs(0) } }, {
      times: { schedule, endTime: { seconds: 2n ** 62n, nanos: 0 } },
    }, { times: { schedule }, threadId: 'no id' }, { times: { schedule, onRunCompleted: 'hope' } }]
    for (const each of wrong) {
      await expect(crons().createCron({ assistantId: 'echo', ...each })).rejects
        .toMatchObject({ code: expect.toBeOneOf([Code.InvalidArgument, Code.NotFound]) as Code })
    }
    await expect(
      crons().createCron({ assistantId: 'echo', times: { schedule }, threadId: randomUUID() }),
    ).rejects.toMatchObject({ code: Code.NotFound })
  })

  it('a thread is followed over its runs, until it is deleted', async () => {
    const { client } = server
    const threadId = await newThread()
    const first = await client.runs.create(threadId, 'echo', { input: say('one') })
    await client.runs.join(threadId, first.run_id)
    const hold = gate()
    const seen: ThreadEvent[] = []
    const second = await client.runs.create(threadId, 'held', { input: say(`hold ${hold.url}`) })
    await hold.arrived()
    for await (const { event } of threads().followThread({ threadId })) {
      seen.push(event!)
      if (isRoot(event!, second.run_id, 'running')) hold.open()
      if (isRoot(event!, second.run_id, 'completed')) await client.threads.delete(threadId)
    }
    expect(new Set(seen.map(({ runId }) => runId))).toContain(first.run_id)
    expect(seen.map(({ seq }) => seq)).toEqual(seen.map(({ seq }) => seq).toSorted(byNumber))
    const values = seen.filter(({ method }) => method === 'values').map(({ dataJson }) => dataJson)
    expect(texts(parsed(values.at(-1)!)).at(-1)).toBe('last')
  })

  it('a thread is followed behind an event, in some channels and namespaces', async () => {
    const { client } = server
    const threadId = await newThread()
    const stream = client.threads.stream(threadId, { assistantId: 'nested' })
    await stream.run.start({ input: { topic: 't' } })
    const whole = await eventsOf({ threadId })
    const inner = whole.filter(({ namespace }) => namespace[0]?.startsWith('sub:'))
    expect(inner.map(({ method }) => method)).toContain('custom')
    expect(await eventsOf({ threadId, channels: ['lifecycle', 'custom'] }))
      .toEqual(whole.filter(({ method }) => ['lifecycle', 'custom'].includes(method)))
    for await (const { event } of threads().followThread({ threadId, namespaces: ['sub'] })) {
      expect(event).toEqual(inner.shift())
      if (inner.length === 0) break
    }
    const [running] = whole
    expect(await eventsOf({ threadId, afterSeq: running!.seq })).toEqual(whole.slice(1))
  })

  it('a thread that is not there is not followed', async () => {
    await expect(eventsOf({ threadId: randomUUID() })).rejects
      .toMatchObject({ code: Code.NotFound })
  })

  /** The retained events of a thread whose last run has ended. */
  async function eventsOf(request: object): Promise<ThreadEvent[]> {
    const events: ThreadEvent[] = []
    for await (const { event } of threads().followThread(request)) {
      events.push(event!)
      if (isRoot(event!, event!.runId, 'completed')) break
    }
    return events
  }
})

function isRoot({ method, namespace, runId, dataJson }: ThreadEvent, of: string,
  how: string): boolean {
  return method === 'lifecycle' && namespace.length === 0 && runId === of &&
    (parsed(dataJson) as { event: string }).event === how
}

function without(cron: Cron, ...names: readonly (keyof Cron)[]): object {
  return Object.fromEntries(Object.entries(cron).filter(([name]) => !names.includes(name as never)))
}

function byNumber(a: bigint, b: bigint): number {
  return Number(a - b)
}
