/** Edits of states, events and runs: what is made of them before they are shown or sent. */

import { describe, expect, it } from 'vitest'

import type { Run } from '../../../src/studio/api/runs.ts'
import { curlFor, isShown, linesOf, readEvent,
  runOf } from '../../../src/studio/thread/events/event-words.ts'
import { repetitionOf } from '../../../src/studio/thread/runs/run-words.ts'
import { mergedChannels, overwrites, readEdit,
  writesOf } from '../../../src/studio/thread/state/state-edit.ts'

const message = (id: string, content: string) => ({ type: 'human', id, content })
const event = (event: string, data: unknown, id = '1.1', atMs = 100) => ({ event,
  text: JSON.stringify(data), id, atMs })
const run = (more: Partial<Run>): Run => ({ run_id: 'r', thread_id: 't', assistant_id: 'a',
  created_at: '', updated_at: '', status: 'success', metadata: {}, multitask_strategy: 'enqueue',
  cancel_reason: null, ...more })

describe('an edit', () => {
  const before = { topic: 'x', log: ['a'], messages: [message('1', 'a'), message('2', 'b')] }

  it('writes only the channels that differ', () => {
    expect(readEdit(before, JSON.stringify({ ...before, topic: 'y' })))
      .toEqual({ kind: 'edit', wanted: { topic: 'y' }, missing: [] })
    expect(readEdit(before, JSON.stringify({ log: ['a'], messages: before.messages })))
      .toEqual({ kind: 'edit', wanted: {}, missing: ['topic'] })
  })

  it('says what is wrong with a text', () => {
    expect(readEdit(before, '{')).toMatchObject({ kind: 'fault' })
    expect(readEdit(before, '[]')).toMatchObject({ kind: 'fault',
      fault: 'A state is an object: a value for each channel.' })
  })

  it('names messages that are gone', () => {
    const wanted = { messages: [message('2', 'B')], log: [] }
    expect(writesOf(before, wanted)).toEqual({
      messages: [{ type: 'remove', id: '1' }, message('2', 'B')],
      log: [],
    })
  })

  it('knows what a reducer merged, and writes in its place', () => {
    const wanted = { topic: 'y', log: ['b'] }
    expect(mergedChannels(wanted, { topic: 'y', log: ['a', 'b'] })).toEqual(['log'])
    expect(overwrites(wanted, ['log'])).toEqual({ log: { __overwrite__: ['b'] } })
  })
})

describe('an event', () => {
  const inner = readEvent(event('updates|research:9f1d', { plan: { log: [] } }))

  it('is of a kind, and of nodes in a place', () => {
    expect(inner).toMatchObject({ mode: 'updates', namespace: ['research'],
      nodes: ['research:plan'] })
    const piece = [{ content: 'a' }, { langgraph_node: 'model' }]
    expect(readEvent(event('messages', piece)).nodes).toEqual(['model'])
    expect(readEvent(event('messages|model:9f1d', piece)).nodes).toEqual(['model'])
    expect(readEvent(event('messages|sub:1a2b|model:9f1d', piece)).nodes).toEqual(['sub:model'])
    expect(readEvent(event('tasks', { id: '1', name: 'tools' })).nodes).toEqual(['tools'])
    expect(readEvent({ ...event('error', null), text: 'no JSON' }).nodes).toEqual([])
  })

  it('is shown by its kind, its node, and the box around it', () => {
    expect(isShown(inner, {})).toBe(true)
    expect(isShown(inner, { mode: 'values' })).toBe(false)
    expect(isShown(inner, { mode: 'updates', node: 'research' })).toBe(true)
    expect(isShown(inner, { node: 'research:plan' })).toBe(true)
    expect(isShown(inner, { node: 'research:search' })).toBe(false)
  })

  it('is a line of a file', () => {
    expect(linesOf([event('values', { a: 1 }, '2.1', 150)], 100))
      .toBe('{"ms":50,"id":"2.1","event":"values","data":{"a":1}}\n')
  })

  it('names the run whose events are asked for again, and no key', () => {
    const id = runOf([event('metadata', { run_id: 'r1' }), event('values', {})])
    expect(curlFor('http://127.0.0.1:2024', 't1', id, true)).toBe('curl -N ' +
      `-H "x-api-key: $HEDDLE_API_KEY" -H 'last-event-id: -' ` +
      `'http://127.0.0.1:2024/threads/t1/runs/r1/stream'`)
  })
})

describe('a run', () => {
  it('is done again with its input and settings, as a run of its own', () => {
    expect(repetitionOf(run({ kwargs: { input: { topic: 'x' }, temporary: false, stream_mode: [
      'values',
    ],
      config: { tags: ['t'],
        configurable: { run_id: 'r', thread_id: 't', model: 'm', graph_id: 'g',
          assistant_id: 'a' } } } })))
      .toEqual({ assistant_id: 'a', input: { topic: 'x' }, stream_mode: ['values'],
        config: { tags: ['t'], configurable: { model: 'm' } } })
  })
})
