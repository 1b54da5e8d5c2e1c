/** The typed API: three protocols on the port of REST, with the same operations. */

import { randomUUID } from 'node:crypto'

import { Code, ConnectError, createClient } from '@connectrpc/connect'
import type { Transport } from '@connectrpc/connect'
import { describe, expect, it } from 'vitest'

import { AssistantService } from '../../../../proto/gen/frontdoor/v1/assistant_pb.js'
import { RunService } from '../../../../proto/gen/frontdoor/v1/run_pb.js'
import { ThreadService } from '../../../../proto/gen/frontdoor/v1/thread_pb.js'
import { HeddleError } from '../../../../src/errors.ts'
import { wires } from '../../../support/wires.ts'
import { call, openDoor } from '../open-front-door.ts'
import type { OpenDoor } from '../open-front-door.ts'

function clientsOf(transport: Transport) {
  return {
    assistants: createClient(AssistantService, transport),
    threads: createClient(ThreadService, transport),
    runs: createClient(RunService, transport),
  }
}

/** Clients of the simplest protocol. */
const clientsFor = (door: OpenDoor) => clientsOf(wires[0]![1](door.url))

const bytes = (value: unknown) => new TextEncoder().encode(JSON.stringify(value))
const valueOf = (json: Uint8Array) => JSON.parse(new TextDecoder().decode(json)) as unknown

async function errorOf(ask: Promise<unknown>): Promise<ConnectError> {
  const error = await ask.then(() => expect.fail('no error'), (caught: unknown) => caught)
  return ConnectError.from(error)
}

