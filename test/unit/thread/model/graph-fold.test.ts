/** The subgraphs of a run that the records of its log name, and how each of them stands. */

import { expect, it } from 'vitest'

import type { RecordOf } from '../../../../src/checkpoint/index.ts'
import { GraphFold, subgraphsMax } from '../../../../src/thread/model/graph-fold.ts'

const started = (runId = 'r') => ({ $case: 'runStarted', value: { runId } }) as RecordOf
const put = (ns: string, runId = 'r') => ({ $case: 'checkpoint', value: { ns, runId } }) as RecordOf
const wrote = (ns: string, taskId: string, ...channels: string[]) =>
  ({ $case: 'writes',
    value: { ns, taskId, writes: channels.map((channel) => ({ channel })) } }) as RecordOf

function statuses(...records: RecordOf[]) {
  const fold = new GraphFold('r', false)
  fold.take([started(), ...records])
  return Object.fromEntries(fold.answer.graphs.map(({ ns, status }) => [ns, status]))
}

it('a subgraph runs from its first checkpoint, until its task has written', () => {
  expect(statuses(put(''), put('a:1'))).toEqual({ 'a:1': 'running' })
  expect(statuses(put('a:1'), wrote('', '1', 'messages'))).toEqual({ 'a:1': 'completed' })
  expect(statuses(put('a:1'), wrote('', '1', '__interrupt__'))).toEqual({ 'a:1': 'interrupted' })
  expect(statuses(put('a:1'), wrote('', '1', 'x', '__error__'))).toEqual({ 'a:1': 'failed' })
  expect(statuses(put('a:1'), wrote('a:1', '1', 'x'), wrote('', '2', 'x')))
    .toEqual({ 'a:1': 'running' })
})

it('a checkpoint of the graph around them ends those that run, and no others', () => {
  expect(statuses(put('a:1'), put('a:1|b:2'), put('memory'), put('a:1')))
    .toEqual({ 'a:1': 'running', 'a:1|b:2': 'completed', memory: 'running' })
  expect(statuses(put('a:1'), put('memory'), wrote('', '1', '__interrupt__'), put('')))
    .toEqual({ 'a:1': 'interrupted', memory: 'completed' })
})

it('a subgraph that goes on after an answer runs again', () => {
  expect(statuses(put('a:1'), wrote('', '1', '__interrupt__'), put('a:1')))
    .toEqual({ 'a:1': 'running' })
})

it('what other runs wrote in the same rows does not count', () => {
  const fold = new GraphFold('r', false)
  fold.take([put('a:1', 'before'), wrote('', '2', '__error__'), started(), put('b:2')])
  fold.take([started('after'), put('c:3', 'after'), wrote('', '2', '__error__')])
  expect(fold.answer).toEqual({ graphs: [{ ns: 'b:2', status: 'running' }], isCut: false })
})

it('a run that had begun before is its own from the first record on, and is cut', () => {
  const fold = new GraphFold('r', true)
  fold.take([put('a:1'), wrote('', '1', 'x')])
  expect(fold.answer).toEqual({ graphs: [{ ns: 'a:1', status: 'completed' }], isCut: true })
})

it('those beyond the bound are left out, and the answer says so', () => {
  const fold = new GraphFold('r', false)
  fold.take([started(), ...Array.from({ length: subgraphsMax }, (_, at) => put(`a:${at}`))])
  expect(fold.answer.isCut).toBe(false)
  fold.take([put('b:1'), wrote('', '0', 'x')])
  expect(fold.answer.graphs.length).toBe(subgraphsMax)
  expect(fold.answer.graphs[0]).toEqual({ ns: 'a:0', status: 'completed' })
  expect(fold.answer.isCut).toBe(true)
})
