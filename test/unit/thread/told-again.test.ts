/** What a resumed run would tell again of its subgraphs: of tasks that they do again. */

import { expect, it } from 'vitest'

import type { RecordOf } from '../../../src/checkpoint/index.ts'
import { ToldAgain } from '../../../src/thread/told-again.ts'

const inner = 'sub:1'
const update = `updates|${inner}`

function checkpoint(ns: string): RecordOf {
  return { $case: 'checkpoint', value: { runId: 'r', ns, id: 'c', parentId: '', full: true,
    changes: [], skeletonJson: '{}', metadataJson: '{}', atMs: 0 } }
}

function writes(ns: string): RecordOf {
  return { $case: 'writes', value: { ns, checkpointId: 'c', taskId: 't', writes: [] } }
}

function told(...events: readonly (readonly [name: string, json: string])[]): RecordOf {
  return { $case: 'told', value: { runId: 'r',
    events: events.map(([name, json], index) => ({ index, name, json, valuesOf: '' })) } }
}

/** The records are given as the log has them. */
function again(...records: readonly RecordOf[]): string[] {
  const seen = new ToldAgain()
  for (const record of records.toReversed()) seen.see(record)
  return seen.events().map(({ json }) => json)
}

it('is what was done since the subgraph put its newest checkpoint', () => {
  expect(again(checkpoint(''), checkpoint(inner), writes(inner), told([update, 'before']),
    checkpoint(inner), writes(inner), told([update, 'one']), writes(inner), told([update, 'two'])))
    .toEqual(['one', 'two'])
})

it('is not what led to the checkpoint that stands beside it', () => {
  expect(again(checkpoint(''), writes(inner), checkpoint(inner), writes(inner),
    told([update, 'before'], ['values', 'kept'], [update, 'since']))).toEqual(['kept', 'since'])
  expect(again(checkpoint(''), writes(inner), checkpoint(inner), told([update, 'before'])))
    .toEqual([])
})

it('is what a subgraph did that puts no checkpoints, and nothing of one that is over', () => {
  expect(again(checkpoint(''), told([update, 'one']), told(['updates|other', 'two'])))
    .toEqual(['two'])
})

it('is in any other mode and space what was told', () => {
  expect(again(checkpoint(''), told([`values|${inner}`, 'one'], ['updates|other|deep', 'two']),
    checkpoint(inner), told(['updates', 'three']), checkpoint('other|deep')))
    .toEqual(['one', 'three'])
})
