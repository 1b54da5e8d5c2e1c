/** What every store promises of what tenants use, and of threads that sleep until they are due. */

import { randomUUID } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'

import type { AssistantRow, ThreadRow, UnfinishedRun } from '../../proto/gen/storage/v1/row.ts'
import { dueAtMs, noUse, useOfThread } from '../../src/limits/index.ts'
import { expiryAtMs } from '../../src/search/index.ts'
import type { TenantUse } from '../../src/limits/index.ts'
import { anAssistant, aThread } from './rows.ts'
import type { MakePlace, OpenStore } from './store-place.ts'
import { expectAlways } from '../support/expect-always.ts'

function unfinished(run: Partial<UnfinishedRun> = {}): UnfinishedRun {
  return { runId: randomUUID(), createdSeq: 1, updatedAtMs: 1, status: 'pending', started: false,
    attempt: 0, baseCheckpointId: '', firstSeq: 1, startedAtMs: 0, notBeforeMs: 0,
    inputCharacters: 0, ownerDeaths: 0, suspect: false, ...run }
}

const runs = fc.array(fc.record({
  status: fc.constantFrom('pending', 'running'),
  started: fc.boolean(),
  notBeforeMs: fc.constantFrom(0, 100, 200),
}), { maxLength: 3 })

const life = fc.record({ strategy: fc.constantFrom('delete', 'keep_latest'),
  minutes: fc.constant(1), expiresAtMs: fc.constantFrom(150, 2_000) })

const thread = fc.record({ hidden: fc.boolean(), storedBytes: fc.nat(5_000), runs,
  timeToLive: fc.option(life, { nil: undefined }) })

/**
 * Of few things, so that most change what another one made. A new thread takes the id of a deleted
 * one. A late row comes from an earlier owner.
 */
const step = fc.oneof(
  { weight: 8,
    arbitrary: fc.record({ kind: fc.constant('thread' as const), id: fc.nat(5), tenant: fc.nat(1),
      row: thread, isNew: fc.boolean(), isLate: fc.boolean() }) },
  { weight: 2,
    arbitrary: fc.record({ kind: fc.constant('assistant' as const), id: fc.nat(2),
      tenant: fc.nat(1), storedBytes: fc.nat(5_000), isLate: fc.boolean() }) },
  { weight: 2,
    arbitrary: fc.record({ kind: fc.constant('purge' as const), id: fc.nat(5), tenant: fc.nat(1),
      table: fc.constantFrom('thread' as const, 'assistant' as const) }) },
  { weight: 1, arbitrary: fc.constant({ kind: 'reopen' as const }) },
)

/** What was written, by tenant and id. */
class Model {
  readonly tenants: readonly string[] = [randomUUID(), randomUUID()]
  /** Of threads and assistants of both tenants. */
  readonly ids: readonly string[] = Array.from({ length: 6 }, () => randomUUID())
  readonly threads = new Map<string, ThreadRow>()
  readonly assistants = new Map<string, AssistantRow>()
  /** The epoch of the owner; it is higher after each opening of the store. */
  epoch: number
  seq = 0

  constructor(epoch: number) {
    this.epoch = epoch
  }

  /** Counted anew from all rows. */
  use(tenant: string): TenantUse {
    const threads = this.rows.filter((row) => row.tenant === tenant).map(useOfThread)
    const assistants = [...this.assistants.values()].filter((row) => row.tenant === tenant)
    const sum = threads.reduce((a, b) => ({
      threads: a.threads + b.threads,
      bytes: a.bytes + b.bytes,
      runs: a.runs + b.runs,
      delayedRuns: a.delayedRuns + b.delayedRuns,
      crons: 0,
    }), noUse)
    return { ...sum,
      bytes: assistants.reduce((bytes, { storedBytes }) => bytes + storedBytes, sum.bytes) }
  }

  get rows(): ThreadRow[] {
    return [...this.threads.values()]
  }

  get due() {
    return this.rows.map((row) => ({ tenant: row.tenant, threadId: row.threadId,
      atMs: dueAtMs(row.unfinished) || expiryAtMs(row, row.unfinished.length > 0) })
    ).filter(({ atMs }) => atMs > 0)
  }

  get unfinished() {
    const awake = this.rows.filter((row) =>
      (row.status === 'busy' || row.hidden) &&
      dueAtMs(row.unfinished) === 0
    )
    return awake.map(({ tenant, threadId }) => ({ tenant, threadId }))
  }
}

type Step = typeof step extends fc.Arbitrary<infer Each> ? Each : never

