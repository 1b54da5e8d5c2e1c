/** The state of an effect after its notes, some of which are of runs that were rolled back. */

import { expect, it } from 'vitest'

import type { EffectNote, Writes } from '../../../../proto/gen/storage/v1/log.ts'
import { EffectNotes } from '../../../../src/graph/state/effect-notes.ts'

type Kind = NonNullable<EffectNote['note']>

const intended: Kind = { $case: 'intended', value: { key: 'k', hash: 'h' } }
const settled: Kind = { $case: 'settled', value: { hash: 'h', resultJson: '1', isCut: false } }
const decided = (decision: string): Kind => ({ $case: 'decided', value: { decision, runId: 'r' } })

/** The state after notes that were removed, and notes after them. */
function after(removed: readonly Kind[], kept: readonly Kind[] = [], first: readonly Kind[] = []) {
  const write = (note: Kind, isRemoved: boolean): Writes => ({ ns: '', checkpointId: 'c',
    taskId: 't', writes: [], effect: { rule: 'e', ordinal: 0, atMs: 5, note, removed: isRemoved } })
  const notes = EffectNotes.of([...first.map((note) => write(note, false)),
    ...removed.map((note) => write(note, true)), ...kept.map((note) => write(note, false))])
  return notes!.at({ taskId: 't', rule: 'e', ordinal: 0 })
}

it.each<[string, ReturnType<typeof after>, object]>([
  ['keeps an intent', after([intended]), { isOpen: true, isRemoved: true }],
  ['keeps a receipt after an intent', after([intended, settled]), { isOpen: false, isRemoved: true,
    receipt: { resultJson: '1' } }],
  ['removes a result that was only kept', after([settled]), { isOpen: false, receipt: undefined }],
  ['removes a decision', after([decided('do'), intended], [], [intended]), { isOpen: true,
    isRemoved: false, decided: undefined }],
  ['removes the decision to fail the step', after([decided('fail')], [], [intended]), {
    isOpen: true,
    decided: undefined,
  }],
  ['removes a decision with the receipt that follows from it',
    after([decided('done'), settled], [], [intended]), { isOpen: true, decided: undefined,
    receipt: undefined }],
  ['keeps the receipt of work that was ordered', after([decided('do'), intended, settled], [], [
    intended,
  ]), { isOpen: false, receipt: { resultJson: '1' } }],
  ['keeps a decision that was not removed', after([intended], [], [intended, decided('do')]), {
    isOpen: true,
    decided: { decision: 'do' },
  }],
  ['is undone by an intent of a later run', after([intended], [intended]), { isOpen: true,
    isRemoved: false }],
])('a rollback %s', (_, known, expected) => {
  expect({ isRemoved: false, decided: undefined, receipt: undefined, ...known })
    .toMatchObject(expected)
})
