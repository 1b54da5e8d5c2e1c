/** What a run left in the log: read backwards, it is the same as read forwards. */

import fc from 'fast-check'
import { expect, it } from 'vitest'

import { encodeRow } from '../../../../src/checkpoint/index.ts'
import type { RecordOf } from '../../../../src/checkpoint/index.ts'
import { resumePointOf } from '../../../../src/thread/context/resume-point.ts'
import { unborn } from '../../../../src/thread/model/thread-state.ts'
import { newRun } from '../../../../src/thread/model/unfinished-run.ts'
import { expectAlways } from '../../../support/expect-always.ts'
import { MemoryLog } from '../../../support/memory-log.ts'

/** The task id under which the input of a run is written. */
const begin = '00000000-0000-0000-0000-000000000000'
const branch = { id: 'b', ancestors: [] }

function startOf(runId: string): RecordOf {
  return { $case: 'runStarted',
    value: { runId, atMs: 0, attempt: 1, baseCheckpointId: '', ownerDeaths: 0, suspect: false } }
}

/** What runs leave in the log, the oldest first. */
function recordsOf(...runIds: string[]): fc.Arbitrary<RecordOf[]> {
  const runId = fc.constantFrom(...runIds)
  const written = fc.constantFrom('log', '__resume__', '__interrupt__')
  const writes = fc.tuple(fc.constantFrom('t', begin), fc.array(written, { maxLength: 2 }))
    .map(([taskId, channels]): RecordOf => ({ $case: 'writes', value: {
      ns: '',
      checkpointId: 'c',
      taskId,
      writes: channels.map((channel, index) => ({ index, channel,
        value: { json: '{"id":"question"}', form: 0 } })
      ),
    } }))
  const checkpoint = fc.record({ runId, ns: fc.constantFrom('', 'inner') }).map((of): RecordOf => ({
    $case: 'checkpoint',
    value: { ...of, id: 'c', parentId: '', full: true, changes: [], skeletonJson: '{}',
      metadataJson: '{}', atMs: 0 },
  }))
  const emitted = fc.record({ runId, json: fc.string() }).map(({ runId, json }): RecordOf => ({
    $case: 'emitted',
    value: { runId,
      events: ['custom', 'end'].map((name, index) => ({ index, name, json, valuesOf: '' })) },
  }))
  return fc.array(
    fc.oneof({ weight: 4, arbitrary: emitted }, writes, checkpoint, runId.map(startOf)),
    { maxLength: 60 },
  )
}

/** Where run `r` resumes, by definition. Writes count only if it began on the head. */
function forwards(records: readonly RecordOf[], isOnHead: boolean) {
  let [wrote, emitted, asked] = [false, [] as unknown[], null as string[] | null]
  for (const { $case, value } of records) {
    if ($case === 'writes') {
      wrote ||= isOnHead
      const applied = value.taskId === begin
        ? []
        : value.writes.filter(({ channel }) => channel !== 'log')
      if (applied.length > 0) asked ??= []
      asked?.push(...applied.filter(({ channel }) => channel === '__interrupt__')
        .map(() => 'question'))
    } else if ('runId' in value && value.runId !== 'r') continue
    else if ($case === 'emitted') {
      emitted.push(...value.events.map(({ name, json, valuesOf }) => ({ name, json, valuesOf })))
    } else if ($case === 'checkpoint') {
      wrote ||= isOnHead || value.ns === ''
      if (value.ns === '') [emitted, asked] = [[], []]
    }
  }
  return { wrote, emitted, asked }
}

it('The resume point of a run is the same read from the last row as from the first.', async () => {
  const parts = [recordsOf('before'), recordsOf('r', 'r', 'before'), fc.integer({ min: 1, max: 5 }),
    fc.constantFrom('the head', 'nothing', 'a checkpoint')] as const
  await expectAlways(fc.asyncProperty(...parts, async (before, since, length, from) => {
    const records = [...before, startOf('r'), ...since]
    const log = new MemoryLog()
    const through = Math.ceil(records.length / length)
    await log.append(Array.from({ length: through }, (_, index) => ({
      tenant: 't',
      branch,
      epoch: 1,
      seq: index + 1,
      prevEpoch: 1,
      places: [],
      body: encodeRow(records.slice(index * length, (index + 1) * length)),
    })), [])
    const kwargs = from === 'a checkpoint' ? { checkpoint: { checkpoint_id: 'old' } } : {}
    const made = newRun(unborn('t', 'x', branch).row, { runId: 'r', atMs: 0, assistantId: '',
      commandId: '', multitaskStrategy: 'enqueue', metadataJson: '{}',
      kwargsJson: JSON.stringify(kwargs), planJson: '{}', notBeforeMs: 0 },
      Math.floor(before.length / length) + 1)
    const run = { ...made, baseCheckpointId: from === 'nothing' ? '' : 'c' }
    expect(await resumePointOf(run, { log, branch, through }))
      .toEqual(forwards(since, from === 'the head'))
  }))
})