/**
 * The model changes at once: stores keep the order of the calls.
 *
 * It writes only what owners write. An owner never goes back in its log, so a row that comes late
 * has an earlier epoch. Cassandra relies on that: of two rows of one epoch, the later call wins,
 * whatever their seq. A thread gets a new branch only after a purge.
 */
async function take(store: OpenStore, model: Model,
  each: Exclude<Step, { kind: 'reopen' }>): Promise<void> {
  const { epoch } = model
  const [tenant, id] = [model.tenants[each.tenant]!, model.ids[each.id]!]
  const key = `${tenant} ${id}`
  const seq = ++model.seq
  const purge = (table: 'thread' | 'assistant') => {
    const rows = table === 'thread' ? model.threads : model.assistants
    const branch = rows.get(key)?.branch
    rows.delete(key)
    return branch && store.log.purge({ table, tenant, id, branch, epoch })
  }
  if (each.kind === 'purge') return purge(each.table)
  if (each.kind === 'assistant') {
    const known = model.assistants.get(key)
    const isLate = each.isLate && known !== undefined
    const row = anAssistant({ ...known, tenant, assistantId: id, storedBytes: each.storedBytes, seq,
      epoch: isLate ? known.epoch - 1 : epoch })
    if (!isLate) model.assistants.set(key, row)
    return store.log.append([], [{ table: 'assistant', row }])
  }
  const { row: { hidden, storedBytes, runs: left, timeToLive }, isNew } = each
  const purged = isNew ? purge('thread') : undefined
  const known = model.threads.get(key)
  const isLate = each.isLate && known !== undefined
  const row = aThread({ ...known, tenant, threadId: id, hidden, storedBytes, timeToLive,
    unfinished: left.map(unfinished), status: left.length > 0 ? 'busy' : 'idle', seq,
    epoch: isLate ? known.epoch - 1 : epoch })
  if (!isLate) model.threads.set(key, row)
  await Promise.all([purged, store.log.append([], [{ table: 'thread', row }])])
}

const places = (rows: readonly { readonly tenant: string; readonly threadId: string }[]) =>
  rows.map(({ tenant, threadId }) => `${tenant} ${threadId}`).toSorted()

export function describeTenantUse(name: string, makePlace: MakePlace): void {
  describe(`what tenants use of the ${name} store`, () => {
    it('is what a count of all rows gives, after whatever was written, removed and reopened',
      async () => {
        const place = makePlace()
        let store = await place.open()
        // That takes long.
        let reopens = 2
        await expectAlways(
          fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 30 }), async (steps) => {
            const model = new Model(await store.claimEpoch())
            const written: Promise<void>[] = []
            for (const each of steps) {
              if (each.kind !== 'reopen') written.push(take(store, model, each))
              else if (reopens-- > 0) {
                await Promise.all(written)
                await store.close()
                store = await place.open()
                model.epoch = await store.claimEpoch()
                expect(
                  places(
                    (await store.unfinished()).filter(({ tenant }) =>
                      model.tenants.includes(tenant)
                    ),
                  ),
                ).toEqual(places(model.unfinished))
              }
            }
            await Promise.all(written)
            for (const tenant of model.tenants) {
              expect(await store.use(tenant)).toEqual(model.use(tenant))
            }
            const due = (await store.due({ atMs: 0, no: 0 }, 10_000))
              .filter(({ tenant }) => model.tenants.includes(tenant))
            expect(places(due)).toEqual(places(model.due))
            expect(due.map(({ atMs }) => atMs)).toEqual(due.map(({ atMs }) => atMs).toSorted())
          }),
          { share: 1 },
        )
        await store.close()
        await place.remove()
      })

    it('names threads that are due in order, a page at a time', async () => {
      const place = makePlace()
      await using store = { ...await place.open(), [Symbol.asyncDispose]: async () => {
        await store.close()
        await place.remove()
      } }
      const rows = [30, 10, 20, 10].map((notBeforeMs) =>
        aThread({ status: 'busy', unfinished: [unfinished({ notBeforeMs })] })
      )
      await store.log.append([], rows.map((row) => ({ table: 'thread', row })))
      const pages = [await store.due({ atMs: 0, no: 0 }, 3)]
      pages.push(await store.due(pages[0]!.at(-1)!, 3))
      expect(pages.map((page) => page.map(({ atMs }) => atMs))).toEqual([[10, 10, 20], [30]])
      expect(pages[1]![0]!.threadId).toBe(rows[0]!.threadId)
      expect(await store.use(randomUUID())).toEqual(noUse)
    })
  })
}
