/** Answers of people in a chat: which runs had them, and what they say. */

import { expect, it } from 'vitest'

import type { ThreadState } from '../../../src/studio/api/states.ts'
import { answeredOn, answersIn, answerWords } from '../../../src/studio/chat/answered.ts'

const state = (id: string, parent: string | null, source: 'input' | 'loop', run_id: string,
  who?: string): ThreadState => ({ checkpoint_id: id, parent_checkpoint_id: parent,
    metadata: { source, run_id, ...who !== undefined && { langgraph_auth_user_id: who } } })

const steps = [state('e', 'd', 'loop', 'r5'), state('d', 'c', 'input', 'r5'),
  state('c', 'b', 'loop', 'r4', 'ada'), state('b', 'a', 'loop', 'r1'),
  state('a', null, 'input', 'r1')]

it('stand where another run went on without an input', () => {
  const place = { checkpointId: 'b', runId: 'r4', stoppedId: 'r1', who: 'ada' }
  expect(answeredOn(steps, 'e')).toEqual([place])
  expect(answeredOn(steps, 'b')).toEqual([])
  expect(answeredOn(steps, undefined)).toEqual([])
  const run = (run_id: string, command?: object) => ({ run_id, kwargs: { command } as never })
  const runs = [run('r5'), run('r4', { resume: 'blue' }), run('r3'),
    run('r2', { resume: { a: 1 } }), run('r1')]
  expect(answersIn(runs, place)).toEqual([
    { type: 'answer', id: 'answer r2', content: '{"a":1}', name: 'ada' },
    { type: 'answer', id: 'answer r4', content: 'blue', name: 'ada' },
  ])
  expect(answersIn(runs.slice(0, 1), place)).toEqual([])
})

it.each<readonly [unknown, string]>([
  ['<b>yes</b>', '<b>yes</b>'],
  [{ decisions: [{ type: 'approve' }, { type: 'reject', message: 'too long' }] },
    'Approved; Rejected: too long'],
  [{ type: 'response', args: 'later' }, 'Answered: later'],
  [{ type: 'toString' }, '{"type":"toString"}'],
  [{ decision: 'done', result: { id: 7 } }, 'It was done: {"id":7}'],
  [{ decision: 'done', result: '<b>sent</b>' }, 'It was done: <b>sent</b>'],
  [{ decision: 'done' }, 'It was done: null'],
  [true, 'true'],
  ['w'.repeat(10_000), 'w'.repeat(500)],
])('%j is said in words', (resume, words) => {
  expect(answerWords(resume)).toBe(words)
})
