/** Traces of runs that are deleted or rolled back: which are removed, and which may come yet. */

import { expect, it } from 'vitest'

import type { RunRow } from '../../../../proto/gen/storage/v1/row.ts'
import { HeddleError } from '../../../../src/errors.ts'
import { tracePlace } from '../../../../src/platform/index.ts'
import type { FiledProject, Platform, Project, Removal } from '../../../../src/platform/index.ts'
import type { FiledRun } from '../../../../src/platform/records/projects/former-names.ts'
import { removeGoneTraces } from '../../../../src/server/own-traces/gone-traces.ts'
import { virtualEnv } from '../../../support/env.ts'

const nowMs = Date.UTC(2026, 0, 31)
const idOf = (n: number) => `00000000-0000-7000-8000-${String(n).padStart(12, '0')}`
const row = (n: number, changes: Partial<RunRow> = {}) =>
  ({ tenant: 't', runId: idOf(n), threadId: 'x', status: 'success', planJson: '{"graphId":"agent"}',
    metadataJson: '', updatedAtMs: nowMs, ...changes }) as RunRow

/** Projects by the names of graphs; of the others, none exists. */
function filedIn(name: string,
  absent: ReadonlyMap<string, 'none' | 'deleted' | 'renamed'>): FiledProject {
  const state = absent.get(name)
  const id = state === undefined ? `project ${name}` : 'former project'
  return { isNew: false, isDeleted: state === 'deleted',
    project: state === 'none' || state === 'deleted' ? undefined : { name, id } as Project }
}

interface OpenedOptions {
  readonly stored?: readonly string[]
  readonly deep?: boolean
  readonly isOpen?: boolean
  readonly absent?: ReadonlyMap<string, 'none' | 'deleted'>
  readonly failing?: boolean
  /** States of projects for runs that are reported again. */
  readonly absentAgain?: ReadonlyMap<string, 'none' | 'deleted' | 'renamed'>
}

function opened(
  { stored = [], deep = false, isOpen = true, absent = new Map(), failing = false,
    absentAgain = absent }: OpenedOptions = {},
) {
  const removed: unknown[] = []
  const noted: string[] = []
  const forgotten: string[] = []
  const unrecorded: string[] = []
  const withoutFeedback: string[] = []
  const platform = {
    projects: {
      filed: async (_: string, runs: readonly FiledRun[], makes: boolean) => {
        expect(makes).toBe(false)
        return runs.map(({ name, repeated }) => filedIn(name, repeated ? absentAgain : absent))
      },
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
      remove: async ({ what }: { what: Removal }) => {
        if (failing) throw new HeddleError('unavailable')
        if (what.kind === 'traces') removed.push(...what.traces)
        if (what.kind === 'feedback') withoutFeedback.push(...what.spans)
      },
      noteRemovedRuns: async ({ runs }: { runs: readonly string[] }) => void noted.push(...runs),
      removeRecordings: async ({ runs }: { runs: readonly string[] }) =>
        void unrecorded.push(...runs),
    },
  } as unknown as Platform
  const remove = removeGoneTraces({ env: virtualEnv(nowMs),
    platform: () => isOpen ? platform : undefined, tracesSteps: () => deep,
    deploymentOf: async () => undefined, ownRuns: { forget: (runs) => {
      forgotten.push(...runs.map(({ runId }) => runId))
      return () => void forgotten.splice(0)
    } } })
  return { remove, removed, forgotten, unrecorded, noted, withoutFeedback }
}

it('A stored trace is removed, and one that is on its way can come no more.', async () => {
  const { remove, removed, forgotten } = opened({ stored: [idOf(1)] })
  await remove('t', [row(1), row(2, { metadataJson: '{"project":"mine"}' }),
    row(3, { updatedAtMs: nowMs - 2 * 86_400_000 - 1 })])
  expect(removed).toEqual([{ id: idOf(1) }, tracePlace('t', 'project mine', idOf(2))])
  expect(forgotten).toEqual([idOf(1), idOf(2), idOf(3)])
})

it('A trace that is retried for a day after the end of its run can come no more.', async () => {
  const { remove, removed } = opened()
  await remove('t', [row(1, { updatedAtMs: nowMs - 86_400_000 })])
  expect(removed).toEqual([tracePlace('t', 'project agent', idOf(1))])
})

it('Of a run that has not ended only steps are stored: it may go on after all.', async () => {
  const running = row(1, { status: 'running', starts: 2 })
  const plain = opened()
  await plain.remove('t', [running])
  expect([plain.removed, plain.forgotten]).toEqual([[], []])
  expect(plain.unrecorded).toEqual([idOf(1)])
  expect(plain.withoutFeedback).toEqual([idOf(1)])
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

it('A run whose traces cannot be removed keeps its trace that waits.', async () => {
  for (const failing of [{ failing: true, stored: [idOf(1)] }, { isOpen: false }]) {
    const { remove, forgotten } = opened(failing)
    await expect(remove('t', [row(1)])).rejects.toMatchObject({ code: 'unavailable' })
    expect(forgotten).toEqual([])
  }
})

it('A deleted run makes no project: a note rejects its trace if its project is made.', async () => {
  const none = opened({ absent: new Map([['agent', 'none']]) })
  await none.remove('t', [row(1)])
  expect([none.removed, none.noted]).toEqual([[], [idOf(1)]])
  const deleted = opened({ absent: new Map([['agent', 'deleted']]) })
  await deleted.remove('t', [row(1)])
  expect([deleted.removed, deleted.noted]).toEqual([[], []])
})

it('A trace can come neither with the first nor with a repeated report of its run.', async () => {
  const absentAgain = new Map([['agent', 'renamed'] as const])
  const two = opened({ absentAgain })
  await two.remove('t', [row(1)])
  expect([two.removed, two.noted]).toEqual([
    ['project agent', 'former project'].map((project) => tracePlace('t', project, idOf(1))),
    [],
  ])
  const one = opened({ absent: new Map([['agent', 'none']]), absentAgain })
  await one.remove('t', [row(1)])
  expect([one.removed, one.noted])
    .toEqual([[tracePlace('t', 'former project', idOf(1))], [idOf(1)]])
})

it('Traces of attempts are removed also if steps are traced no more.', async () => {
  const { remove, removed } = opened({ stored: [idOf(1), idOf(99)] })
  await remove('t', [row(1, { starts: 2 })])
  expect(removed).toEqual([{ id: idOf(1) }, { id: idOf(99) }])
})
