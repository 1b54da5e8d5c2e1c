/** Which events of subgraphs the engine would repeat on resume: those of tasks that run again. */

import { expect, it } from 'vitest'

import type { RecordOf } from '../../../../src/checkpoint/index.ts'
import { ReplayFilter } from '../../../../src/thread/log/replay-filter.ts'

const inner = 'sub:1'
const update = `updates|${inner}`

function checkpoint(ns: string): RecordOf {
  return { $case: 'checkpoint',
    value: { runId: 'r', ns, id: 'c', parentId: '', full: true, changes: [], skeletonJson: '{}',
      metadataJson: '{}', atMs: 0 } }
}

function writes(ns: string): RecordOf {
  return { $case: 'writes', value: { ns, checkpointId: 'c', taskId: 't', writes: [] } }
}

function emitted(...events: readonly (readonly [name: string, json: string])[]): RecordOf {
  return { $case: 'emitted',
    value: { runId: 'r',
      events: events.map(([name, json], index) => ({ index, name, json, valuesOf: '' })) } }
}

/** Takes the records in the order of the log. */
function again(...records: readonly RecordOf[]): string[] {
  const seen = new ReplayFilter()
  for (const record of records.toReversed()) seen.see(record)
  return seen.events().map(({ json }) => json)
}

it('Updates since the newest checkpoint of a subgraph would be repeated.', () => {
  expect(
    again(checkpoint(''), checkpoint(inner), writes(inner), emitted([update, 'before']),
      checkpoint(inner), writes(inner), emitted([update, 'one']), writes(inner),
      emitted([update, 'two'])),
  )
    .toEqual(['one', 'two'])
})

it('Updates that led to the checkpoint right before them would not be repeated.', () => {
  expect(
    again(checkpoint(''), writes(inner), checkpoint(inner), writes(inner),
      emitted([update, 'before'], ['values', 'kept'], [update, 'since'])),
  ).toEqual(['kept', 'since'])
  expect(again(checkpoint(''), writes(inner), checkpoint(inner), emitted([update, 'before'])))
    .toEqual([])
})

it('Updates of a subgraph without checkpoints would be repeated, unless it has ended.', () => {
  expect(again(checkpoint(''), emitted([update, 'one']), emitted(['updates|other', 'two'])))
    .toEqual(['two'])
})

it('Events of other modes and namespaces would be repeated.', () => {
  expect(
    again(checkpoint(''), emitted([`values|${inner}`, 'one'], ['updates|other|deep', 'two']),
      checkpoint(inner), emitted(['updates', 'three']), checkpoint('other|deep')),
  )
    .toEqual(['one', 'three'])
})
