/** Rows of a branch are written concurrently and become durable in order. */

import { describe, expect, it } from 'vitest'

import { HeddleError } from '../../../../../src/errors.ts'
import { BranchWriter } from '../../../../../src/store/cassandra/log/branch-writer.ts'
import type { BranchEnd } from '../../../../../src/store/cassandra/log/log-reader.ts'
import type { OutgoingRow } from '../../../../../src/store/cassandra/log/log-row.ts'
import { aBranch, aRow } from '../../../../contract/rows.ts'

/** Resolves when all promises that need nothing from outside have gone on. */
const settled = () => new Promise((resolve) => setImmediate(resolve))

/** A view whose writes the test ends; each of `owners` earlier owners wrote one row. */
function aBranchWriter({ inFlight = 4, bucketBytes = 1_000_000, places = 0, owners = 0 } = {}) {
  const sent: { row: OutgoingRow; end: PromiseWithResolvers<void> }[] = []
  const rolls: PromiseWithResolvers<void>[] = []
  const pauses: (() => void)[] = []
  const patience = { ended: false,
    pause: () => new Promise<void>((resolve) => pauses.push(resolve)) }
  let timestamp = 0n
  let idle = 0
  const branch = aBranch()
  const epoch = owners + 1
  const branchWriter = new BranchWriter({
    branchId: branch.id,
    epoch,
    end: owners > 0 ? endAfter(owners) : undefined,
    origin: 0,
    bucketBytes,
    patience,
    commit: {
      inFlight,
      open: async () => true,
      write: async () => undefined,
      rollOver: () => {
        rolls.push(Promise.withResolvers())
        return rolls.at(-1)!.promise
      },
    },
    timestamp: () => ++timestamp,
    write: (row) => {
      sent.push({ row, end: Promise.withResolvers() })
      return sent.at(-1)!.end.promise
    },
    onSettled: () => {},
    onIdle: () => {
      idle++
    },
  })
  const durable: number[] = []
  const failed: { seq: number; error: unknown }[] = []
  const append = (...seqs: number[]) => {
    for (const seq of seqs) {
      const row = aRow({ branch, seq, epoch,
        places: Array.from({ length: places },
          (_, index) => ({ id: `${index}`, seq, base: seq })) })
      branchWriter.append(row).then(() => durable.push(seq), (error) => failed.push({ seq, error }))
    }
  }
  const sentSeqs = () => sent.map(({ row }) => row.seq)
  const end = (seq: number, error?: HeddleError) => {
    const { end } = sent.findLast(({ row }) => row.seq === seq)!
    if (error) end.reject(error)
    else end.resolve()
    return settled()
  }
  return { branchWriter, append, sent, sentSeqs, end, rolls, pauses, patience, durable, failed,
    idle: () => idle }
}

const refused = () => new HeddleError('unavailable')

