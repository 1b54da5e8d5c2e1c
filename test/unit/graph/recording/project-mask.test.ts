/** The project's own redaction: what it gets, and what is stored if it fails. */

import { describe, expect, it } from 'vitest'

import type { Call, CallBody } from '../../../../src/graph/calls/call.ts'
import type { Execution } from '../../../../src/graph/execution.ts'
import { maskedRun } from '../../../../src/graph/recording/masked-call.ts'
import { maskWith, openMask } from '../../../../src/graph/recording/project-mask.ts'
import type { MaskedPart } from '../../../../src/graph/recording/project-mask.ts'
import { Recorder } from '../../../../src/graph/recording/recorder.ts'
import { decodeBlock } from '../../../../src/graph/recording/recording.ts'
import type { RecordedCall } from '../../../../src/graph/recording/recording.ts'
import { statelessRunIn } from '../../../../src/graph/recording/stateless-run.ts'
import { redactedIdentity } from '../../../../src/graph/replay/compared-request.ts'
import { virtualEnv } from '../../../support/env.ts'

const env = virtualEnv()
const as = (text: string) => text
const body: CallBody = { length: 0, read: async () => new Uint8Array() }
const call: Call = { id: 1, client: 'fetch', method: 'POST', url: 'http://a.test/of/ada',
  headers: [], body, site: undefined }
const execution = { id: 1, tenant: 't', runId: '0197aaaa-0000-7000-8000-000000000001',
  threadId: 'x', graphId: 'g', attempt: 1, request: { kind: 'run' } } as Execution

type MaskFunction = Parameters<typeof maskWith>[0]

/** Records one call with this function. */
async function recorded(mask: MaskFunction): Promise<RecordedCall & { readonly failures: number }> {
  const blocks: Uint8Array[] = []
  let failures = 0
  const recorder = new Recorder({
    ratio: 1,
    hide: as,
    mask: () => maskWith(mask, env),
    maskFailed: () => failures++,
    lost: () => {},
    send: async ({ packed }) => {
      blocks.push(packed)
      return 200
    },
    nowMs: () => 0,
    monotonicMs: () => 0,
    after: () => () => {},
  })
  const gate = recorder.openGate({ execution, outbox: {} as never })!
  const decision = await gate.decide(call)
  const watcher = decision.kind === 'pass' ? decision.watcher! : undefined
  watcher!.sent!(Buffer.from('ask of ada'))
  watcher!.head!({ status: 200, statusText: '', headers: [['location', '/of/ada']] })
  for (const chunk of ['of a', 'da']) watcher!.chunk!(Buffer.from(chunk))
  void watcher!.ended!({ kind: 'done' })
  recorder.ended(execution)
  await recorder.flush()
  const [block] = await Promise.all(blocks.map(decodeBlock))
  return { ...block!.calls[0]!, failures }
}

const textOf = (chunks: readonly Uint8Array[]) => Buffer.concat(chunks).toString()

