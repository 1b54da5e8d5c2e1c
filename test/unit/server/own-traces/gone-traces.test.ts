/** Traces of runs that are deleted or rolled back: which are removed, and which may come yet. */

import { expect, it } from 'vitest'

import type { RunRow } from '../../../../proto/gen/storage/v1/row.ts'
import { tracePlace } from '../../../../src/platform/index.ts'
import type { Platform, Project } from '../../../../src/platform/index.ts'
import { removeGoneTraces } from '../../../../src/server/own-traces/gone-traces.ts'
import { virtualEnv } from '../../../support/env.ts'

const nowMs = Date.UTC(2026, 0, 31)
const idOf = (n: number) => `00000000-0000-7000-8000-${String(n).padStart(12, '0')}`
const row = (n: number, changes: Partial<RunRow> = {}) =>
  ({ tenant: 't', runId: idOf(n), threadId: 'x', status: 'success', planJson: '{"graphId":"agent"}',
    metadataJson: '', updatedAtMs: nowMs, ...changes }) as RunRow

function opened({ stored = [] as readonly string[], deep = false, isOpen = true } = {}) {
  const removed: unknown[] = []
  const forgotten: string[] = []
  const unrecorded: string[] = []
  const platform = {
    projects: {
      named: async (_: string, names: readonly string[]) =>
        names.map((name) => ({ name, id: `project ${name}` }) as Project),
    },
    query: {
      locate: async ({ ids, stored: isBare }: { ids: readonly string[]; stored?: boolean }) =>
        // A thread that waits for this cannot say what it runs.
        ids.filter((id) => isBare && stored.includes(id)).map((id) => ({ id })),
      spanIds: async ({ filter }: { filter: string }) =>
        stored.filter((id) => filter.includes(id))
          .map(() => idOf(99)),
    },
    ingest: {
      remove: async ({ what }: { what: { traces: readonly unknown[] } }) =>
        void removed.push(...what.traces),
      removeRecordings: async ({ runs }: { runs: readonly string[] }) =>
        void unrecorded.push(...runs),
    },
  } as unknown as Platform
  const remove = removeGoneTraces({ env: virtualEnv(nowMs),
    platform: () => isOpen ? platform : undefined, tracesSteps: () => deep,
    ownRuns: { forget: (runs) => void forgotten.push(...runs.map(({ runId }) => runId)) } })
  return { remove, removed, forgotten, unrecorded }
}

it('A stored trace is removed, and one that is on its way can come no more.', async () => {
  const { remove, removed, forgotten } = opened({ stored: [idOf(1)] })
  await remove('t', [row(1), row(2, { metadataJson: '{"project":"mine"}' }),
    row(3, { updatedAtMs: nowMs - 61_000 })])
  expect(removed).toEqual([{ id: idOf(1) }, tracePlace('t', 'project mine', idOf(2))])
  expect(forgotten).toEqual([idOf(1), idOf(2), idOf(3)])
})

it('Of a run that has not ended only steps are stored: it may go on after all.', async () => {
  const running = row(1, { status: 'running', starts: 2 })
  const plain = opened()
  await plain.remove('t', [running])
  expect([plain.removed, plain.forgotten]).toEqual([[], []])
  expect(plain.unrecorded).toEqual([idOf(1)])
  const deep = opened({ deep: true, stored: [idOf(1), idOf(99)] })
  await deep.remove('t', [running])
  expect([deep.removed, deep.forgotten]).toEqual([[{ id: idOf(1) }, { id: idOf(99) }], []])
  const early = opened({ deep: true })
  await early.remove('t', [running])
  expect(early.removed).toEqual([tracePlace('t', 'project agent', idOf(1))])
})

it('Nothing is deleted while the platform is closed.', async () => {
  await expect(opened({ isOpen: false }).remove('t', [row(1)])).rejects.toMatchObject({
    code: 'unavailable',
  })
})
