/** Filters of a login go with each change, because they must hold in its turn as well. */

import { expect, it } from 'vitest'

import type { Ask } from '../../../../src/frontdoor/authorise/ask.ts'
import { AllowedAssistants } from '../../../../src/frontdoor/authorise/assistants.ts'
import type { Asking } from '../../../../src/frontdoor/authorise/asking.ts'
import { AllowedCrons } from '../../../../src/frontdoor/authorise/crons.ts'
import { AllowedRuns } from '../../../../src/frontdoor/authorise/runs.ts'
import { AllowedStore } from '../../../../src/frontdoor/authorise/store.ts'
import { AllowedThreads } from '../../../../src/frontdoor/authorise/threads.ts'

const ann = { tenant: 't', login: {}, user: { identity: 'ann' } } as unknown as Asking
const filter = { kind: 'equals', key: 'owner', value: 'ann' } as const
const row = { metadataJson: '{"owner":"ann"}', threadId: 'x', runId: 'r', assistantId: 'a' }
const item = { namespace: ['n'], key: 'k', valueJson: '{"owner":"ann"}' }
const run = { threadId: 'x', runId: 'r' }

/** Calls of operations that change something, with whether the filter of the login came with it. */
function opened() {
  const changes: [name: string, isFiltered: boolean][] = []
  const hasFilter = (given: unknown): boolean =>
    given === filter || given instanceof Map && [...given.values()].includes(filter)
    || typeof given === 'object' && given !== null && Object.values(given).some(hasFilter)
  const of = (found: unknown) =>
    new Proxy({}, { get: (_, name: string) => async (...given: unknown[]) => {
      if (name === 'get') return found
      changes.push([name, hasFilter(given)])
      return { row }
    } }) as never
  const ask: Ask =
    (async (_: Asking, _event: unknown, value: object) => ({ value, filter })) as never
  const [threads, runs] = [of({ row }), of(row)]
  const parts = { threads, runs, ask, admit: (() => {}) as never }
  const allowedRuns = new AllowedRuns(parts)
  return { changes, threads: new AllowedThreads(threads, ask), runs: allowedRuns,
    assistants: new AllowedAssistants(of(row), ask), store: new AllowedStore(of(item), ask),
    crons: new AllowedCrons({ crons: of(row), threads, runs: allowedRuns,
      admitAssistant: async () => {} }, ask) }
}

type Opened = ReturnType<typeof opened>
const value = { owner: 'ann' }

const cases: Readonly<Record<string, (of: Opened) => Promise<unknown>>> = {
  'a patch of a thread': ({ threads }) => threads.patch(ann, 'x', {}),
  'a deletion of a thread': ({ threads }) => threads.delete(ann, 'x'),
  'a copy of a thread': ({ threads }) => threads.copy(ann, 'x'),
  'an edit of a state': ({ threads }) => threads.updateState(ann, 'x', {} as never),
  'a patch of a state': ({ threads }) => threads.patchState(ann, 'x', { metadata: {} }),
  'a pruning of named threads': ({ threads }) => threads.prune(ann, { thread_ids: ['x'] }),
  'a pruning by a filter': ({ threads }) => threads.prune(ann, { filter: {} }),
  'a cancel': ({ runs }) => runs.cancel(ann, run, {}),
  'a cancel of several runs': ({ runs }) =>
    runs.cancelMany(ann, { thread_id: 'x', run_ids: ['r'] }, {}),
  'a deletion of a run': ({ runs }) => runs.delete(ann, run),
  'a change of a notification': ({ runs }) =>
    runs.changePush(ann, run, { kind: 'remove', taskId: 'r', id: 'c' }),
  'a patch of an assistant': ({ assistants }) => assistants.patch(ann, 'a', {}),
  'another latest version': ({ assistants }) => assistants.setLatest(ann, 'a', 1),
  'a deletion of an assistant': ({ assistants }) => assistants.delete(ann, 'a', false),
  'a deletion of an assistant and its threads': ({ assistants }) =>
    assistants.delete(ann, 'a', true),
  'a patch of a cron': ({ crons }) => crons.patch(ann, 'c', {}),
  'a deletion of a cron': ({ crons }) => crons.delete(ann, 'c'),
  'a put of an item': ({ store }) => store.put(ann, { namespace: ['n'], key: 'k', value }),
  'a deletion of an item': ({ store }) => store.delete(ann, { namespace: ['n'], key: 'k' }),
}

it.each(Object.entries(cases))('%s carries the filter', async (_, change) => {
  const of = opened()
  await change(of)
  expect(of.changes).toEqual([[expect.any(String), true]])
})

it('The metadata that a handler leaves is part of the copy command', async () => {
  const copies: unknown[] = []
  const operations = {
    get: async () => ({ row: { ...row, metadataJson: '{"owner":"ann","graph_id":"g"}' } }),
    copy: async (...given: unknown[]) => void copies.push(given),
  }
  const ask = async (_: Asking, event: string, value: object) =>
    event === 'threads:create' ? { value: { metadata: { owner: 'ben' } } } : { value, filter }
  await new AllowedThreads(operations as never, ask as never).copy(ann, 'x', 'c')
  expect(copies).toEqual([['t', 'x', { checkpointId: 'c', allowed: filter,
    metadata: { graph_id: 'g', owner: 'ben' } }]])
})

it('A cron is triggered only if the row that is run matches the filter', async () => {
  const made: object[] = []
  const crons = new AllowedCrons({ threads: {} as never, runs: {} as never,
    admitAssistant: async () => {}, crons: {
      trigger: async (_tenant: string, _cron: string, _key: string, see: (row: object) => void) => {
        see({ metadataJson: '{"owner":"ben"}' })
        made.push(row)
      },
    } as never }, (async () => ({ value: {}, filter })) as never)
  await expect(crons.trigger(ann, 'c', '')).rejects.toMatchObject({ code: 'not_found' })
  expect(made).toEqual([])
})
