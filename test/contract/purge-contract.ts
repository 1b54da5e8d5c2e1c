/** What every store promises about deletes and restarts: what is removed and what is kept. */

import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

import type { Branch } from '../../proto/gen/storage/v1/row.ts'
import { aBranch, anAssistant, aRow, aRun, aThread, copyOf } from './rows.ts'
import type { MakePlace, OpenStore, StorePlace } from './store-place.ts'

const everything = { from: 1, through: Number.MAX_SAFE_INTEGER }

export function describePurge(name: string, makePlace: MakePlace): void {
  describe(`deletes and restarts of the ${name} store`, () => {
    let place: StorePlace
    let store: OpenStore

    beforeAll(async () => {
      place = makePlace()
      store = await place.open()
    })
    afterAll(async () => {
      await store.close()
      await place.remove()
    })

    const fill = async (branch: Branch, count: number, from = 1) => {
      for (let seq = from; seq < from + count; seq++) {
        const places = [{ id: `${branch.id} ${seq}`, seq, base: 1 }]
        await store.log.append([aRow({ branch, seq, places })], [])
      }
    }
    const seqs = async (branch: Branch) =>
      (await store.log.read(branch, everything)).map(({ seq }) => seq)
    const purge = (branch: Branch, id: string = randomUUID()) =>
      store.log.purge({ table: 'thread', tenant: 'local', id, branch, epoch: 1 })

    describe('deletes', () => {
      it('remove the row, the runs, the log and the checkpoints of a thread', async () => {
        const row = aThread({ metadataJson: '{"purged":true}' })
        const [run, outsider] = [aRun({ threadId: row.threadId }), aRun()]
        await fill(row.branch!, 3)
        await store.log.append([], [{ table: 'thread', row }, { table: 'run', row: run }, {
          table: 'run',
          row: outsider,
        }])
        await purge(row.branch!, row.threadId)
        expect(await store.threads.get('local', row.threadId)).toBeUndefined()
        expect(await store.threads.count({ tenant: 'local', metadata: { purged: true } })).toBe(0)
        expect(await store.runs.get('local', row.threadId, run.runId)).toBeUndefined()
        expect(await store.runs.get('local', outsider.threadId, outsider.runId)).toEqual(outsider)
        expect(await seqs(row.branch!)).toEqual([])
        expect(await store.log.findCheckpoint(row.branch!, `${row.branch!.id} 2`)).toBeUndefined()
      })

      it('allow a new run with the same id', async () => {
        const row = aThread()
        const { threadId } = row
        const run = aRun({ threadId })
        const list = async () =>
          (await store.runs.list(
            { tenant: 'local', threadId, limit: 10, offset: 0 },
          )).map(({ runId }) => runId)
        for (let life = 1; life <= 2; life++) {
          const thread = { ...row, branch: aBranch() }
          await store.log.append([], [{ table: 'thread', row: thread }, { table: 'run', row: run }])
          expect(await list()).toEqual([run.runId])
          await purge(thread.branch, threadId)
          expect(await store.runs.get('local', threadId, run.runId)).toBeUndefined()
          expect(await list()).toEqual([])
        }
      })

      it('of a branch that no row speaks for remove its log', async () => {
        const [ended, current] = [aBranch(), aBranch()]
        await fill(ended, 3)
        await fill(current, 1)
        const remove = () => store.log.purge({ table: 'branch', branch: ended, epoch: 1 })
        await remove()
        await remove()
        expect(await seqs(ended)).toEqual([])
        expect(await seqs(current)).toEqual([1])
      })

      it('may be repeated, and may name what never existed', async () => {
        const branch = aBranch()
        await fill(branch, 1)
        await purge(branch)
        await purge(branch)
        await purge(aBranch())
        expect(await seqs(branch)).toEqual([])
      })

      it('come after the appends that were requested before them', async () => {
        const branch = aBranch()
        const appended = store.log.append([aRow({ branch, seq: 1 })], [])
        await Promise.all([appended, purge(branch)])
        expect(await seqs(branch)).toEqual([])
      })

      it('refuse further rows for a deleted branch', async () => {
        const [gone, needed] = [aBranch(), aBranch()]
        await fill(gone, 2)
        await fill(needed, 2)
        await fill(copyOf(needed, 1), 1, 2)
        for (const branch of [gone, needed]) {
          await purge(branch)
          for (const seq of [2, 3]) {
            await expect(store.log.append([aRow({ branch, seq })], [])).rejects
              .toMatchObject({ code: 'stale_append' })
          }
        }
      })

      it('remove an assistant and its log', async () => {
        const row = anAssistant()
        const branch = row.branch!
        await store.log.append([aRow({ branch, seq: 1 })], [{ table: 'assistant', row }])
        await store.log.purge({ table: 'assistant', tenant: 'local', id: row.assistantId, branch,
          epoch: 1 })
        expect(await store.assistants.get('local', row.assistantId)).toBeUndefined()
        expect(await seqs(branch)).toEqual([])
      })
    })

    describe('deletes of what others forked from', () => {
      it('keep what a copy needs, and only that', async () => {
        const source = aBranch()
        await fill(source, 5)
        const [short, long] = [copyOf(source, 2), copyOf(source, 4)]
        await fill(short, 1, 3)
        await fill(long, 1, 5)
        await purge(source)
        expect(await seqs(source)).toEqual([1, 2, 3, 4])
        expect(await seqs(long)).toEqual([1, 2, 3, 4, 5])
        expect(await store.log.findCheckpoint(long, `${source.id} 3`)).toMatchObject({ seq: 3 })
        await purge(long)
        expect(await seqs(source)).toEqual([1, 2])
        expect(await seqs(short)).toEqual([1, 2, 3])
        await purge(short)
        expect(await seqs(source)).toEqual([])
      })

      it('keep what a copy of a deleted copy needs', async () => {
        const source = aBranch()
        await fill(source, 4)
        const copy = copyOf(source, 3)
        await fill(copy, 3, 4)
        const second = copyOf(copy, 5)
        await fill(second, 1, 6)
        await purge(source)
        await purge(copy)
        expect(await seqs(second)).toEqual([1, 2, 3, 4, 5, 6])
        expect(await seqs(source)).toEqual([1, 2, 3])
        await purge(second)
        expect(await seqs(source)).toEqual([])
        expect(await seqs(copy)).toEqual([])
      })

      it('remove a copy without harm to its source', async () => {
        const source = aBranch()
        await fill(source, 3)
        const copy = copyOf(source, 2)
        await fill(copy, 1, 3)
        await purge(copy)
        expect(await seqs(source)).toEqual([1, 2, 3])
        await fill(source, 1, 4)
      })
    })

    // They share one restart: opening a store takes longer than the rest of them.
    describe('restarts', () => {
      /** A thread with a run, a log of two epochs, and the rest of a deleted log. */
      const fillAll = async () => {
        const epoch = await store.claimEpoch()
        const row = aThread({ status: 'busy', metadataJson: '{"kept":1}' })
        const run = aRun({ threadId: row.threadId })
        await fill(row.branch!, 2)
        await store.log.append([aRow({ branch: row.branch!, seq: 3, epoch, prevEpoch: 1 })], [{
          table: 'thread',
          row,
        }, { table: 'run', row: run }])
        const source = aBranch()
        await fill(source, 3)
        await fill(copyOf(source, 1), 1, 2)
        await purge(source)
        return { epoch, row, run, source }
      }

      /** Threads in all states, and whether each is unfinished. */
      const putStates = async () => {
        const owing = { owedWebhooks: [randomUUID()] }
        const [busy, idle, hidden, done, owes, owed, later, both] = [
          aThread({ tenant: randomUUID(), status: 'busy' }),
          aThread(),
          aThread({ hidden: true }),
          aThread({ status: 'busy' }),
          aThread({ tenant: randomUUID(), ...owing }),
          aThread(owing),
          aThread(),
          aThread({ ...owing, status: 'busy' }),
        ]
        await store.log.append([],
          [busy, idle, hidden, done, { ...done, seq: 2, status: 'idle' }, owes, owed, { ...owed,
            seq: 2, owedWebhooks: [] }, later, { ...later, seq: 2, ...owing }, both, { ...both,
            seq: 2 }]
            .map((row) => ({ table: 'thread', row })))
        return [[busy, true], [idle, false], [hidden, true], [done, false], [owes, true], [owed,
          false], [later, true], [both, true]] as const
      }

      /** Closes the store while it appends. */
      const closeAt = async (branch: Branch) => {
        const appended = store.log.append([aRow({ branch, seq: 1 })], [])
        const closed = store.close()
        const late = store.log.append([aRow({ branch, seq: 2 })], [])
        const [refused] = await Promise.allSettled([late, appended, closed])
        await Promise.all([appended, closed])
        return { branch, refused }
      }

      let filled: Awaited<ReturnType<typeof fillAll>>
      let states: Awaited<ReturnType<typeof putStates>>
      let last: Awaited<ReturnType<typeof closeAt>>

      beforeAll(async () => {
        filled = await fillAll()
        states = await putStates()
        last = await closeAt(aBranch())
        store = await place.open()
      })

      it('keep everything, and begin a life with a higher epoch', async () => {
        const { epoch, row, run, source } = filled
        const branch = row.branch!
        expect(await store.claimEpoch()).toBeGreaterThan(epoch)
        expect(await seqs(branch)).toEqual([1, 2, 3])
        expect(await store.log.tail(branch)).toEqual({ epoch, seq: 3 })
        expect(await store.log.findCheckpoint(branch, `${branch.id} 2`)).toMatchObject({ seq: 2 })
        expect(await store.threads.get('local', row.threadId)).toEqual(row)
        const query = { tenant: 'local', status: 'busy', metadata: { kept: 1 } } as const
        expect(await store.threads.count(query)).toBe(1)
        expect(await store.unfinished())
          .toContainEqual({ tenant: 'local', threadId: row.threadId })
        expect(await store.runs.get('local', row.threadId, run.runId)).toEqual(run)
        await expect(store.log.append([aRow({ branch, seq: 4, epoch: epoch - 1 })], [])).rejects
          .toMatchObject({ code: 'stale_append' })
        await expect(store.log.append([aRow({ branch: source, seq: 2 })], [])).rejects
          .toMatchObject({ code: 'stale_append' })
      })

      it('report threads that are busy, hidden or owe a webhook as unfinished, ' +
        'of all tenants', async () => {
        const unfinished = await store.unfinished()
        const isNamed = ({ tenant, threadId }: typeof filled.row) =>
          unfinished.some((each) => each.tenant === tenant && each.threadId === threadId)
        expect(states.map(([row]) => isNamed(row))).toEqual(states.map(([, isOpen]) => isOpen))
      })

      it('finish what was requested before the close, and refuse what comes after', async () => {
        expect(last.refused).toMatchObject({ status: 'rejected', reason: { code: 'unavailable' } })
        expect(await seqs(last.branch)).toEqual([1])
      })
    })
  })
}
