/** The typed API on the same port: Connect, gRPC-Web and gRPC, beside REST. */

import { randomUUID } from 'node:crypto'
import { Code, createClient } from '@connectrpc/connect'
import type { Transport } from '@connectrpc/connect'
import { createConnectTransport, createGrpcTransport,
  createGrpcWebTransport } from '@connectrpc/connect-node'
import { describe, expect, it } from 'vitest'
import { RunService } from '../../proto/gen/frontdoor/v1/run_pb.js'
import { StoreService } from '../../proto/gen/frontdoor/v1/store_pb.js'
import { ThreadService } from '../../proto/gen/frontdoor/v1/thread_pb.js'
import { useGates } from '../support/gate.ts'
import { say, texts } from '../support/run-events.ts'
import { useServer } from '../support/server.ts'

const server = useServer()
const gate = useGates()

const transports: [string, () => Transport][] = [
  ['Connect over HTTP/1.1',
    () => createConnectTransport({ baseUrl: server.url, httpVersion: '1.1' })],
  ['Connect over HTTP/2', () => createConnectTransport({ baseUrl: server.url, httpVersion: '2' })],
  ['gRPC-Web over HTTP/1.1',
    () => createGrpcWebTransport({ baseUrl: server.url, httpVersion: '1.1' })],
  ['gRPC', () => createGrpcTransport({ baseUrl: server.url })],
]

const bytes = (value: unknown) => new TextEncoder().encode(JSON.stringify(value))
const parsed = (json: Uint8Array) => JSON.parse(new TextDecoder().decode(json)) as unknown

