/** Rows that the version before wrote are read as they are: names changed, bytes did not. */

import { describe, expect, it } from 'vitest'

import { LogRow } from '../../../proto/gen/storage/v1/log.ts'
import { EpochRanges } from '../../../proto/gen/storage/v1/partition.ts'
import { ThreadRow } from '../../../proto/gen/storage/v1/row.ts'

const bytesOf = (text: string) => new Uint8Array(Buffer.from(text, 'base64'))
const textOf = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64')

/** Written by the version that said `told`, `heard` and `stretches`. */
const before = {
  log: 'ChpiGAoCcjESEhIHdXBkYXRlcxoHeyJhIjoxfQoGcgQKAmMxCgp6CAoCcjEQBRgB',
  ranges: 'CgYIAxABGCg=',
  thread: 'CgF0EgF4GgMKAWIgASgCMAE4AUoEaWRsZVICe31aAnt9kgEEaWRsZaoBBgoCYzEQAg==',
}

describe('the bytes of the version before', () => {
  it('have the events of a run, the id of a command, and a webhook', () => {
    const { records } = LogRow.decode(bytesOf(before.log))
    expect(records.map(({ record }) => record)).toEqual([
      { $case: 'emitted',
        value: { runId: 'r1',
          events: [{ index: 0, name: 'updates', json: '{"a":1}', valuesOf: '' }] } },
      { $case: 'commandApplied', value: { commandId: 'c1' } },
      { $case: 'webhookSettled', value: { runId: 'r1', atMs: 5, delivered: true, reason: '' } },
    ])
    expect(textOf(LogRow.encode({ records }).finish())).toBe(before.log)
  })

  it('have the epoch ranges of a branch', () => {
    const decoded = EpochRanges.decode(bytesOf(before.ranges))
    expect(decoded).toEqual({ ranges: [{ epoch: 3, bucket: 1, from: 40 }] })
    expect(textOf(EpochRanges.encode(decoded).finish())).toBe(before.ranges)
  })

  it('have the commands that a thread has done', () => {
    const decoded = ThreadRow.decode(bytesOf(before.thread))
    expect(decoded.applied).toEqual([{ id: 'c1', seq: 2 }])
    expect(textOf(ThreadRow.encode(decoded).finish())).toBe(before.thread)
  })
})