describe.each(wires)('%s', (_name, transportTo) => {
  it('quotes only the beginning of what was sent, and the connection stays', async () => {
    const door = await openDoor()
    const { assistants, runs } = clientsOf(transportTo(door.url))
    const stream = runs.streamRun({ run: { assistantId: 'agent' } })[Symbol.asyncIterator]()
    await stream.next()
    const assistantId = 'é'.repeat(20_000)
    const { rawMessage } = await errorOf(assistants.getAssistant({ assistantId }))
    expect(rawMessage).toMatch(/^No assistant found for "é{1900,2000}…$/)
    door.threads.lastRun.notify([{ id: '1', name: 'updates', json: '{}' }])
    expect(await stream.next()).toMatchObject({ done: false })
    door.threads.lastRun.end()
  })

  it('serves calls and streams, beside REST', async () => {
    const door = await openDoor()
    const { assistants, threads, runs } = clientsOf(transportTo(door.url))
    const { assistant } = await assistants.getAssistant({ assistantId: 'agent' })
    expect(assistant).toMatchObject({ graphId: 'agent', version: 1 })
    const { thread } = await threads.createThread({ metadataJson: bytes({ a: 1 }) })
    const { json } = await call(door, 'GET', `/threads/${thread!.threadId}`)
    expect(json.metadata).toEqual({ a: 1 })
    const seen = []
    let headers: Headers | undefined
    const onHeader = (sent: Headers) => {
      headers = sent
    }
    for await (const message of runs.streamRun(
      { run: { threadId: thread!.threadId, assistantId: 'agent' } },
      { onHeader },
    )) {
      seen.push(message.payload)
      if (seen.length === 2) {
        door.threads.lastRun.notify([{ id: '1', name: 'updates', json: '{"n":1}' }])
        door.threads.lastRun.end()
      }
    }
    expect(headers!.get('x-accel-buffering')).toBe('no')
    expect(seen).toMatchObject([
      { case: 'run', value: { runId: door.threads.lastRun.row.runId } },
      { case: 'event', value: { name: 'metadata', id: '0' } },
      { case: 'event', value: { name: 'updates', id: '1' } },
    ])
  })

  it('answers errors by status and sentence', async () => {
    const door = await openDoor()
    const { threads } = clientsOf(transportTo(door.url))
    const error = await errorOf(threads.getThread({ threadId: randomUUID() }))
    expect([error.code, error.rawMessage]).toMatchObject([Code.NotFound, /not found/])
  })
})

describe('errors', () => {
  it.each([
    ['invalid', Code.InvalidArgument],
    ['not_found', Code.NotFound],
    ['exists', Code.AlreadyExists],
    ['busy', Code.FailedPrecondition],
    ['too_large', Code.ResourceExhausted],
    ['unsupported', Code.Unimplemented],
    ['forbidden', Code.PermissionDenied],
    ['full', Code.ResourceExhausted],
    ['unavailable', Code.Unavailable],
  ] as const)('%s has the status %i', async (code, status) => {
    const door = await openDoor()
    door.threads.failure = new HeddleError(code, 'The sentence.')
    const error = await errorOf(clientsFor(door).threads.getThread({ threadId: randomUUID() }))
    expect([error.code, error.rawMessage]).toEqual([status, 'The sentence.'])
    expect(error.metadata.get('heddle-code')).toBe(code)
  })

  it('that are unexpected reveal nothing to the client and are logged in full', async () => {
    const door = await openDoor()
    door.threads.failure = new TypeError('hunter2')
    const error = await errorOf(clientsFor(door).threads.getThread({ threadId: randomUUID() }))
    expect(error.code).toBe(Code.Internal)
    expect(error.message).not.toContain('hunter2')
    expect(door.env.lines.filter(({ level }) => level !== 'debug'))
      .toMatchObject([{ level: 'error',
        details: { error: { message: 'hunter2' },
          route: '/frontdoor.v1.ThreadService/GetThread' } }])
  })

  it('name fields as REST does', async () => {
    const { threads, runs, assistants } = clientsFor(await openDoor())
    const messages = await Promise.all([
      errorOf(threads.getThread({ threadId: 'x' })),
      errorOf(threads.searchThreads({ page: { limit: 1_001 }, status: 'asleep' })),
      errorOf(runs.createRun({})),
      errorOf(runs.createRun({ run: { assistantId: 'agent', idempotencyKey: 'k'.repeat(8_193) } })),
      errorOf(runs.createRun({ run: { assistantId: 'agent', inputJson: Buffer.from('{') } })),
      errorOf(runs.createRun({ run: { assistantId: 'agent', inputJson: Buffer.from([255]) } })),
      errorOf(
        runs.createRun({
          run: { assistantId: 'agent',
            inputJson: Buffer.from('['.repeat(1_000) + ']'.repeat(1_000)) },
        }),
      ),
      errorOf(assistants.createAssistant({ graphId: 'agent', configJson: bytes([]) })),
      errorOf(
        runs.createRun({
          run: { threadId: randomUUID(), assistantId: 'agent', multitaskStrategy: 'hope' },
        }),
      ),
    ])
    expect(messages.map(({ code, rawMessage }) => [code, rawMessage])).toEqual([
      [Code.InvalidArgument, 'thread_id: must be a UUID.'],
      [Code.InvalidArgument, expect.stringMatching(/^status: .*; limit: /)],
      [Code.InvalidArgument, 'run: is required.'],
      [Code.InvalidArgument, 'idempotency_key: must have 8192 characters at most.'],
      [Code.InvalidArgument, expect.stringMatching(/^input_json is not valid JSON/)],
      [Code.InvalidArgument, 'input_json is not valid UTF-8.'],
      [Code.InvalidArgument, expect.stringMatching(/^input_json is nested deeper/)],
      [Code.InvalidArgument, expect.stringMatching(/^config: must be an object/)],
      [Code.InvalidArgument, expect.stringMatching(/^multitask_strategy: must be one of/)],
    ])
  })

  it('have the status ResourceExhausted if a message is too large', async () => {
    const door = await openDoor({ bodyLimitBytes: 10_000 })
    const metadataJson = bytes({ filler: 'x'.repeat(20_000) })
    const error = await errorOf(clientsFor(door).threads.createThread({ metadataJson }))
    expect(error.code).toBe(Code.ResourceExhausted)
  })

  it('refuse pages of other origins', async () => {
    const door = await openDoor()
    const answer = await call(door, 'POST', '/frontdoor.v1.ThreadService/CreateThread', {}, {
      origin: 'https://evil.example',
    })
    expect(answer.status).toBe(403)
    expect(door.threads.calls).toEqual([])
  })
})

describe('assistants', () => {
  it('are created, updated, found, restored, described and deleted', async () => {
    const { assistants } = clientsFor(await openDoor())
    const { assistant } = await assistants.createAssistant(
      { graphId: 'agent', name: 'one', contextJson: bytes({ m: 1 }) },
    )
    const { assistantId } = assistant!
    const updated = await assistants.updateAssistant(
      { assistantId, name: 'two', description: 'd', contextJson: bytes({ m: 2 }) },
    )
    expect(updated.assistant).toMatchObject({ version: 2, name: 'two', description: 'd' })
    expect(valueOf(updated.assistant!.contextJson)).toEqual({ m: 2 })
    const { versions } = await assistants.listAssistantVersions({ assistantId, page: { limit: 1 } })
    expect(versions).toMatchObject([{ version: 2 }])
    const latest = await assistants.setLatestAssistantVersion({ assistantId, version: 1 })
    expect(latest.assistant).toMatchObject({ version: 1, name: 'one' })
    const found = await assistants.searchAssistants({ name: 'ON', page: { limit: 5 } })
    expect(found).toMatchObject({ total: 1n, assistants: [{ assistantId }] })
    expect((await assistants.countAssistants({})).count).toBe(3n)
    expect(valueOf((await assistants.getAssistantGraph({ assistantId, xray: 2 })).graphJson))
      .toMatchObject({ nodes: [{ id: '2' }] })
    expect(valueOf((await assistants.getAssistantSchemas({ assistantId })).schemasJson))
      .toMatchObject({ graph_id: 'agent' })
    const inside = async (namespace?: string) =>
      Object.keys(valueOf((await assistants.getAssistantSubgraphs(
        { assistantId, ...namespace && { namespace } },
      )).subgraphsJson) as object)
    expect([await inside(), await inside('a|b')]).toEqual([['inner'], ['a|b']])
    await assistants.deleteAssistant({ assistantId })
    expect((await errorOf(assistants.getAssistant({ assistantId }))).code).toBe(Code.NotFound)
  })
})

describe('threads', () => {
  it('are created, updated, found, copied, read and deleted', async () => {
    const door = await openDoor()
    const { threads } = clientsFor(door)
    const { thread } = await threads.createThread({ metadataJson: bytes({ graph_id: 'agent' }),
      supersteps: [{ updates: [{ valuesJson: bytes({ a: 1 }), asNode: 'n' }] }] })
    const { threadId } = thread!
    const updated = await threads.updateThread({ threadId, metadataJson: bytes({ b: 2 }) })
    expect(valueOf(updated.thread!.metadataJson)).toEqual({ graph_id: 'agent', b: 2 })
    const found = await threads.searchThreads(
      { withoutValues: true, metadataJson: bytes({ b: 2 }) },
    )
    expect(found).toMatchObject({ total: 1n, threads: [{ threadId, status: 'idle' }] })
    expect(door.threads.given('search')).toMatchObject({ withoutValues: true })
    const { threads: [extracting] } = await threads.searchThreads(
      { withoutValues: true, extract: { number: 'metadata.b', none: 'values.nosuch' } },
    )
    expect(valueOf(extracting!.extractedJson)).toEqual({ number: 2, none: null })
    expect(valueOf(extracting!.valuesJson)).toEqual({})
    expect((await errorOf(threads.searchThreads({ extract: { b: 'b' } }))).code)
      .toBe(Code.InvalidArgument)
    expect((await threads.countThreads({ status: 'busy' })).count).toBe(0n)
    await threads.searchThreads({ q: 'plums', updatedAfter: { seconds: 60n } })
    expect(door.threads.given('search')).toMatchObject({ words: ['plums'], updatedAfterMs: 60_000 })
    const checkpointId = randomUUID()
    await threads.copyThread({ threadId, checkpointId })
    expect(door.threads.given('copy')).toBe(checkpointId)
    const { stateJson } = await threads.getThreadState({ threadId, subgraphs: true,
      checkpoint: { checkpointId: 'c', checkpointNs: 's' } })
    expect(valueOf(stateJson)).toMatchObject({ values: {} })
    expect(door.threads.given('state'))
      .toEqual({ checkpointId: 'c', checkpointNs: 's', subgraphs: true })
    await threads.updateThreadState({ threadId, update: { valuesJson: bytes({ a: 1 }) } })
    expect(door.threads.given('updateState'))
      .toMatchObject({ update: { values: '{"a":1}', asNode: null }, checkpoint: null })
    await threads.updateThreadState({ threadId, update: { commandJson: bytes({ goto: 'a' }) } })
    expect(door.threads.given('updateState')).toMatchObject({ update: { command: '{"goto":"a"}' } })
    const { statesJson } = await threads.getThreadHistory({ threadId, beforeCheckpointId: 'b' })
    expect(valueOf(statesJson)).toEqual([])
    expect(door.threads.given('history')).toMatchObject({ before: 'b', limit: 10 })
    await threads.deleteThread({ threadId })
    expect((await errorOf(threads.getThread({ threadId }))).code).toBe(Code.NotFound)
  })
})

describe('runs', () => {
  it('are created as requested, once per idempotency key', async () => {
    const door = await openDoor()
    const { runs } = clientsFor(door)
    const spec = { assistantId: 'agent', inputJson: bytes({ a: 1 }), streamModes: ['updates'],
      interruptBefore: ['*'], idempotencyKey: 'k', afterSeconds: 2 }
    const { run } = await runs.createRun({ run: spec })
    expect(run!.threadId).toBe(run!.runId)
    expect((await runs.createRun({ run: spec })).run!.runId).toBe(run!.runId)
    expect(door.threads.given('startRun')).toMatchObject({ ifMissing: 'hidden', afterMs: 2_000,
      kwargs: { input: { a: 1 }, stream_mode: ['updates'], interrupt_before: '*' } })
  })

  it('name no revision on a server without deployments', async () => {
    const { runs } = clientsFor(await openDoor())
    const { code, rawMessage } = await errorOf(
      runs.createRun({ run: { assistantId: 'agent' } }, { headers: { 'x-heddle-revision': 'r1' } }),
    )
    expect([code, rawMessage]).toEqual([Code.InvalidArgument,
      expect.stringContaining('x-heddle-revision')])
  })

  it('are waited for, joined, listed, cancelled and deleted', async () => {
    const door = await openDoor()
    const { threads, runs } = clientsFor(door)
    const { thread } = await threads.createThread({})
    const { threadId } = thread!
    const waiting = runs.waitRun({ run: { threadId, assistantId: 'agent' } })
    await expect.poll(() => door.threads.calls.at(-1)?.name).toBe('joinRun')
    const { row: { runId } } = door.threads.lastRun
    door.threads.lastRun.end('{"a":1}')
    const waited = await waiting
    expect([waited.runId, valueOf(waited.resultJson)]).toEqual([runId, { a: 1 }])
    expect(valueOf((await runs.joinRun({ threadId, runId })).resultJson)).toEqual({ a: 1 })
    expect((await runs.getRun({ threadId, runId })).run).toMatchObject({ runId, threadId })
    expect((await runs.listRuns({ threadId, status: 'success' })).runs).toHaveLength(1)
    await runs.cancelRun({ threadId, runId, rollback: true, wait: true })
    expect(door.threads.given('cancelRun')).toEqual({ action: 'rollback' })
    await runs.deleteRun({ threadId, runId })
    expect((await errorOf(runs.getRun({ threadId, runId }))).code).toBe(Code.NotFound)
  })

  it('are followed from the last event that the caller saw', async () => {
    const door = await openDoor()
    const { runs } = clientsFor(door)
    const { run } = await runs.createRun({ run: { assistantId: 'agent' } })
    const { lastRun } = door.threads
    lastRun.notify(['1', '2'].map((id) => ({ id, name: 'updates', json: '{}' })))
    lastRun.end()
    const ids = []
    for await (const { event } of runs.joinRunStream(
      { runId: run!.runId, lastEventId: '1', streamModes: ['updates'] },
    )) ids.push(event!.id)
    expect(ids).toEqual(['2'])
    expect(door.threads.given('followRun')).toEqual({ after: '1', modes: ['updates'] })
  })

  it.each([[true, 'cancelRun'], [false, 'followRun']])(
    'end with a caller that goes, if it asked for that: %j',
    async (cancelOnDisconnect, last) => {
      const door = await openDoor()
      const leaving = new AbortController()
      const reading = (async () => {
        for await (const _ of clientsFor(door).runs.streamRun(
          { run: { assistantId: 'agent', cancelOnDisconnect } },
          { signal: leaving.signal },
        ));
      })()
      await expect.poll(() => door.threads.calls.at(-1)?.name).toBe('followRun')
      expect(door.threads.given('followRun')).toMatchObject({ made: true })
      leaving.abort()
      expect((await errorOf(reading)).code).toBe(Code.Canceled)
      await door.threads.lastRun.left.promise
      await expect.poll(() => door.threads.calls.at(-1)?.name).toBe(last)
    },
  )

  it.each(['streamRun', 'waitRun'] as const)(
    'are cancelled if the caller goes while they are being written: %s',
    async (how) => {
      const door = await openDoor()
      const disk = Promise.withResolvers<void>()
      door.threads.disk = disk.promise
      const leaving = new AbortController()
      const spec = { run: { assistantId: 'agent', cancelOnDisconnect: true } }
      const { runs } = clientsFor(door)
      const reading = (async () => {
        if (how === 'waitRun') return runs.waitRun(spec, { signal: leaving.signal })
        for await (const _ of runs.streamRun(spec, { signal: leaving.signal }));
        return undefined
      })()
      await expect.poll(() => door.threads.calls.at(-1)?.name).toBe('startRun')
      leaving.abort()
      expect((await errorOf(reading)).code).toBe(Code.Canceled)
      expect((await call(door, 'GET', '/ok')).status).toBe(200)
      disk.resolve()
      await expect.poll(() => door.threads.calls.map(({ name }) => name)).toContain('cancelRun')
    },
  )

  it.each(['waitRun', 'joinRun'] as const)(
    'are not waited for any more once the caller has gone: %s',
    async (how) => {
      const door = await openDoor()
      const leaving = new AbortController()
      const { runs } = clientsFor(door)
      const { run } = await runs.createRun({ run: { assistantId: 'agent' } })
      const { signal } = leaving
      const failure = errorOf(how === 'joinRun'
        ? runs.joinRun({ runId: run!.runId }, { signal })
        : runs.waitRun({ run: { assistantId: 'agent' } }, { signal }))
      await expect.poll(() => door.threads.calls.at(-1)?.name).toBe('joinRun')
      const cancelled = door.threads.given('joinRun') as AbortSignal
      expect(cancelled.aborted).toBe(false)
      leaving.abort()
      expect((await failure).code).toBe(Code.Canceled)
      await expect.poll(() => cancelled.aborted).toBe(true)
      expect(cancelled.reason).toBeInstanceOf(HeddleError)
    },
  )

  it.each(wires)('are answered DeadlineExceeded by the server itself: %s',
    async (_name, transportTo) => {
      const door = await openDoor()
      const { runs } = clientsOf(transportTo(door.url))
      // As headers only: the client itself knows of no deadline, so the server must keep it.
      const headers = { 'connect-timeout-ms': '50', 'grpc-timeout': '50m' }
      const spec = { run: { assistantId: 'agent' } }
      const { run } = await runs.createRun(spec)
      const read = async () => {
        for await (const _ of runs.streamRun(spec, { headers }));
      }
      const failures = [errorOf(runs.waitRun(spec, { headers })), errorOf(read()),
        errorOf(runs.joinRun({ runId: run!.runId }, { headers }))]
      for (const { code } of await Promise.all(failures)) expect(code).toBe(Code.DeadlineExceeded)
    })

  it('are not cancelled once they have ended', async () => {
    const door = await openDoor()
    const { runs } = clientsFor(door)
    const waiting = runs.waitRun({ run: { assistantId: 'agent', cancelOnDisconnect: true } })
    await expect.poll(() => door.threads.calls.at(-1)?.name).toBe('joinRun')
    door.threads.lastRun.end()
    await waiting
    await runs.listRuns({ threadId: randomUUID() }).catch(() => {})
    expect(door.threads.calls.some(({ name }) => name === 'cancelRun')).toBe(false)
  })

  it('continue if the server closes, and the caller is asked to come back', async () => {
    const door = await openDoor()
    const reading = (async () => {
      for await (const _ of clientsFor(door).runs.streamRun(
        { run: { assistantId: 'agent', cancelOnDisconnect: true } },
      ));
    })()
    await expect.poll(() => door.threads.calls.at(-1)?.name).toBe('followRun')
    const closed = door.close(new AbortController().signal)
    expect((await errorOf(reading)).code).toBe(Code.Unavailable)
    await closed
    expect(door.threads.calls.some(({ name }) => name === 'cancelRun')).toBe(false)
  })
})
