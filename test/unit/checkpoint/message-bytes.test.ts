/** Protobuf messages as bytes: whatever the shared writer wrote before. */

import { BinaryWriter } from '@bufbuild/protobuf/wire'
import fc from 'fast-check'
import { expect, it } from 'vitest'

import { ThreadRow } from '../../../proto/gen/storage/v1/row.ts'
import { bytesOf } from '../../../src/checkpoint/index.ts'
import { expectAlways } from '../../support/expect-always.ts'

const text = fc.oneof(fc.string({ maxLength: 300 }),
  fc.integer({ min: 1, max: 200_000 }).map((length) => 'ä'.repeat(length)))
const row = fc.record({ threadId: text, tenant: text, metadataJson: text })
  .map((fields): ThreadRow => ({ ...ThreadRow.decode(new Uint8Array()), ...fields }))
/** A message that cannot be written to its end. */
const broken = { encode: (length: number, writer: BinaryWriter): BinaryWriter => {
  writer.uint32(10).fork().string('x'.repeat(length))
  throw new Error('no such field')
} }

it('The bytes of a message are its own, after long ones, and after one that failed.', () => {
  expectAlways(
    fc.property(fc.array(row, { minLength: 1, maxLength: 6 }), fc.nat(500), (rows, no) => {
      const bytes = rows.map((each, at) => {
        if (at === no % rows.length) expect(() => bytesOf(broken, no)).toThrow('no such field')
        return bytesOf(ThreadRow, each)
      })
      for (const [at, each] of rows.entries()) {
        expect(bytes[at]!.buffer.byteLength).toBe(bytes[at]!.byteLength)
        expect(Buffer.compare(bytes[at]!, ThreadRow.encode(each, new BinaryWriter()).finish()))
          .toBe(0)
      }
    }),
  )
})
