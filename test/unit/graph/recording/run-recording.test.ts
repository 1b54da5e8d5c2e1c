/** The recording of an execution's calls: its bounds, and what it hands over when. */

import { gzipSync } from 'node:zlib'

import { describe, expect, it } from 'vitest'

import type { Call, CallBody } from '../../../../src/graph/calls/call.ts'
import type { CallWatcher } from '../../../../src/graph/calls/call-gate.ts'
import { bodyBytesMax } from '../../../../src/graph/recording/call-watch.ts'
import { decodeBlock, executionsIn } from '../../../../src/graph/recording/recording.ts'
import type { RecordedBlock, RecordedCall } from '../../../../src/graph/recording/recording.ts'
import { recordingMax, RecordingRoom } from '../../../../src/graph/recording/recording-room.ts'
import { RunSecrets } from '../../../../src/graph/recording/run-secrets.ts'
import { RunRecording } from '../../../../src/graph/recording/run-recording.ts'

const empty: CallBody = { length: 0, read: async () => new Uint8Array() }
const site = { step: 1, nodes: ['ask'], path: ['push', 0], checkpointNs: '', checkpointId: 'c',
  taskId: 't', attempt: 1 }
const call: Call = { id: 1, client: 'fetch', method: 'GET', url: 'http://shop.test/', headers: [],
  body: empty, site }
const ok = { status: 200, statusText: '',
  headers: [['content-type', 'text/plain'], ['set-cookie', 'a=b'], ['x-request-id',
    'r1']] as const }

function opened(waiting = { bytes: 0 }) {
  const blocks: Uint8Array[] = []
  let nowMs = 1_000
  const recording = new RunRecording({ runId: 'r', threadId: 't', graphId: 'g', attempt: 1,
    startedAtMs: 900 }, { room: new RecordingRoom(waiting),
    secrets: new RunSecrets((text) => text.replaceAll('canary-12345', '*'.repeat(12))),
    nowMs: () => nowMs, monotonicMs: () => nowMs += 5,
    send: async (_, packed) => void blocks.push(packed) })
  return {
    waiting,
    blocks,
    begin: (made: Partial<Call> = {}) => {
      const decision = recording.decide({ ...call, ...made })
      return decision.kind === 'pass' ? decision.watcher : undefined
    },
    ended: async (own?: Parameters<RunRecording['ended']>[0]) => {
      await recording.ended(own)
      const all: RecordedBlock[] = await Promise.all(blocks.map(decodeBlock))
      return { all, execution: executionsIn(all)[0] }
    },
  }
}

function answer(watcher: CallWatcher | undefined, ...chunks: readonly (string | Uint8Array)[]) {
  watcher!.head!(ok)
  for (const chunk of chunks) watcher!.chunk!(Buffer.from(chunk as string))
  void watcher!.ended!({ kind: 'done' })
}

const textOf = (chunks: readonly Uint8Array[]) => Buffer.concat(chunks).toString()

