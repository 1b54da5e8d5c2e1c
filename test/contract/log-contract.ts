/** What every log port promises: order, fences, branches, checkpoints, large values. */

import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'

import type { Branch } from '../../proto/gen/storage/v1/row.ts'
import type { LogRange, NewRow } from '../../src/checkpoint/index.ts'
import { aBranch, aRow, aThread, bodyText, copyOf, textBody } from './rows.ts'
import { useStore } from './store-place.ts'
import type { MakePlace } from './store-place.ts'

const everything: LogRange = { from: 1, through: Number.MAX_SAFE_INTEGER }

export function describeLog(name: string, makePlace: MakePlace): void {
  describe(`the log of the ${name} store`, () => {
    const store = useStore(makePlace)

    const append = (...rows: NewRow[]) => store.log.append(rows, [])
    /** Rows 1 to `count`, one call each. */
    const fill = async (branch: Branch, count: number, from = 1) => {
      for (let seq = from; seq < from + count; seq++) await append(aRow({ branch, seq }))
    }
    const seqs = async (branch: Branch, range: LogRange = everything) =>
      (await store.log.read(branch, range)).map(({ seq }) => seq)

    describe('rows', () => {
      it('have no tail and are empty before the first append', async () => {
        const branch = aBranch()
        expect(await store.log.tail(branch)).toBeUndefined()
        expect(await store.log.read(branch, everything)).toEqual([])
      })

      it('are read back byte for byte', async () => {
        const branch = aBranch()
        const body = Uint8Array.from({ length: 256 }, (_, byte) => byte)
        await append(aRow({ branch, seq: 1, epoch: 3, prevEpoch: 0, body }))
        expect(await store.log.read(branch, everything)).toEqual([{ epoch: 3, seq: 1, body }])
        expect(await store.log.tail(branch)).toEqual({ epoch: 3, seq: 1 })
      })

      it('may have a body that is a view of a larger buffer, or an empty one', async () => {
        const branch = aBranch()
        const view = textBody('before|body|after').subarray(7, 11)
        await append(aRow({ branch, seq: 1, body: view }))
        await append(aRow({ branch, seq: 2, body: new Uint8Array() }))
        const [first, second] = await store.log.read(branch, everything)
        expect(bodyText(first!.body)).toBe('body')
        expect(second!.body.byteLength).toBe(0)
      })

      it('of a branch are acknowledged in order, whatever each append holds', async () => {
        const branch = aBranch()
        const row = aThread({ branch })
        const order: number[] = []
        await Promise.all([1, 2, 3, 4].map(async (seq) => {
          const updates = seq % 2 === 0 ? [] : [{ table: 'thread', row: { ...row, seq } } as const]
          await store.log.append([aRow({ branch, seq })], updates)
          order.push(seq)
        }))
        expect(order).toEqual([1, 2, 3, 4])
      })

      it('are read as a range, from either end, with a limit', async () => {
        const branch = aBranch()
        await fill(branch, 9)
        expect(await seqs(branch, { from: 3, through: 5 })).toEqual([3, 4, 5])
        expect(await seqs(branch, { from: 3, through: 5, reverse: true })).toEqual([5, 4, 3])
        expect(await seqs(branch, { from: 3, through: 99, limit: 2 })).toEqual([3, 4])
        expect(await seqs(branch, { ...everything, reverse: true, limit: 2 })).toEqual([9, 8])
        expect(await seqs(branch, { from: 10, through: 20 })).toEqual([])
      })

      it('are read up to a number of bytes, and at least one if its body is not too large',
        async () => {
          const branch = aBranch()
          const kilobyte = 1024
          for (const [index, size] of [10, 10, 300, 10, 10].entries()) {
            const body = new Uint8Array(size * kilobyte)
            await append(aRow({ branch, seq: index + 1, body }))
          }
          const upTo = (bytes: number, range = everything) =>
            seqs(branch, { ...range, bytes: bytes * kilobyte })
          expect(await upTo(1)).toEqual([1])
          expect(await upTo(20)).toEqual([1, 2])
          expect(await upTo(100)).toEqual([1, 2])
          expect(await upTo(100, { ...everything, from: 3 })).toEqual([3])
          expect(await upTo(1_000)).toEqual([1, 2, 3, 4, 5])
          expect(await upTo(100, { ...everything, reverse: true })).toEqual([5, 4])
          const small = { ...everything, bodyBytes: 100 * kilobyte }
          expect(await seqs(branch, small)).toEqual([1, 2])
          expect(await seqs(branch, { ...small, from: 4 })).toEqual([4, 5])
          const refused = await seqs(branch, { ...small, from: 3 }).catch((error) => error)
          expect(refused).toMatchObject({ code: 'too_large' })
          // A store may know only roughly how large it is.
          expect(refused.details.bytes).toBeGreaterThanOrEqual(300 * kilobyte)
          expect(refused.details.bytes).toBeLessThanOrEqual(600 * kilobyte)
        })

      it('keep the order of calls that do not wait for each other', async () => {
        const branch = aBranch()
        await Promise.all(
          Array.from({ length: 200 }, (_, index) => append(aRow({ branch, seq: index + 1 }))),
        )
        expect(await seqs(branch)).toEqual(Array.from({ length: 200 }, (_, index) => index + 1))
      })

      it('of many branches fit in one call', async () => {
        const [one, other] = [aBranch(), aBranch()]
        await append(aRow({ branch: one, seq: 1 }), aRow({ branch: other, seq: 1 }),
          aRow({ branch: one, seq: 2 }))
        expect(await seqs(one)).toEqual([1, 2])
        expect(await seqs(other)).toEqual([1])
      })

      it('are visible to a read that begins after their append', async () => {
        const branch = aBranch()
        const appended = append(aRow({ branch, seq: 1 }))
        expect(await seqs(branch)).toEqual([1])
        await appended
      })

      it('may have values of five megabytes', async () => {
        const branch = aBranch()
        const body = new Uint8Array(5 * 1024 * 1024)
        for (let at = 0; at < body.length; at += 997) body[at] = at % 251
        // The store keeps what it is given.
        await append(aRow({ branch, seq: 1, body: body.slice() }))
        await append(aRow({ branch, seq: 2 }))
        const rows = await store.log.read(branch, everything)
        expect(Buffer.compare(rows[0]!.body, body)).toBe(0)
        expect(rows[1]!.seq).toBe(2)
      })
    })

    describe('fences', () => {
      const refused = (append: Promise<void>) =>
        expect(append).rejects.toMatchObject({ code: 'stale_append' })

      it('refuse a row that leaves a gap, repeats, or names the wrong previous row', async () => {
        const branch = aBranch()
        await fill(branch, 2)
        await refused(append(aRow({ branch, seq: 4 })))
        await refused(append(aRow({ branch, seq: 2 })))
        await refused(append(aRow({ branch, seq: 3, epoch: 5, prevEpoch: 4 })))
        expect(await seqs(branch)).toEqual([1, 2])
      })

      it('refuse an older epoch for ever once a newer one has written', async () => {
        const branch = aBranch()
        await fill(branch, 2)
        await append(aRow({ branch, seq: 3, epoch: 2, prevEpoch: 1 }))
        await refused(append(aRow({ branch, seq: 3, epoch: 1 })))
        await refused(append(aRow({ branch, seq: 4, epoch: 1, prevEpoch: 2 })))
        expect(await store.log.tail(branch)).toEqual({ epoch: 2, seq: 3 })
      })

      it('let a call succeed or fail as a whole, including its updates', async () => {
        const [good, stale] = [aBranch(), aBranch()]
        await fill(stale, 1)
        const row = aThread({ branch: good })
        await refused(store.log.append(
          [aRow({ branch: good, seq: 1 }), aRow({ branch: stale, seq: 1 })],
          [{ table: 'thread', row }],
        ))
        expect(await seqs(good)).toEqual([])
        expect(await store.threads.get('local', row.threadId)).toBeUndefined()
        await fill(good, 1)
        expect(await seqs(good)).toEqual([1])
      })

      it('refuse one call without harm to concurrent calls', async () => {
        const branches = Array.from({ length: 20 }, () => aBranch())
        const results = await Promise.allSettled(
          branches.map((branch, index) => append(aRow({ branch, seq: index === 7 ? 2 : 1 }))),
        )
        expect(results.flatMap(({ status }, index) => (status === 'rejected' ? [index] : [])))
          .toEqual([7])
        expect(await Promise.all(branches.map((branch) => seqs(branch))))
          .toEqual(branches.map((_, index) => (index === 7 ? [] : [1])))
      })

      it('keep one history when owners of different epochs write at once', async () => {
        const branch = aBranch()
        const acknowledged: string[] = []
        const owner = async (epoch: number) => {
          for (let round = 0; round < 40; round++) {
            const tail = await store.log.tail(branch) ?? { epoch: 0, seq: 0 }
            const text = `${epoch}/${tail.seq + 1}`
            const row = aRow({ branch, epoch, seq: tail.seq + 1, prevEpoch: tail.epoch,
              body: textBody(text) })
            await append(row).then(() => acknowledged.push(text), () => undefined)
          }
        }
        await Promise.all([3, 1, 2, 4].map(owner))
        const rows = await store.log.read(branch, everything)
        expect(rows.map(({ seq }) => seq)).toEqual(rows.map((_, index) => index + 1))
        expect(rows.map(({ epoch }) => epoch)).toEqual(rows.map(({ epoch }) => epoch).toSorted())
        expect(rows.map(({ body }) => bodyText(body))).toEqual(acknowledged)
      })
    })

    describe('branches', () => {
      it('continue the numbers of their source, and leave that unchanged', async () => {
        const source = aBranch()
        await fill(source, 5)
        const copy = copyOf(source, 3)
        expect(await store.log.tail(copy)).toEqual({ epoch: 1, seq: 3 })
        await fill(copy, 2, 4)
        expect((await store.log.read(copy, everything)).map(({ body }) => bodyText(body)))
          .toEqual([1, 2, 3].map((seq) => `${source.id} ${seq}`)
            .concat([4, 5].map((seq) => `${copy.id} ${seq}`)))
        expect(await seqs(source)).toEqual([1, 2, 3, 4, 5])
      })

      it('are read across all their ancestors, from either end', async () => {
        const source = aBranch()
        await fill(source, 4)
        const copy = copyOf(source, 3)
        await fill(copy, 3, 4)
        const second = copyOf(copy, 5)
        await fill(second, 2, 6)
        expect(await seqs(second, { from: 2, through: 6 })).toEqual([2, 3, 4, 5, 6])
        expect(await seqs(second, { from: 2, through: 7, reverse: true, limit: 4 }))
          .toEqual([7, 6, 5, 4])
        const nested = copyOf(copy, 2)
        expect(await seqs(nested)).toEqual([1, 2])
      })

      it('are not bound by the epochs of their source', async () => {
        const source = aBranch()
        await append(aRow({ branch: source, seq: 1, epoch: 9, prevEpoch: 0 }))
        const copy = copyOf(source, 1)
        await append(aRow({ branch: copy, seq: 2, epoch: 2, prevEpoch: 9 }))
        expect(await store.log.tail(copy)).toEqual({ epoch: 2, seq: 2 })
      })

      it('cannot begin if their source is gone', async () => {
        const source = aBranch()
        await fill(source, 2)
        const copy = copyOf(source, 2)
        await store.log.purge({ table: 'thread', tenant: 'local', id: randomUUID(), branch: source,
          epoch: 1 })
        await expect(append(aRow({ branch: copy, seq: 3 }))).rejects
          .toMatchObject({ code: 'not_found' })
      })
    })

    describe('checkpoints', () => {
      const at = (id: string, seq: number, base = seq) => ({ id, seq, base })

      it('are found at their place, and unknown ones are not', async () => {
        const branch = aBranch()
        const [one, other] = [randomUUID(), randomUUID()]
        await append(aRow({ branch, seq: 1, places: [at(one, 1), at(other, 1, 0)] }))
        expect(await store.log.findCheckpoint(branch, one)).toEqual(at(one, 1))
        expect(await store.log.findCheckpoint(branch, other)).toEqual(at(other, 1, 0))
        expect(await store.log.findCheckpoint(branch, randomUUID())).toBeUndefined()
        expect(await store.log.findCheckpoint(aBranch(), one)).toBeUndefined()
      })

      it('have their latest place, within a row as well', async () => {
        const branch = aBranch()
        const id = 'any text: a namespace'
        await append(aRow({ branch, seq: 1, places: [at(id, 1)] }))
        await append(aRow({ branch, seq: 2, places: [at(id, 2), at(id, 0)] }))
        expect(await store.log.findCheckpoint(branch, id)).toEqual(at(id, 0))
      })

      it('are seen by a branch as of the row that it forked from', async () => {
        const source = aBranch()
        const [moved, late] = [randomUUID(), randomUUID()]
        await append(aRow({ branch: source, seq: 1, places: [at(moved, 1)] }))
        await append(aRow({ branch: source, seq: 2 }))
        await append(aRow({ branch: source, seq: 3, places: [at(moved, 3), at(late, 3)] }))
        const copy = copyOf(source, 2)
        expect(await store.log.findCheckpoint(copy, moved)).toEqual(at(moved, 1))
        expect(await store.log.findCheckpoint(copy, late)).toBeUndefined()
        await append(aRow({ branch: copy, seq: 3, places: [at(moved, 0)] }))
        expect(await store.log.findCheckpoint(copy, moved)).toEqual(at(moved, 0))
        expect(await store.log.findCheckpoint(source, moved)).toEqual(at(moved, 3))
      })
    })
  })
}
