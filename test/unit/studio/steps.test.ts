/** Steps of the time line: their names, and what is shown of them. */

import { describe, expect, it } from 'vitest'

import type { ThreadState } from '../../../src/studio/api/states.ts'
import { withNewest, withOlder } from '../../../src/studio/thread/screen/history.ts'
import { contracted, foldedRuns, passes, rowIdOf, stepsOf,
  wordsOf } from '../../../src/studio/timeline/steps.ts'

const at = (second: number) => new Date(Date.UTC(2026, 0, 1, 0, 0, second)).toISOString()

/** One run of two nodes, oldest first: input, start, model, tools. */
function run(name: string, from: string | undefined, first: number): readonly ThreadState[] {
  const one = (place: number, source: 'input' | 'loop', next: string): ThreadState => ({
    checkpoint_id: `${name}${place}`,
    parent_checkpoint_id: place === 0 ? from ?? null : `${name}${place - 1}`,
    metadata: { step: first + place, source, run_id: name },
    tasks: next === '' ? [] : [{ id: `${name}${place}`, name: next }],
    created_at: at(first + place),
    channels: { messages: 10, [`branch:to:${next}`]: 4 },
  })
  return [one(0, 'input', '__start__'), one(1, 'loop', 'model'), one(2, 'loop', 'tools'),
    one(3, 'loop', '')]
}

const history = [...run('a', undefined, -1), ...run('b', 'a3', 3)].toReversed()

