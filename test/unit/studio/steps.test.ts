/** Steps of the time line: their names, and what is shown of them. */

import { describe, expect, it } from 'vitest'

import type { ThreadState } from '../../../src/studio/api/states.ts'
import { withNewest, withOlder } from '../../../src/studio/thread/screen/history.ts'
import { contracted, foldedRuns, passes, stepsOf,
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
    expect(steps.map(({ label }) => label)).toEqual(['Hello', 'start', 'model', 'tools', 'Input',
      'start', 'model', 'tools'])
    expect(steps[6]).toMatchObject({ said: '→ get_weather', tookMs: 1_000, number: 5 })
    expect(steps[3]).toMatchObject({ said: 'messages' })
    expect(steps[0]!.tookMs).toBeUndefined()
  })

  it('say where they failed, and where they wait', () => {
    const [failed, waits] = stepsOf([
      { checkpoint_id: '2', tasks: [{ id: 't', name: 'a', error: 'no' }] },
      { checkpoint_id: '1', tasks: [{ id: 't', name: 'a', interrupts: [{ id: 'i', value: 1 }] }] },
    ], new Map())
    expect([failed!.status, waits!.status]).toEqual(['failed', 'waiting'])
  })

  it('a run folds to one row with its words; what is kept stays', () => {
    const steps = stepsOf(history, new Map([['a0', 'Hello'], ['b0', 'More']]))
    expect(
      foldedRuns(steps, new Set(['b1'])).map((
        { id, parent, label, folded },
      ) => [id, parent, label, folded]),
    ).toEqual([['b3', 'b1', 'More', 1], ['b1', 'a3', 'More', 1], ['a3', undefined, 'Hello', 3]])
  })

  it('a step where a branch begins is no part of a fold', () => {
    const branch = { ...run('c', 'a1', 9)[0]! }
    const steps = stepsOf([branch, ...history], new Map())
    expect(foldedRuns(steps, new Set()).map(({ id }) => id)).toEqual(['c0', 'b3', 'a3', 'a1'])
  })

  it('a filter leads each step down to the next one that it shows', () => {
    const steps = stepsOf(history, new Map())
    const shown = contracted(steps, (step) => passes(step, { inputs: true }))
    expect(shown.map(({ id, parent }) => [id, parent])).toEqual([['b0', 'a0'], ['a0', undefined]])
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
