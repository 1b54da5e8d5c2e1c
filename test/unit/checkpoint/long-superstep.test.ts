/** A state is read without keeping all that a long superstep wrote in its subgraphs. */

import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

import { expect, it } from 'vitest'

import { CheckpointReader, encodeRow } from '../../../src/checkpoint/index.ts'
import type { LogPort, RecordOf } from '../../../src/checkpoint/index.ts'

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

const rowsMax = 160
const rowCharacters = 100_000

const checkpoint = (ns: string, json: string): RecordOf => ({ $case: 'checkpoint', value: {
  ns,
  id: ns || 'root',
  parentId: '',
  full: true,
  changes: [],
  skeletonJson: json,
  metadataJson: '{}',
  runId: 'r',
  atMs: 0,
} })
const writes: RecordOf = { $case: 'writes',
  value: { ns: '', checkpointId: 'root', taskId: 'task', writes: [] } }

it('Of a long superstep only the writes on its checkpoint are kept.', async () => {
  const bodies = [encodeRow([checkpoint('', '{}')]),
    encodeRow([checkpoint('sub', 'x'.repeat(rowCharacters))]), encodeRow([writes])]
  const bodyOf = (seq: number) => bodies[seq === 1 ? 0 : seq === rowsMax ? 2 : 1]!
  let most = 0
  const log: Pick<LogPort, 'read' | 'findCheckpoint'> = {
    findCheckpoint: async () => undefined,
    read: async (_, { from, through }) => {
      collect()
      most = Math.max(most, process.memoryUsage().heapUsed)
      return Array.from({ length: through - from + 1 },
        (_, i) => ({ epoch: 1, seq: from + i, prevEpoch: 1, body: bodyOf(from + i) }))
    },
  }
  const branch = { id: 'b', ancestors: [] }
  const head = { id: 'root', seq: 1, base: 1 }
  const now = { branch, seq: rowsMax, stepSeq: rowsMax, head, movedBack: false }
  const reader = new CheckpointReader(log as LogPort, () => now)
  collect()
  const before = process.memoryUsage().heapUsed
  const read = await reader.checkpoint('', 'root')
  expect(read?.writes.map(({ taskId }) => taskId)).toEqual(['task'])
  expect(most - before).toBeLessThan(rowsMax * rowCharacters / 4)
})
