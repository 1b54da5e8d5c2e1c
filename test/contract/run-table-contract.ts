/** What every run table promises: rows by id, and pages by status, newest first. */

import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'

import type { RunRow } from '../../proto/gen/storage/v1/row.ts'
import { AllowedRuns } from '../../src/frontdoor/authorise/runs.ts'
import type { Asking } from '../../src/frontdoor/authorise/asking.ts'
import { RunOperations } from '../../src/frontdoor/operations/runs.ts'
import { isMeant } from '../../src/search/index.ts'
import type { RunPlace, RunQuery, RunSearchQuery, RunStatus,
  RunTable } from '../../src/search/index.ts'
import { isNight } from '../support/repeats.ts'
import { aRun, aThread } from './rows.ts'
import { filters as logins, isSeen } from './search-model.ts'
import { useStore } from './store-place.ts'
import type { MakePlace } from './store-place.ts'

/** Operations on runs that reads nothing but this table. */
function runsOver(runs: RunTable): AllowedRuns {
  const threads = {
    listRuns: (query: RunQuery) => runs.list(query),
    getRun: (...name: Parameters<RunTable['get']>) => runs.get(...name),
  }
  return new AllowedRuns({ runs: new RunOperations({ threads } as never), threads: {} as never,
    admit: (() => {}) as never, ask: async (_, __, value) => ({ value, filter: undefined }) })
}

const statuses = ['pending', 'running', 'success', 'error', 'interrupted', 'timeout'] as const