describe('a recording', () => {
  it('has calls in their order, with what came and when', async () => {
    const run = opened()
    const first = run.begin({ method: 'POST' })
    const second = run.begin()
    answer(second, 'two')
    first!.sent!(Buffer.from('ask'))
    answer(first, 'on', 'e')
    const { execution } = await run.ended()
    expect(execution).toMatchObject({ isCut: false, graphId: 'g' })
    expect(
      execution!.calls.map(({ no, ordinal, answer: { chunks } }) => [no, ordinal, textOf(chunks)]),
    ).toEqual([[0, 0, 'one'], [1, 1, 'two']])
    expect(execution!.calls[0]).toMatchObject({ end: 'done', request: { bytes: 3 },
      head: { status: 200, headers: [['content-type', 'text/plain'], ['x-request-id', 'r1']] } })
    expect(execution!.calls[0]!.answer.chunks).toHaveLength(2)
    expect(run.waiting.bytes).toBe(0)
  })

  it('of a run without calls is nothing', async () => {
    const run = opened()
    expect((await run.ended()).all).toEqual([])
  })

  it('has the run itself in its last block, if it is given', async () => {
    const run = opened()
    answer(run.begin(), new Uint8Array(1024 * 1024))
    answer(run.begin(), 'two')
    const { all, execution } = await run.ended(() => Buffer.from('{"a":1}'))
    expect(all.map((block) => block.run && textOf([block.run]))).toEqual([undefined, '{"a":1}'])
    expect([textOf([execution!.run!]), execution!.isCut]).toEqual(['{"a":1}', false])
    expect(run.waiting.bytes).toBe(0)
  })

  it.each([
    ['there is no room for it', () => new Uint8Array(recordingMax.runBytes)],
    ['it is too large to be packed', () => undefined],
  ])('is cut without the run itself, if %s', async (_, own) => {
    const run = opened()
    answer(run.begin(), 'one')
    const { execution } = await run.ended(own)
    expect(execution).toMatchObject({ isCut: true, calls: [{ answer: { isCut: false } }] })
    expect([execution!.run, run.waiting.bytes]).toEqual([undefined, 0])
  })

  it('has a secret nowhere, also one that is in two chunks', async () => {
    const run = opened()
    const watcher = run.begin({ url: 'http://shop.test/?api_key=abc&page=2' })
    answer(watcher, 'a cana', 'ry-12345.')
    const { execution } = await run.ended()
    const [{ url, answer: { chunks } }] = execution!.calls as [RecordedCall]
    expect(url).toBe('http://shop.test/?api_key=***&page=2')
    expect(chunks.map((chunk) => Buffer.from(chunk).toString())).toEqual(['a ****', '********.'])
  })

  it('hides a token of a response wherever later calls and the run contain it', async () => {
    const run = opened()
    const token = 'opaque-0123456789/x'
    answer(run.begin(), JSON.stringify({ access_token: token }))
    const later = run.begin({ url: `http://shop.test/bot${encodeURIComponent(token)}/send` })
    later!.sent!(Buffer.from(JSON.stringify({ note: `by ${token}` })))
    answer(later, Buffer.from(`user:${token}`).toString('base64'))
    const { execution } = await run.ended((hide) => Buffer.from(hide(`{"a":"${token}"}`)))
    const [, { url, request, answer: echoed }] = execution!.calls as [RecordedCall, RecordedCall]
    const texts = [url, textOf(request.chunks), textOf(echoed.chunks), textOf([execution!.run!])]
    expect(texts).toEqual([expect.stringMatching(/bot\*{21}\/send$/),
      `{"note":"by ${'*'.repeat(19)}"}`, expect.stringMatching(/^\w{6}\*{25,}/),
      `{"a":"${'*'.repeat(19)}"}`])
  })

  it('takes the compression away, so that secrets are seen', async () => {
    const run = opened()
    const watcher = run.begin()
    watcher!.head!({ ...ok, headers: [['content-encoding', 'gzip']] })
    watcher!.chunk!(gzipSync('my canary-12345'))
    void watcher!.ended!({ kind: 'done' })
    const { execution } = await run.ended()
    expect(textOf(execution!.calls[0]!.answer.chunks)).toBe('my ************')
    expect(execution!.calls[0]!.head!.headers).toEqual([])
  })

  it('drops a body above its bound, and says so', async () => {
    const run = opened()
    const watcher = run.begin()
    watcher!.sent!(new Uint8Array(bodyBytesMax.request))
    watcher!.sent!(new Uint8Array(1))
    answer(watcher, 'small')
    const { execution } = await run.ended()
    expect(execution!.isCut).toBe(true)
    expect(execution!.calls[0]).toMatchObject({
      request: { bytes: bodyBytesMax.request + 1, chunks: [], isCut: true },
      answer: { isCut: false },
    })
    expect(run.waiting.bytes).toBe(0)
  })

  it('keeps no more bytes than a run may have, but all its calls', async () => {
    const run = opened()
    const fit = recordingMax.runBytes / bodyBytesMax.answer
    for (let at = 0; at <= fit; at++) answer(run.begin(), new Uint8Array(bodyBytesMax.answer))
    const { execution, all } = await run.ended()
    expect(execution!.calls.map(({ answer: { isCut } }) => isCut))
      .toEqual([...Array.from({ length: fit }, () => false), true])
    expect(all.length).toBeGreaterThan(fit)
    expect(run.waiting.bytes).toBe(0)
  })

  it('drops bodies while too much of the worker waits', async () => {
    const run = opened({ bytes: recordingMax.waitingBytes - 2 })
    answer(run.begin(), 'abc')
    const { execution } = await run.ended()
    expect(execution!.calls[0]!.answer).toMatchObject({ bytes: 3, isCut: true })
  })

  it('has a bound on calls: those above pass unseen', async () => {
    const run = opened()
    for (let at = 0; at < recordingMax.runCalls; at++) answer(run.begin())
    expect(run.begin()).toBeUndefined()
    const { execution } = await run.ended()
    expect([execution!.calls.length, execution!.isCut]).toEqual([recordingMax.runCalls, true])
  })

  it.each([
    [{ kind: 'failed', error: withCode('ECONNREFUSED'), mayHaveLeft: false } as const, 'refused'],
    [{ kind: 'failed', error: withCode('UND_ERR_HEADERS_TIMEOUT'), mayHaveLeft: true } as const,
      'timed_out'],
    [{ kind: 'failed', error: withCode('ECONNRESET'), mayHaveLeft: true } as const, 'reset'],
    [{ kind: 'cancelled', mayHaveLeft: true } as const, 'aborted'],
  ])('tells how a call failed: %o', async (how, end) => {
    const run = opened()
    void run.begin()!.ended!(how)
    expect((await run.ended()).execution!.calls[0]!.end).toBe(end)
  })

  it('has a call that goes on as it is at the end, and lets later ones pass', async () => {
    const run = opened()
    const watcher = run.begin()
    watcher!.head!(ok)
    watcher!.chunk!(Buffer.from('so far'))
    const ended = run.ended()
    watcher!.chunk!(Buffer.from(' and more'))
    const { execution } = await ended
    expect(execution!.calls[0]).toMatchObject({ end: 'open', answer: { bytes: 6 } })
    expect(run.begin()).toBeUndefined()
    expect(run.waiting.bytes).toBe(0)
  })

  it('has the request of a call that was answered without being sent', async () => {
    const run = opened()
    answer(run.begin({ body: { length: 3, read: async () => Buffer.from('ask') } }), 'kept')
    const { execution } = await run.ended()
    expect(textOf(execution!.calls[0]!.request.chunks)).toBe('ask')
  })
})

function withCode(code: string): Error {
  return Object.assign(new Error(code), { code })
}