describe('rows in flight', () => {
  it('become durable in order, whatever the order in which they arrive', async () => {
    const { append, sentSeqs, end, durable, branchWriter } = aBranchWriter()
    append(1, 2, 3)
    expect(sentSeqs()).toEqual([1, 2, 3])
    await end(2)
    await end(3)
    expect(durable).toEqual([])
    expect(branchWriter.settledSeq).toBe(0)
    await end(1)
    expect(durable).toEqual([1, 2, 3])
    expect(branchWriter.settledSeq).toBe(3)
  })

  it('have the number of the last row that was durable when they were sent', async () => {
    const { append, end, sent } = aBranchWriter()
    append(1, 2)
    await end(2)
    append(3)
    await end(1)
    append(4)
    expect(sent.map(({ row }) => row.settledSeq)).toEqual([0, 0, 0, 2])
  })

  it('carry, in every eighth row, the places of the rows since the last place index row',
    async () => {
      const { append, sent } = aBranchWriter({ inFlight: 20, places: 1 })
      append(...Array.from({ length: 17 }, (_, index) => index + 1))
      const carried = sent.map(({ row }) => row.carried.map(({ seq }) => seq))
      const indexRows = carried.flatMap((seqs,
        index) => (seqs.length > 0 ? [[index + 1, seqs]] : [])
      )
      expect(indexRows).toEqual([[8, [1, 2, 3, 4, 5, 6, 7, 8]], [16, [9, 10, 11, 12, 13, 14, 15,
        16]]])
    })

  it('are limited in number; the next waits until the first is durable', async () => {
    const { append, sentSeqs, end } = aBranchWriter({ inFlight: 2 })
    append(1, 2, 3, 4)
    await end(2)
    expect(sentSeqs()).toEqual([1, 2])
    await end(1)
    expect(sentSeqs()).toEqual([1, 2, 3, 4])
  })

  it('keep the view from being quiet until they end, even by failing', async () => {
    const { append, end, branchWriter, idle } = aBranchWriter()
    append(1)
    let quiet = false
    void branchWriter.quiet.then(() => {
      quiet = true
    })
    await settled()
    expect([quiet, branchWriter.idle, idle()]).toEqual([false, false, 0])
    await end(1, refused())
    expect([quiet, branchWriter.idle, branchWriter.lost, idle()]).toEqual([true, true, true, 1])
  })

  it('carry only the last place of each id', () => {
    const { append, sent, branchWriter } = aBranchWriter({ places: 2 })
    append(1)
    expect(sent[0]!.row.places.map(({ id }) => id)).toEqual(['0', '1'])
    void branchWriter.append(
      aRow({ branch: { id: branchWriter.branchId, ancestors: [] }, seq: 2, places: [
        { id: 'same', seq: 2, base: 1 },
        { id: 'same', seq: 0, base: 0 },
      ] }),
    )
    expect(sent[1]!.row.places).toEqual([{ id: 'same', seq: 0, base: 0 }])
  })
})

describe('a row that was certainly not written', () => {
  it('fails, and so do all rows that were sent or wait behind it', async () => {
    const { append, end, failed, durable, sentSeqs, branchWriter } = aBranchWriter({ inFlight: 3 })
    append(1, 2, 3, 4)
    await end(1)
    await end(2, refused())
    await end(3, refused())
    await end(4, refused())
    expect(durable).toEqual([1])
    expect(failed.map(({ seq }) => seq)).toEqual([2, 3, 4])
    expect(branchWriter.lost).toBe(true)
    expect(sentSeqs()).toEqual([1, 2, 3, 4])
  })

  it('is sent again unchanged if a row behind it was written', async () => {
    const { append, end, sent, sentSeqs, pauses, durable, failed, branchWriter } = aBranchWriter()
    append(1, 2, 3)
    await end(1, refused())
    append(4)
    expect(sentSeqs()).toEqual([1, 2, 3])
    await end(3)
    await end(2, refused())
    expect(sentSeqs()).toEqual([1, 2, 3])
    pauses.shift()!()
    await settled()
    expect(sentSeqs()).toEqual([1, 2, 3, 1, 2])
    expect(sent[3]!.row).toBe(sent[0]!.row)
    await end(2)
    await end(1, refused())
    pauses.shift()!()
    await settled()
    await end(1)
    expect(durable).toEqual([1, 2, 3])
    expect(sentSeqs()).toEqual([1, 2, 3, 1, 2, 1, 4])
    await end(4)
    expect([durable, failed, branchWriter.lost]).toEqual([[1, 2, 3, 4], [], false])
  })

  it('is given up as ambiguous if the store closes', async () => {
    const { append, end, patience, failed } = aBranchWriter()
    append(1, 2)
    patience.ended = true
    await end(2)
    await end(1, refused())
    expect(failed.map(({ seq }) => seq)).toEqual([1, 2])
    expect(failed.every(({ error }) => (error as HeddleError).details.ambiguous === true)).toBe(
      true,
    )
  })

  it('is given up at once if its outcome is ambiguous after all', async () => {
    const { append, end, pauses, failed } = aBranchWriter()
    append(1, 2)
    await end(2)
    await end(1, new HeddleError('unavailable', undefined, { ambiguous: true }))
    expect(pauses).toEqual([])
    expect(failed.map(({ seq }) => seq)).toEqual([1, 2])
  })
})

