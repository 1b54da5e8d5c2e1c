/** Rows as JSON: fields, selection, and values that are extracted by path. */

import { describe, expect, it } from 'vitest'

import { foundRunJson, runJson, threadJson } from '../../../../src/frontdoor/http/render.ts'
import { extractor } from '../../../../src/frontdoor/operations/extract.ts'
import { pick } from '../../../../src/json/index.ts'
import { timeText } from '../../../../src/json/time-text.ts'
import { ReadQuota } from '../../../../src/limits/read-quota.ts'
import { virtualEnv } from '../../../support/env.ts'
import { FakeRun, viewOf } from '../fake-threads.ts'

const view = viewOf('local', 't', { graph_id: 'agent' })
const parsed = (text: string) => JSON.parse(text) as Record<string, unknown>

const share = new ReadQuota(virtualEnv()).share('t')

describe('a thread', () => {
  it('has every field of the API, times with an offset', () => {
    expect(parsed(threadJson(view))).toEqual({
      thread_id: 't',
      status: 'idle',
      config: {},
      interrupts: {},
      error: null,
      metadata: { graph_id: 'agent' },
      values: { messages: [{ content: 'one' }, { content: 'two' }] },
      created_at: '2026-01-02T03:04:05.678+00:00',
      updated_at: '2026-01-02T03:04:05.678+00:00',
      state_updated_at: '2026-01-02T03:04:05.678+00:00',
    })
  })

  it('has its state exactly as it is stored', () => {
    expect(threadJson({ ...view, values: '{"n": 1.0}' })).toContain('"values":{"n": 1.0}')
  })

  it('has only the selected fields, and the extracted values', () => {
    expect(parsed(threadJson(view, ['status', 'context']))).toEqual({ status: 'idle' })
    expect(parsed(threadJson({ ...view, extracted: '{"last":1}' }, [])))
      .toEqual({ extracted: { last: 1 } })
    expect(parsed(threadJson({ ...view, extracted: '{"last":1}' }, ['status'])))
      .toEqual({ extracted: { last: 1 }, status: 'idle' })
  })
})

it('A run has the field revision only if a deployment executes it.', () => {
  const { row } = aFakeRun()
  expect(parsed(runJson(row))).not.toHaveProperty('revision')
  expect(parsed(runJson({ ...row, revision: 'r3' }))).toMatchObject({ revision: 'r3' })
  expect(parsed(foundRunJson({ ...row, revision: 'r3' }, ['revision'])))
    .toEqual({ revision: 'r3' })
})

it('A delayed run is shown as created when it may start.', () => {
  const { row } = aFakeRun()
  expect(parsed(runJson(row)).created_at).toBe(timeText(row.createdAtMs + 60_000))
})

function aFakeRun(): FakeRun {
  return new FakeRun('local', 't', {
    runId: 'r',
    assistantId: 'a',
    graphId: 'g',
    strategy: 'enqueue',
    commandId: '',
    metadata: {},
    kwargs: {},
    afterMs: 60_000,
    awaited: false,
    ifMissing: 'reject',
    plan: { graphId: 'g', assistantMetadata: {}, headers: {}, userId: '', resumable: false,
      temporary: false, timeoutMs: 1 },
  })
}

describe('extracting', () => {
  it.each([
    ['values.messages[-1].content', 'two'],
    ['values.messages[0]', { content: 'one' }],
    ['values.messages', [{ content: 'one' }, { content: 'two' }]],
    ['metadata.graph_id', 'agent'],
    ["metadata['graph_id']", 'agent'],
    ['values', { messages: [{ content: 'one' }, { content: 'two' }] }],
    ['values.messages[7].content', null],
    ['values.messages.content', null],
    ['values.nothing.at.all', null],
    ['metadata.toString', null],
    ['interrupts', {}],
  ])('%s', async (path, value) => {
    const json = {
      pick: async (_: string, text: string, paths: readonly (readonly string[])[]) =>
        pick(JSON.parse(text), paths),
    }
    const extract = extractor({ it: path }, share, json)
    expect(parsed(await extract(view))).toEqual({ it: value })
  })
})