describe('steps', () => {
  it('are named by what ran, and inputs by their words', () => {
    const words = new Map([['a0', 'Hello'], ['b2', '→ get_weather']])
    const steps = stepsOf(history, words).toReversed()
    expect(steps.map(({ label }) => label)).toEqual(['Hello', 'model', 'tools', 'Input', 'model',
      'tools'])
    expect(steps[4]).toMatchObject({ said: '→ get_weather', tookMs: 1_000, number: 5 })
    expect(steps[2]).toMatchObject({ said: 'messages' })
    expect(steps[0]!.tookMs).toBeUndefined()
  })

  it('inputs are numbered as turns, and have the state that took them in', () => {
    const rows = stepsOf(history, new Map()).filter(({ kind }) => kind === 'input')
    expect(rows.map(({ id, inputId, turn, number }) => [id, inputId, turn, number]))
      .toEqual([['b1', 'b0', 2, undefined], ['a1', 'a0', 1, undefined]])
    // Of a history that was not read to its end, the turns are not known.
    expect(stepsOf(history.slice(0, 5), new Map()).map(({ turn }) => turn))
      .toEqual([undefined, undefined, undefined])
  })

  it('an input in other words begins the same turn again, below the one before', () => {
    const other = run('c', 'b0', 9)
    const rows = stepsOf([...other.toReversed(), ...history], new Map())
    expect(rows.find(({ inputId }) => inputId === 'c0')).toMatchObject({ turn: 2, parent: 'a3' })
  })

  it('what failed is a step by the names of its nodes, and says why', () => {
    const failed = (...ids: readonly string[]): readonly ThreadState[] =>
      history.filter(({ checkpoint_id: id }) => ids.includes(id!)).map((state, at) =>
        at > 0
          ? state
          : { ...state,
            tasks: ['x', 'y'].map((name) => ({ id: name, name,
              error: JSON.stringify({ name: 'TypeError', message: `no ${name}` }) })
            ) }
      )
    const atFirst = stepsOf(failed('a0', 'a1'), new Map([['a0', 'Hello']]))
    expect(atFirst.map(({ id, label, said, status, turn }) => [id, label, said, status, turn]))
      .toEqual([['a1', 'x, y', 'TypeError: no x', 'failed', 1], ['a0', 'Hello', '', undefined, 1]])
    const later = stepsOf(failed('a0', 'a1', 'a2'), new Map())
    expect(
      later.map((
        { id, checkpointId, label, status, number },
      ) => [id, checkpointId, label, status, number]),
    ).toEqual([['a2 failed', 'a2', 'x, y', 'failed', 2], ['a2', 'a2', 'model', undefined, 1], ['a1',
      'a1', 'Input', undefined, undefined]])
    expect([rowIdOf(later, 'a2', { any: true }), rowIdOf(later, 'a2', 'x'),
      rowIdOf(later, 'a2', 'model'), rowIdOf(later, 'a0', undefined),
      rowIdOf(atFirst, 'a1', undefined)])
      .toEqual(['a2 failed', 'a2 failed', 'a2', 'a1', 'a1'])
    // Tried again with success, it is none.
    const again = stepsOf([history.find(({ checkpoint_id: id }) => id === 'a3')!,
      ...failed('a0', 'a1', 'a2')], new Map())
    expect(again.map(({ status }) => status)).toEqual([undefined, undefined, undefined])
  })

  it('say where they wait', () => {
    const question = [{ id: 't', name: 'a', interrupts: [{ id: 'i', value: 1 }] }]
    const waiting = history.map((state) =>
      state.checkpoint_id === 'b2' ? { ...state, tasks: question } : state
    )
    expect(stepsOf(waiting, new Map()).map(({ status }) => status))
      .toEqual([undefined, 'waiting', ...Array.from({ length: 4 }, () => undefined)])
  })

  it('a run folds to one row with its words; what is kept stays', () => {
    const steps = stepsOf(history, new Map([['a0', 'Hello'], ['b0', 'More']]))
    expect(
      foldedRuns(steps, new Set(['b1'])).map((
        { id, parent, label, folded },
      ) => [id, parent, label, folded]),
    ).toEqual([['b3', 'b1', 'More', 1], ['b1', 'a3', 'More', 0], ['a3', undefined, 'Hello', 2]])
  })

  it('a step where a branch begins is no part of a fold', () => {
    const branch = { ...run('c', 'a1', 9)[0]! }
    const steps = stepsOf([branch, ...history], new Map())
    expect(foldedRuns(steps, new Set()).map(({ id }) => id)).toEqual(['c0', 'b3', 'a3', 'a1'])
  })

  it('a filter leads each step down to the next one that it shows', () => {
    const steps = stepsOf(history, new Map())
    const shown = contracted(steps, (step) => passes(step, { inputs: true }))
    expect(shown.map(({ id, parent }) => [id, parent])).toEqual([['b1', 'a1'], ['a1', undefined]])
    expect(contracted(steps, (step) => passes(step, { node: 'tools', run: 'b' }))).toHaveLength(1)
  })

  it('words are those of the last message, or the tools that it calls', () => {
    expect(wordsOf({ model: { messages: [{ content: 'one' }, { content: 'two\n three' }] } }))
      .toBe('two three')
    expect(wordsOf({ model: { messages: { content: '', tool_calls: [{ name: 'look' }] } } }))
      .toBe('→ look')
    expect(wordsOf({ __start__: { topic: 't' } })).toBe('')
    expect(wordsOf(null)).toBe('')
  })
})

describe('the history', () => {
  const page = (...ids: readonly string[]): readonly ThreadState[] =>
    ids.map((id) => ({ checkpoint_id: id }))
  const idsOf = ({ steps }: { steps: readonly ThreadState[] }) =>
    steps.map(({ checkpoint_id: id }) => id).join('')

  it('keeps older steps behind the newest, and drops what was undone', () => {
    const known = withOlder(withNewest(undefined, page('d', 'c'), 2), page('b', 'a'), 2)
    expect(idsOf(known)).toBe('dcba')
    expect(idsOf(withNewest(known, page('e', 'd'), 2))).toBe('edcba')
    expect(idsOf(withNewest(known, page('x', 'b'), 2))).toBe('xba')
  })

  it('begins again if nothing overlaps', () => {
    const known = withNewest(undefined, page('b', 'a'), 2)
    expect(withNewest(known, page('z', 'y'), 2)).toEqual({ steps: page('z', 'y'), hasMore: true })
    expect(withNewest(known, page('z'), 2).hasMore).toBe(false)
  })
})