export function describeRunTable(name: string, makePlace: MakePlace): void {
  describe(`the run table of the ${name} store`, () => {
    const store = useStore(makePlace)

    const put = (...rows: RunRow[]) =>
      store.log.append([], rows.map((row) => ({ table: 'run', row })))
    const list = (threadId: string, query: Partial<RunQuery> = {}) =>
      store.runs.list({ tenant: 'local', threadId, limit: 10, offset: 0, ...query })

    it('gives back every field of the newest row', async () => {
      const row = aRun({
        status: 'error',
        assistantId: randomUUID(),
        multitaskStrategy: 'rollback',
        metadataJson: '{"a":1}',
        kwargsJson: '{"input":null}',
        planJson: '{}',
        notBeforeMs: 5,
        attempt: 2,
        baseCheckpointId: randomUUID(),
        started: true,
        errorJson: '{}',
        commandId: 'key',
        firstSeq: 3,
        lastSeq: 9,
        finalCheckpointId: randomUUID(),
        hasUntracked: true,
      })
      await put({ ...row, status: 'pending', started: false }, row)
      expect(await store.runs.get('local', row.threadId, row.runId)).toEqual(row)
    })

    it('finds a run only under its own thread and tenant', async () => {
      const row = aRun()
      await put(row, { ...row, tenant: 'other', status: 'success' })
      expect(await store.runs.get('local', row.threadId, row.runId)).toEqual(row)
      expect((await store.runs.get('other', row.threadId, row.runId))?.status).toBe('success')
      expect(await store.runs.get('local', randomUUID(), row.runId)).toBeUndefined()
      expect(await store.runs.get('third', row.threadId, row.runId)).toBeUndefined()
    })

    it('lists the newest first, and those of one millisecond by creation', async () => {
      const threadId = randomUUID()
      const runs = [10, 20, 20, 20, 15].map((createdAtMs) => aRun({ threadId, createdAtMs }))
      for (const row of runs) await put(row)
      await put({ ...runs[1]!, status: 'success' }, aRun({ createdAtMs: 20 }))
      const order = [3, 2, 1, 4, 0].map((index) => runs[index]!.runId)
      expect((await list(threadId)).map(({ runId }) => runId)).toEqual(order)
      expect((await list(threadId, { limit: 2, offset: 1 })).map(({ runId }) => runId))
        .toEqual(order.slice(1, 3))
      expect(await list(threadId, { offset: 5 })).toEqual([])
    })

    it('gives the questions of the newest run, which lists leave out', async () => {
      const threadId = randomUUID()
      const asking = aRun({ threadId, status: 'success', createdAtMs: 20,
        interruptsJson: '{"task":[{"id":"q","value":"Which?"}]}' })
      await put(aRun({ threadId, status: 'success', createdAtMs: 10 }), asking)
      const newest = await runsOver(store.runs).newest({ tenant: 'local' } as Asking, threadId,
        'threads:read')
      expect(newest).toEqual(asking)
    })

    it('lists the runs of one status', async () => {
      const threadId = randomUUID()
      const all = ['pending', 'running', 'success', 'error', 'interrupted', 'timeout'] as const
      const runs = [...all, ...all].map((status, index) =>
        aRun({ threadId, status, createdAtMs: index })
      )
      await put(...runs)
      for (const [index, status] of all.entries()) {
        expect(await list(threadId, { status })).toEqual([runs[index + all.length], runs[index]])
        expect(await list(threadId, { status, limit: 1, offset: 1 })).toEqual([runs[index]])
      }
    })

    it('leaves out texts that are not selected', async () => {
      const row = aRun({ metadataJson: '{"a":1}', kwargsJson: `"${'x'.repeat(600_000)}"`,
        planJson: '{"b":1}', errorJson: '{"c":1}', interruptsJson: '{"d":1}', commandId: 'key' })
      await put(row)
      const none = { metadataJson: '', kwargsJson: '', planJson: '', errorJson: '',
        interruptsJson: '' }
      expect(await list(row.threadId, { texts: [] })).toEqual([{ ...row, ...none }])
      expect(await list(row.threadId, { texts: ['metadataJson', 'errorJson'] })).toEqual(
        [{ ...row, ...none, metadataJson: '{"a":1}', errorJson: '{"c":1}' }],
      )
      expect(await list(row.threadId)).toEqual([row])
    })

    it('finds a run by its current status only', async () => {
      const row = aRun()
      const steps: RunStatus[] = ['pending', 'running', 'success']
      for (const status of steps) await put({ ...row, status })
      expect(await Promise.all(steps.map(async (status) =>
        (await list(row.threadId, { status }))
          .length
      ))).toEqual([0, 0, 1])
    })

    it('searches the runs of a tenant as the model does, page by page', async () => {
      const tenant = randomUUID()
      const [threads, assistants, graphs] = [[randomUUID(), randomUUID()], ['a1', 'a2'], ['g1',
        'g2']]
      const pick = <Each>(from: readonly Each[], n: number) => from[n % from.length]!
      const rows = Array.from({ length: 60 },
        (_, n) =>
          aRun({ tenant, threadId: pick(threads, n * 7 >> 2), status: pick(statuses, n * 5 >> 1),
            assistantId: pick(assistants, n >> 2), planJson: `{"graphId":"${pick(graphs, n)}"}`,
            createdAtMs: 1_000 + (n >> 1) * 20 * 60_000 }))
      await put(...rows.map((row) => ({ ...row, status: 'pending' })))
      await put(...rows, ...rows.slice(0, 3).map((row) => ({ ...row, tenant: 'other' })))
      const metadata = [{ x: 1 }, { x: '1', y: 'a' }]
      await store.log.append([], threads.map((threadId, n) => ({ table: 'thread', row: aThread({
        tenant,
        threadId,
        // Threads of stateless runs are hidden, and their runs are listed.
        hidden: n === 1,
        metadataJson: JSON.stringify(metadata[n]),
      }) })))
      const [gone] = rows.splice(20, 1)
      await store.log.append([], [{ table: 'run_removed', tenant, threadId: gone!.threadId,
        runId: gone!.runId }])
      const filters: Partial<RunSearchQuery>[] = [{}, { threadId: threads[1] }, { graphId: 'g2' }, {
        assistantId: 'a2',
        graphId: 'g1',
      }, { createdAfterMs: rows[9]!.createdAtMs }, { createdAfterMs: rows[9]!.createdAtMs,
        createdBeforeMs: rows[40]!.createdAtMs }, ...statuses.map((status) => ({ status })), {
        status: 'error',
        threadId: threads[0],
      }, { threadId: threads[0], createdBeforeMs: rows[40]!.createdAtMs }, {
        runId: rows[9]!.runId,
      }, { runId: gone!.runId }, { runId: rows[9]!.runId, createdAfterMs: rows[9]!.createdAtMs },
        ...logins.slice(3, 9).map((allowed) => ({ allowed }))]
      for (const [at, filter] of filters.entries()) {
        const { createdAfterMs = -1, createdBeforeMs = Infinity } = filter
        const wanted = rows.filter((row) =>
          isMeant({ tenant, ...filter }, row)
          && isSeen(filter.allowed, JSON.stringify(metadata[row.threadId === threads[0] ? 0 : 1]))
          && row.createdAtMs > createdAfterMs && row.createdAtMs < createdBeforeMs
        )
          .toSorted((a, b) => b.createdAtMs - a.createdAtMs || (a.runId < b.runId ? 1 : -1))
        for (const limit of isNight ? [7, 1_000] : [at % 2 === 0 ? 23 : 1_000]) {
          const found: RunRow[] = []
          let after: RunPlace | undefined
          do {
            const page = await store.runs.search({ tenant, limit, after, ...filter })
            expect(page.rows.length).toBeLessThanOrEqual(limit)
            found.push(...page.rows)
            after = page.next
          } while (after)
          expect(found, JSON.stringify(filter)).toEqual(wanted)
        }
      }
    })

    it('removes a run, and ignores one that does not exist', async () => {
      const [row, other] = [aRun(), aRun()]
      await put(row, { ...other, threadId: row.threadId })
      const removed = { table: 'run_removed', tenant: 'local', threadId: row.threadId } as const
      await store.log.append([], [{ ...removed, runId: row.runId }, { ...removed,
        runId: randomUUID() }])
      expect((await list(row.threadId)).map(({ runId }) => runId)).toEqual([other.runId])
      expect(await store.runs.get('local', row.threadId, row.runId)).toBeUndefined()
    })
  })
}
