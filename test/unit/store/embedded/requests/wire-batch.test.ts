/** Wire batches between threads are unpacked as they were packed. */

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'

import { packEntries, packWrites, transferred, unpackEntries,
  unpackWrites } from '../../../../../src/store/embedded/requests/wire-batch.ts'
import type { Write } from '../../../../../src/store/embedded/requests/write.ts'
import { aBranch, aRow } from '../../../../contract/rows.ts'
import { expectAlways } from '../../../../support/expect-always.ts'

const body = fc.oneof({ weight: 29, arbitrary: fc.uint8Array({ maxLength: 20 }) }, { weight: 1,
  arbitrary: fc.integer({ min: 1024 * 1024, max: 1024 * 1024 + 2 })
    .map((length) => new Uint8Array(length).fill(length)) })

const write: fc.Arbitrary<Write> = fc.oneof(
  fc.record({
    kind: fc.constant('append' as const),
    rows: fc.array(body.map((body) => aRow({ branch: aBranch(), seq: 1, body })), { maxLength: 3 }),
    updates: fc.array(fc.oneof(
      fc.record({ tenant: fc.string({ unit: 'grapheme' }), runId: fc.string(), body })
        .map((entry) => ({ ...entry, threadId: 't', createdAtMs: 1, status: 's' }))
        .map((entry) => ({ table: 'run' as const, entry })),
      fc.constant({ table: 'run_removed' as const, tenant: 'a', threadId: 'b', runId: 'c' }),
    ), { maxLength: 3 }),
  }),
  fc.record({ kind: fc.constant('load' as const), shard: fc.nat(),
    rows: fc.array(fc.record({ table: fc.constant('thread' as const), body }), { maxLength: 3 }) }),
  fc.constant({ kind: 'unload' as const, shard: 3 }),
  fc.constant({ kind: 'purge' as const,
    subject: { table: 'thread' as const, tenant: 'a', id: 'b', branch: aBranch(), epoch: 1 } }),
)

describe('a wire batch', () => {
  it('carries any writes', () => {
    expectAlways(fc.property(fc.array(write, { maxLength: 5 }), (writes) => {
      expect(unpackWrites(packWrites(writes))).toEqual(writes)
    }))
  })

  it('carries any rows of the log', () => {
    const entry = fc.record({ epoch: fc.nat(), seq: fc.nat(), body })
    expectAlways(fc.property(fc.array(entry, { maxLength: 5 }), (entries) => {
      expect(unpackEntries(packEntries(entries))).toEqual(entries)
    }))
  })

  it('takes a single long row as it is, to be transferred, but copies what is written', () => {
    const long = new Uint8Array(100_000)
    const packed = packEntries([{ epoch: 1, seq: 1, body: long }])
    expect(packed.bytes).toBe(long)
    expect(transferred(packed)).toEqual([long.buffer])
    const two = packEntries([1, 2].map((seq) => ({ epoch: 1, seq, body: long })))
    expect(two.bytes.byteLength).toBe(200_000)
    const part = packEntries([{ epoch: 1, seq: 1, body: long.subarray(1) }])
    expect([part.bytes.byteLength, part.bytes.byteOffset]).toEqual([99_999, 0])
    const rows = [aRow({ branch: aBranch(), seq: 1, body: long })]
    expect(packWrites([{ kind: 'append', rows, updates: [] }]).bytes).not.toBe(long)
    expect(transferred([['{}', long], new Uint8Array(9)])).toEqual([long.buffer])
    expect([transferred(undefined), transferred({ bytes: new Uint8Array(9) })]).toEqual([[], []])
  })
})
