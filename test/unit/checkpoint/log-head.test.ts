/** Which checkpoints are cut off, whatever clock made their ids. */

import { expect, it } from 'vitest'

import { isCutOff } from '../../../src/checkpoint/log-head.ts'
import type { LogHead } from '../../../src/checkpoint/log-head.ts'

const now: LogHead = { branch: { id: 'b', ancestors: [] }, seq: 9, stepSeq: 9, head: null,
  movedBack: false, start: { checkpointId: 'm', seq: 5 } }

it('A checkpoint is cut off by its row, not by its id, and only one of the root is.', () => {
  const places = [['z', 4], ['a', 5], ['m', 5], ['a', 6]] as const
  const cut = (head: LogHead, ns: string) =>
    places.map(([id, seq]) => isCutOff(head, ns, { id, seq }))
  expect(cut(now, '')).toEqual([true, true, false, false])
  expect(cut(now, 'sub')).toEqual([false, false, false, false])
  expect(cut({ ...now, start: undefined }, '')).toEqual([false, false, false, false])
})