/** The end of a branch with one bucket, in which each of `owners` owners wrote one row. */
function endAfter(owners: number): BranchEnd {
  const ranges = Array.from({ length: owners },
    (_, before) => ({ epoch: before + 1, bucket: 0, from: before + 1 }))
  const tail = { epoch: owners, seq: owners, prevEpoch: owners - 1, settledSeq: owners - 1,
    bucket: 0, bucketBytes: 0, ranges, places: [], body: new Uint8Array(), chunks: 0 }
  return { tail, ranges, places: { waiting: [], unconfirmed: [] }, rows: [tail] }
}

describe('the list of epoch ranges', () => {
  it('is in the first row of an epoch range, and in every eighth row', async () => {
    const { append, sent, end } = aBranchWriter()
    for (let seq = 1; seq <= 17; seq++) {
      append(seq)
      await end(seq)
    }
    expect(sent.filter(({ row }) => row.ranges).map(({ row }) => row.seq)).toEqual([1, 8, 16])
    expect(sent[15]!.row.ranges).toEqual([{ epoch: 1, bucket: 0, from: 1 }])
  })

  it('is only in the first row of an epoch range if it is long', async () => {
    const { append, sent, end } = aBranchWriter({ owners: 16 })
    for (let seq = 17; seq <= 24; seq++) {
      append(seq)
      await end(seq)
    }
    expect(sent.map(({ row }) => row.ranges?.length)).toEqual([17, ...Array(7)])
  })
})

it('counts the bytes that an idle writer holds: its ranges, and its places that wait', () => {
  const bytesOf = (options: Parameters<typeof aBranchWriter>[0]) => {
    const { branchWriter, append } = aBranchWriter(options)
    append((options?.owners ?? 0) + 1)
    return branchWriter.heldBytes
  }
  const plain = bytesOf({})
  expect(bytesOf({ owners: 100 })).toBeGreaterThan(plain + 5_000)
  expect(bytesOf({ places: 60 })).toBeGreaterThan(plain + 10_000)
})

describe('a full bucket', () => {
  it('is left once no row is in flight and the roll-over is done', async () => {
    const { append, end, sent, sentSeqs, rolls, durable } = aBranchWriter({ bucketBytes: 250 })
    append(1, 2, 3, 4)
    expect(sentSeqs()).toEqual([1, 2])
    await end(1)
    expect(rolls).toHaveLength(0)
    await end(2)
    expect(rolls).toHaveLength(1)
    expect(sentSeqs()).toEqual([1, 2])
    rolls[0]!.resolve()
    await settled()
    expect(sentSeqs()).toEqual([1, 2, 3, 4])
    expect(sent.map(({ row }) => row.bucket)).toEqual([0, 0, 1, 1])
    expect(sent.map(({ row }) => row.ranges)).toEqual([
      [{ epoch: 1, bucket: 0, from: 1 }],
      undefined,
      [{ epoch: 1, bucket: 0, from: 1 }, { epoch: 1, bucket: 1, from: 3 }],
      undefined,
    ])
    expect(sent[2]!.row.settledSeq).toBe(2)
    await end(3)
    expect(durable).toEqual([1, 2, 3])
  })

  it('fails the waiting rows if it may not be left', async () => {
    const { append, end, rolls, failed, durable } = aBranchWriter({ bucketBytes: 1 })
    append(1, 2, 3)
    await end(1)
    const lost = new HeddleError('not_owner')
    rolls[0]!.reject(lost)
    await settled()
    expect(durable).toEqual([1])
    expect(failed).toEqual([{ seq: 2, error: lost }, { seq: 3, error: lost }])
  })
})
