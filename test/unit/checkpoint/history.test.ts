/** Whose writes count in a part of the log: those of rolled back runs do not, all others do. */

import { expect, it } from 'vitest'

import { writesIn } from '../../../src/checkpoint/history.ts'
import type { RecordOf } from '../../../src/checkpoint/index.ts'

const writes = (taskId: string): RecordOf => ({ $case: 'writes',
  value: { ns: '', checkpointId: 'c', taskId, writes: [] } })
const starts = (runId: string): RecordOf => ({ $case: 'runStarted',
  value: { runId, atMs: 0, attempt: 1, baseCheckpointId: '', ownerDeaths: 0, suspect: false } })
const ends = (runId: string): RecordOf => ({ $case: 'runEnded',
  value: { runId, atMs: 0, status: 'success', errorJson: '', interruptsJson: '', waiting: false,
    finalCheckpointId: '', owesWebhook: false, ownerDeaths: 0, suspect: false, attempt: 0 } })
const drops = (runId: string): RecordOf => ({ $case: 'headMoved',
  value: { checkpointId: '', seq: 0, base: 0, droppedRunIds: [runId], atMs: 0 } })
const edited: RecordOf = { $case: 'stateEdited',
  value: { atMs: 0, waiting: false, interruptsJson: '' } }

it.each<[string, readonly RecordOf[], string[]]>([
  ['of a run, and of a run before it that was kept', [starts('a'), writes('a'), ends('a'),
    starts('b'), writes('b')], ['a', 'b']],
  ['of an edit before a run that was dropped', [writes('edit'), edited, starts('r'), writes('r'),
    drops('r')], ['edit']],
  ['of an edit behind a run that was dropped', [starts('r'), writes('r'), drops('r'),
    writes('edit'), edited], ['edit']],
  ['of a dropped run that began before this part, though one that never began ended meanwhile', [
    writes('r'),
    ends('never began'),
    writes('r'),
    drops('r'),
  ], []],
  ['of a run that ended before the first attempt of a dropped one', [writes('a'), ends('a'),
    starts('r'), writes('r'), starts('r'), writes('r'), drops('r')], ['a']],
])('Those %s.', (_, records, kept) => {
  expect(writesIn(records, { ns: '', id: 'c' }).map(({ taskId }) => taskId)).toEqual(kept)
})

it('keeps the notes on effects of a dropped run, marked as removed', () => {
  const noted = (taskId: string): RecordOf => ({ $case: 'writes',
    value: { ns: '', checkpointId: 'c', taskId, writes: [],
      effect: { rule: 'e', ordinal: 0, atMs: 0, note: undefined } } })
  const records = [starts('a'), noted('a'), ends('a'), starts('r'), writes('r'), noted('r'),
    noted('s'), drops('r'), noted('edit'), edited]
  expect(
    writesIn(records, { ns: '', id: 'c' }).map(({ taskId, effect }) =>
      `${taskId} ${effect?.removed ?? false}`
    ),
  ).toEqual(['a false', 'r true', 's true', 'edit false'])
})
