/** Recordings that stay unpacked while a page shows their calls one after another. */

import { expect, it, vi } from 'vitest'

import { UnpackedRecordings } from '../../../src/frontdoor/unpacked-recordings.ts'
import { decodeBlock, encodeBlock } from '../../../src/graph/recording/recording.ts'
import type { RecordedBlock } from '../../../src/graph/recording/recording.ts'

const block = (no: number): Promise<Uint8Array> =>
  encodeBlock(
    { runId: 'r', threadId: 't', graphId: 'g', attempt: 1, startedAtMs: 1, no, isLast: false,
      isCut: false, node: 'v24', calls: [] } satisfies RecordedBlock,
  )

it('A recording is unpacked once for its list and its calls, and anew when it has grown.',
  async () => {
    const decode = vi.fn(decodeBlock)
    const unpacked = new UnpackedRecordings(decode)
    const first = await block(0)
    expect(await unpacked.of('r t', [first])).toHaveLength(1)
    await unpacked.of('r t', [Uint8Array.from(first)])
    expect(decode).toHaveBeenCalledTimes(1)
    await unpacked.of('r t', [first, await block(1)])
    expect(decode).toHaveBeenCalledTimes(3)
  })

it('A removed recording is shown no more.', async () => {
  const unpacked = new UnpackedRecordings()
  await unpacked.of('r t', [await block(0)])
  expect(await unpacked.of('r t', [])).toEqual([])
})

it('Few recordings stay unpacked.', async () => {
  const decode = vi.fn(decodeBlock)
  const unpacked = new UnpackedRecordings(decode)
  const one = await block(0)
  for (let run = 0; run < 9; run++) await unpacked.of(`${run} t`, [one])
  await unpacked.of('0 t', [one])
  expect(decode).toHaveBeenCalledTimes(10)
})
