/** A stateless run is recorded as it began and ended, without secrets, or not at all. */

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'

import type { Execution, RunRequest } from '../../../../src/graph/execution.ts'
import { byteHider } from '../../../../src/graph/recording/hidden-bytes.ts'
import { recordingMax } from '../../../../src/graph/recording/recording-room.ts'
import { labelIn, labelText } from '../../../../src/graph/recording/run-label.ts'
import { isStateless, labelOf, packedRun,
  statelessRunIn } from '../../../../src/graph/recording/stateless-run.ts'

const id = '0197aaaa-0000-7000-8000-000000000001'
const request: RunRequest = { kind: 'run', input: '{"asked":"rain"}', command: null, asked: null,
  config: '{"configurable":{}}', context: null, streamModes: ['values'], streamSubgraphs: false,
  interruptBefore: null, interruptAfter: null, durability: 'async', checkpoint: null, emitted: [] }
const execution: Execution = { id: 1, tenant: 't', threadId: id, runId: id, graphId: 'agent',
  attempt: 1, headId: null, revision: 'r1', request }
const well = { outcome: { status: 'success', waiting: false, interrupts: '{}', error: null },
  values: () => '{"answer":"yes"}' } as const
const as = (text: string) => text

const packed = (change: Partial<RunRequest>, ending = well, hide = as) =>
  packedRun({ ...execution, request: { ...request, ...change } as RunRequest }, ending, hide)
const kept = (...given: Parameters<typeof packed>) => statelessRunIn(packed(...given)!)!

describe('a recorded stateless run', () => {
  it('has what began it, its revision, its end and its result', () => {
    expect(kept({})).toEqual({ revision: 'r1', request, status: 'success', error: null,
      values: '{"answer":"yes"}' })
    const failed = {
      outcome: { ...well.outcome, status: 'error', error: { error: 'TypeError', message: 'no' } },
      values: () => undefined,
    } as const
    expect(packedRun(execution, failed, as)).toBeDefined()
    expect(statelessRunIn(packedRun(execution, failed, as)!)).toMatchObject({ status: 'error',
      error: { error: 'TypeError' }, values: null })
  })

  it('is read as it was written, whatever its input is', () => {
    fc.assert(fc.property(fc.json(), fc.json(), (input, context) => {
      const run = kept({ input, context })
      expect([run.request.input, JSON.parse(run.request.context!)])
        .toEqual([input, JSON.parse(context)])
    }), { numRuns: 50 })
  })

  it('has a secret nowhere, and no key of the configuration', () => {
    const config = JSON.stringify({
      configurable: { 'x-api-key': 'geheim', region: 'eu', langgraph_auth_user_id: 'ada',
        langgraph_auth_user: { token: 'wüst', name: 'Ada' } },
    })
    const hide = (text: string) => text.replaceAll('canary-12345', '*'.repeat(12))
    const run = kept({ input: '{"a":"canary-12345 ä"}', config }, well, hide)
    expect(run.request.input).toBe(`{"a":"${'*'.repeat(12)} ä"}`)
    expect(JSON.parse(run.request.config)).toEqual({
      configurable: { 'x-api-key': '******', region: 'eu', langgraph_auth_user_id: 'ada',
        langgraph_auth_user: { token: '****', name: 'Ada' } },
    })
  })

  it('has no events of an earlier attempt, which could contain secrets', () => {
    const emitted = [{ name: 'custom', json: '{"access_token":"tok-12345"}', valuesOf: '' }]
    expect(kept({ emitted }).request.emitted).toEqual([])
    expect(Buffer.from(packed({ emitted })!).toString()).not.toContain('tok-12345')
  })

  it('has no secret that JSON writes otherwise, and is not kept if it is no JSON then', () => {
    const secret = 'line "one"\nzwölf 12'
    const hide = byteHider({ PRIVATE_KEY: secret })
    const values = () => JSON.stringify({ shown: `<${secret}>` })
    const failed = { values, outcome: { ...well.outcome, error: { error: 'E', message: secret } } }
    const run = kept({ input: JSON.stringify({ a: secret }) }, failed as never, hide)
    const stars = /^\{"(?:a|shown)":"<?\*{20,}>?"\}$/
    expect([run.request.input, run.values!]).toEqual([expect.stringMatching(stars),
      expect.stringMatching(stars)])
    expect(run.error!.message).toMatch(/^\*+$/)
    expect(packed({ input: '["http://a:",[["b@"]]]' }, well, hide)).toBeUndefined()
  })

  it('is not kept above the bound of a recording, and not before its end', () => {
    expect(packed({ input: `"${'x'.repeat(recordingMax.runBytes)}"` })).toBeUndefined()
    const drained = { ...well, outcome: { ...well.outcome, status: 'drained' } } as const
    expect([packedRun(execution, drained, as), labelOf(execution, drained)])
      .toEqual([undefined, undefined])
  })

  it('is refused in another form, which user code could have written', () => {
    const run = kept({})
    const wrong = ['no JSON', '[]', '{}', JSON.stringify({ ...run, status: 'pending' }),
      JSON.stringify({ ...run, values: 1 }), JSON.stringify({ ...run, error: {} }),
      JSON.stringify({ ...run, request: { ...request, input: {} } }),
      JSON.stringify({ ...run, request: { ...request, kind: 'edit' } }),
      JSON.stringify({ ...run, request: { ...request, streamModes: [1] } })]
    for (const text of wrong) expect(statelessRunIn(Buffer.from(text))).toBeUndefined()
  })
})

it('Only a run that begins without a state, on a thread with its own id, is stateless.', () => {
  expect(isStateless(execution)).toBe(true)
  expect(isStateless({ ...execution, threadId: 'other' })).toBe(false)
  expect(isStateless({ ...execution, headId: 'c1' })).toBe(false)
})

it('A label is read as it was written, and nothing else is one.', () => {
  expect(labelIn(labelOf(execution, well)!)).toEqual({ runId: id, graphId: 'agent', revision: 'r1',
    status: 'success' })
  for (const text of ['calls', '[]', `["${id}","agent","r1","running"]`,
    '["a/b","agent","r1","error"]']) {
    expect(labelIn(text)).toBeUndefined()
  }
  expect(labelText({ runId: id, graphId: 'a'.repeat(1_000), revision: '', status: 'error' }))
    .toBeUndefined()
})