describe.each(transports)('%s', (_, transport) => {
  const threads = () => createClient(ThreadService, transport())
  const runs = () => createClient(RunService, transport())
  const newThread = async () => (await threads().createThread({})).thread!.threadId

  it('puts, finds, lists and deletes items', async () => {
    const client = createClient(StoreService, transport())
    const place = { namespace: ['typed', randomUUID()], key: 'k' }
    expect((await client.getItem(place)).item).toBeUndefined()
    await client.putItem({ ...place, valueJson: bytes({ n: 2 }), ttlMinutes: 0 })
    const { item } = await client.getItem(place)
    expect(item).toMatchObject(place)
    expect(parsed(item!.valueJson)).toEqual({ n: 2 })
    const search = async (n: number) =>
      (await client.searchItems({ namespacePrefix: place.namespace,
        filterJson: bytes({ n: { $gt: n } }) })).items.map(({ item: found }) => found!.key)
    expect([await search(1), await search(2)]).toEqual([['k'], []])
    const { namespaces } = await client.listNamespaces({ prefix: place.namespace, maxDepth: 2 })
    expect(namespaces.map(({ labels }) => labels)).toEqual([place.namespace])
    await client.deleteItem(place)
    expect((await client.getItem(place)).item).toBeUndefined()
    await expect(client.putItem({ ...place, valueJson: bytes([]) })).rejects
      .toMatchObject({ code: Code.InvalidArgument })
  })

  it('says how long a thread lives, and why a run was cancelled', async () => {
    const { thread } = await threads().createThread({ timeToLive: { minutes: 30 } })
    expect(thread!.timeToLive).toMatchObject({ strategy: 'delete', minutes: 30 })
    expect(Number(thread!.timeToLive!.expiresAt!.seconds))
      .toBe(Number(thread!.createdAt!.seconds) + 30 * 60)
    const { threadId } = thread!
    await threads().updateThread({ threadId, timeToLive: { strategy: 'keep_latest', minutes: 9 } })
    expect((await threads().getThread({ threadId })).thread!.timeToLive)
      .toMatchObject({ strategy: 'keep_latest', minutes: 9 })
    await expect(threads().updateThread({ threadId, timeToLive: { minutes: -1 } })).rejects
      .toMatchObject({ code: Code.InvalidArgument })
    expect((await threads().createThread({})).thread!.timeToLive).toBeUndefined()
    const hold = gate()
    const { run } = await runs().createRun({
      run: { threadId, assistantId: 'held', inputJson: bytes(say(`hold ${hold.url}`)) },
    })
    await hold.arrived()
    await runs().cancelRun({ threadId, runId: run!.runId })
    expect((await runs().getRun({ threadId, runId: run!.runId })).run!.cancelReason)
      .toMatch(/^cancelled: /)
    expect(run!.cancelReason).toBeUndefined()
  })

  it('streams the run itself first, then its events', async () => {
    const threadId = await newThread()
    const seen: string[] = []
    for await (const { payload: one } of runs().streamRun({ run: {
      threadId,
      assistantId: 'steps',
      inputJson: bytes({ topic: 't' }),
      streamModes: ['updates'],
    } })) {
      if (one.case === 'run') seen.push(`run ${one.value.status}`)
      if (one.case === 'event') seen.push(one.value.name)
    }
    expect(seen[0]).toMatch(/^run (pending|running)$/)
    expect(seen.slice(1)).toEqual(['metadata', 'updates', 'updates', 'updates', 'end'])
  })

  it('streams the events of a run in progress to a caller that joins', async () => {
    const threadId = await newThread()
    const hold = gate()
    const { run } = await runs().createRun({ run: {
      threadId,
      assistantId: 'held',
      inputJson: bytes(say(`hold ${hold.url}`)),
      streamModes: ['updates'],
    } })
    await hold.arrived()
    const names: string[] = []
    for await (const { event } of runs().joinRunStream({ threadId, runId: run!.runId })) {
      names.push(event!.name)
      hold.open()
    }
    expect(names).toEqual(['metadata', 'updates', 'updates', 'updates', 'end'])
    const { resultJson } = await runs().joinRun({ threadId, runId: run!.runId })
    expect(texts(parsed(resultJson)).at(-1)).toBe('last')
  })

  it('streams only the namespaces that are asked for', async () => {
    const threadId = await newThread()
    const names: string[] = []
    for await (const { payload: one } of runs().streamRun({ namespaces: ['nowhere'], run: {
      threadId,
      assistantId: 'nested',
      inputJson: bytes({ topic: 't' }),
      streamModes: ['updates', 'lifecycle'],
    } })) {
      if (one.case === 'event') names.push(one.value.name)
    }
    expect(names).toEqual(['metadata', 'end'])
  })

  it('refuses a strict answer that fits nothing', async () => {
    const { resultJson } = await runs().waitRun({ run: {
      threadId: await newThread(),
      assistantId: 'ask',
      commandJson: bytes({ resume: {} }),
      strictResume: true,
    } })
    expect(parsed(resultJson)).toMatchObject({ __error__: { reason: 'empty_map' } })
  })

  it('shows the same threads as REST', async () => {
    const threadId = await newThread()
    const { resultJson } = await runs().waitRun({ run: {
      threadId,
      assistantId: 'echo',
      inputJson: bytes(say('x')),
    } })
    expect(texts(parsed(resultJson))).toEqual(['x', 'echo: x'])
    const { thread } = await threads().getThread({ threadId })
    const rest = await server.client.threads.get(threadId)
    expect(thread).toMatchObject({ threadId, status: 'idle' })
    expect(parsed(thread!.valuesJson)).toEqual(rest.values)
    const { stateJson } = await threads().getThreadState({ threadId })
    expect(parsed(stateJson)).toEqual(await server.client.threads.getState(threadId))
    const { statesJson } = await threads().getThreadHistory({ threadId })
    expect(parsed(statesJson)).toEqual(await server.client.threads.getHistory(threadId))
    const { threads: found, total } = await threads().searchThreads({ threadIds: [threadId] })
    expect(found.map((one) => one.threadId)).toEqual([threadId])
    expect(Number(total)).toBe(1)
  })

  it('cancels the run when its caller disconnects, if it asked for that', async () => {
    const threadId = await newThread()
    const hold = gate()
    const left = new AbortController()
    const stream = runs().streamRun({
      run: { threadId, assistantId: 'held', inputJson: bytes(say(`hold ${hold.url}`)),
        cancelOnDisconnect: true },
    }, { signal: left.signal })
    const reading = (async () => {
      for await (const _ of stream);
    })().catch(() => undefined)
    await hold.arrived()
    left.abort()
    await reading
    await hold.left()
    const [run] = await server.client.runs.list(threadId)
    await server.client.runs.join(threadId, run!.run_id)
    expect(await server.client.runs.get(threadId, run!.run_id))
      .toMatchObject({ status: 'interrupted' })
  })
})
