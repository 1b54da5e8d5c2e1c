/** Messages with long texts have the same bytes as from the library's own writer. */

import fc from 'fast-check'
import { expect, it } from 'vitest'

import { LogRow } from '../../../proto/gen/storage/v1/log.ts'
import { Form } from '../../../proto/gen/storage/v1/value.ts'
import type { ChannelChange } from '../../../proto/gen/storage/v1/value.ts'
import { encodeRow, encodeRowInTurns } from '../../../src/checkpoint/index.ts'
import type { RecordOf } from '../../../src/checkpoint/index.ts'
import { expectAlways } from '../../support/expect-always.ts'

const long = 64 * 1024

const length = fc.oneof(fc.nat(300), fc.integer({ min: long - 2, max: long + 2 }),
  fc.integer({ min: long, max: 4 * long }))
const value = fc.record({
  json: fc.tuple(fc.constantFrom('x', 'é', '€', '😀'), length)
    .map(([unit, each]) => unit.repeat(Math.ceil(each / unit.length))),
  form: fc.constant(0),
  serialized: fc.option(length.map((each) => ({ type: 'bytes', data: Buffer.alloc(each, 'y') })), {
    nil: undefined,
  }),
})

const change: fc.Arbitrary<ChannelChange> = fc.oneof(
  value.map((each) => ({ channel: 'a', change: { $case: 'set' as const, value: each } })),
  fc.array(value, { maxLength: 4 }).map((elements) => ({ channel: 'b',
    change: { $case: 'list' as const, value: { elements } } })
  ),
)

const records = fc.array(change, { maxLength: 4 }).map((changes): RecordOf[] => [
  { $case: 'opened', value: { epoch: 3 } },
  { $case: 'checkpoint',
    value: { ns: '', id: 'c', parentId: '', full: true, changes, skeletonJson: '{}',
      metadataJson: '{}', runId: 'r', atMs: 1 } },
  { $case: 'opened', value: { epoch: 4 } },
])

const wholeOf = (each: readonly RecordOf[]) =>
  LogRow.encode({ records: each.map((record) => ({ record })) }).finish()

it('The bytes of a row are those of the library, however long its texts are.', async () => {
  await expectAlways(fc.asyncProperty(records, async (each) => {
    const whole = wholeOf(each)
    expect(Buffer.compare(encodeRow(each), whole)).toBe(0)
    expect(Buffer.compare(await encodeRowInTurns(each), whole)).toBe(0)
  }))
})

it('A very long text is written in parts, and no pair of surrogates is torn.', async () => {
  const length = 4 * 1024 * 1024
  for (const before of ['', 'x']) {
    const value = { json: before + '😀'.repeat(length), form: Form.FORM_UNSPECIFIED,
      serialized: undefined }
    const row: RecordOf[] = [{ $case: 'checkpoint',
      value: { ns: '', id: 'c', parentId: '', full: true,
        changes: [{ channel: 'a', change: { $case: 'set', value } }], skeletonJson: '{}',
        metadataJson: '{}', runId: 'r', atMs: 1 } }]
    let turns = 0
    let done = false
    const count = () => {
      if (!done)
        setImmediate(() => {
          turns++
          count()
        })
    }
    count()
    const bytes = await encodeRowInTurns(row)
    done = true
    expect(turns).toBeGreaterThanOrEqual(3)
    expect(Buffer.compare(bytes, wholeOf(row))).toBe(0)
  }
})