describe('the mask of a project', () => {
  it('redacts the URL, both bodies and the location of a call', async () => {
    const parts: MaskedPart[] = []
    const found = await recorded((text, part) => {
      parts.push(part)
      return text.replaceAll('ada', '***')
    })
    expect(found).toMatchObject({ url: 'http://a.test/of/***', failures: 0,
      head: { headers: [['location', '/of/***']] } })
    expect([textOf(found.request.chunks), textOf(found.answer.chunks)])
      .toEqual(['ask of ***', 'of ***'])
    expect(found.answer.chunks).toHaveLength(2)
    expect(parts.map(({ kind }) => kind)).toEqual(['url', 'request', 'response', 'url'])
    expect(parts[1]).toEqual({ kind: 'request', method: 'POST', url: 'http://a.test/of/***',
      encoding: 'utf8' })
  })

  it('may be asynchronous and change the length of a body', async () => {
    const found = await recorded(async (text) => text.replaceAll('ada', 'a person'))
    expect(found.answer.chunks.map((chunk) => textOf([chunk]))).toEqual(['of a person'])
  })

  it.each<[string, MaskFunction]>([
    ['throws', () => {
      throw new Error('no')
    }],
    ['rejects', () => Promise.reject(new Error('no'))],
    ['returns no string', () => undefined],
    ['returns too much', (text) => text + 'x'.repeat(2 * 1024 * 1024)],
    ['fails for one body only', (text, { kind }) => {
      if (kind === 'response') throw new Error('no')
      return text
    }],
  ])('stores no body, no path and one warning if it %s', async (_, mask) => {
    const found = await recorded(mask)
    expect(found).toMatchObject({ url: 'http://a.test', failures: 1, method: 'POST',
      request: { bytes: 10, chunks: [], isCut: true },
      answer: { bytes: 6, chunks: [], isCut: true }, head: { status: 200, headers: [] } })
    expect(JSON.stringify(found)).not.toContain('ada')
  })

  it('fails if it does not end in time', async () => {
    const mask = maskWith(() => new Promise(() => {}), env)
    const masked = mask.text('ada', { kind: 'error', method: '', url: '' })
    env.advance(5_000)
    await expect(masked).rejects.toThrow('did not return a string')
  })

  it('gets bodies that are not UTF-8 as base64', async () => {
    const mask = maskWith((text, { encoding }) => encoding === 'base64' ? 'AAAA' : text, env)
    const part = { kind: 'request', method: 'POST', url: '' } as const
    expect(await mask.chunks([Buffer.from([0xff, 0xfe])], part)).toEqual([Buffer.alloc(3)])
  })

  it('redacts a stateless run, which is dropped if the result is no JSON', async () => {
    const request = { kind: 'run', input: '{"a":"ada"}', command: null, config: '{}', context: null,
      streamModes: [], emitted: [] }
    const run = Buffer.from(
      JSON.stringify({ revision: '', request, status: 'success', error: null,
        values: '{"b":"ada"}' }),
    )
    const masked = await maskedRun(run, maskWith((text) => text.replaceAll('ada', '***'), env),
      () => {})
    expect(statelessRunIn(masked!)).toMatchObject({ values: '{"b":"***"}',
      request: { input: '{"a":"***"}' } })
    const reasons: unknown[] = []
    const broken = maskWith(() => 'no JSON', env)
    expect(await maskedRun(run, broken, (reason) => reasons.push(reason))).toBeUndefined()
    expect(reasons).toHaveLength(1)
  })

  it('redacts both requests that a replay compares', async () => {
    const mask = maskWith((text) => text.replaceAll(/order-\d+/g, 'order'), env)
    const request = (text: string) => ({ method: 'POST', url: `http://a.test/${text}`, headers: [],
      chunks: [Buffer.from(text)] })
    const [one, other] = await Promise.all([redactedIdentity(request('order-1'), as, mask),
      redactedIdentity(request('order-2'), as, mask)])
    expect(one.exact).toBe(other.exact)
    const broken = maskWith(() => undefined, env)
    expect(await redactedIdentity(request('order-1'), as, broken))
      .toMatchObject({ url: 'http://a.test', text: '' })
  })
})

describe('the module of a mask', () => {
  const entry = (source: string, exportName = 'mask') => ({ exportName, failure: null,
    url: `data:text/javascript,${encodeURIComponent(source)}` })

  it('is loaded with its function', async () => {
    const mask = await openMask('/', entry('export const mask = (text) => text + "!"'), env)
    expect(await mask.text('a', { kind: 'error', method: '', url: '' })).toBe('a!')
  })

  it.each([['throws', entry('throw new Error("no")')], ['has no such export',
    entry('export const other = 1')], ['exports no function', entry('export const mask = 1')]])(
      'is refused if it %s',
      async (_, wrong) => {
        await expect(openMask('/', wrong, env)).rejects.toMatchObject({ code: 'graph_failed',
          message: expect.stringContaining('heddle.mask could not be loaded') })
      },
    )
})
