/** Failures as the page of a thread reads them: of states, of runs, of anything that is broken. */

import { describe, expect, it } from 'vitest'

import { failuresOf, readFailure, runFailure } from '../../../src/studio/failures/failure.ts'
import type { ThreadState } from '../../../src/studio/api/states.ts'
import { failuresShown } from '../../../src/studio/thread/screen/shown-failures.ts'
import type { FailurePlace } from '../../../src/studio/thread/screen/shown-failures.ts'

const error = JSON.stringify({ name: 'TypeError', message: 'no', stack: 'at a (a.ts:1:2)' })
const failed: ThreadState = { tasks: [{ id: '1', name: 'a', error }, { id: '2', name: 'b' }] }
const stored = { node: 'a', name: 'TypeError', message: 'no', stack: 'at a (a.ts:1:2)' }

describe('a failure', () => {
  it('of a state has its node, its error and its places', () => {
    expect(failuresOf(failed)).toEqual([stored])
    expect(failuresOf(undefined)).toEqual([])
  })

  it.each([['plain', 'Error', 'plain'], ['"text"', 'Error', '"text"'], ['null', 'Error', 'null'], [
    '{"name":7,"message":{}}',
    'Error',
    '{"name":7,"message":{}}',
  ], ['{"message":"<img src=x>"}', 'Error', '<img src=x>'], ['[1]', 'Error', '[1]']])(
    'that is %s is shown as text',
    (text, name, message) => {
      expect(readFailure('n', text)).toEqual({ node: 'n', name, message, stack: '' })
    },
  )

  it('of a run has no node', () => {
    expect(runFailure({ error: 'GraphRecursionError', message: 'too many' }))
      .toEqual({ node: undefined, name: 'GraphRecursionError', message: 'too many', stack: '' })
    expect(runFailure(null)).toBeUndefined()
    expect(runFailure('odd')).toMatchObject({ name: 'Error', message: '"odd"' })
  })
})

describe('the page of a thread shows', () => {
  const place: FailurePlace = { shown: failed, isNow: true, isBusy: false,
    thread: { status: 'error', error: { error: 'TypeError', message: 'no' } }, live: undefined }
  const seen = { error: { error: 'TypeError', message: 'no' }, nodes: {
    a: { state: 'failed' as const, times: 1, startedMs: 1, endedMs: 2 },
  } }

  it('what is stored, before and after a reload', () => {
    expect(failuresShown(place)).toEqual([stored])
    expect(failuresShown({ ...place, live: seen })).toEqual([stored])
    expect(failuresShown({ ...place, isNow: false, isBusy: true })).toEqual([stored])
  })

  it('what was seen until that is read, with its node', () => {
    expect(failuresShown({ ...place, shown: {}, live: seen }))
      .toEqual([{ node: 'a', name: 'TypeError', message: 'no', stack: '' }])
  })

  it('what ended the last run where no node failed', () => {
    expect(failuresShown({ ...place, shown: {} })).toMatchObject([{ node: undefined }])
    expect(failuresShown({ ...place, shown: {}, isNow: false })).toEqual([])
    expect(failuresShown({ ...place, shown: {}, thread: { status: 'idle', error: null } }))
      .toEqual([])
  })

  it('nothing while a run goes on, nor of an answer that came too late', () => {
    expect(failuresShown({ ...place, isBusy: true })).toEqual([])
    expect(failuresShown({ ...place, shown: {}, live: { nodes: {}, error: {
      error: 'UnknownInterruptError',
    } } })).toEqual([])
  })
})
