/** Notes on deleted runs: how many are retained, and for how long. */

import { expect, it } from 'vitest'

import { RemovedRuns } from '../../../../src/platform/ingest/removed-runs.ts'
import type { RemovedRunsStore } from '../../../../src/platform/ingest/removed-runs.ts'
import { virtualEnv } from '../../../support/env.ts'
import { memoryDocuments } from '../../../support/memory-documents.ts'

const tenant = 'acme'
const dayMs = 86_400_000

function notesHouse() {
  const env = virtualEnv(Date.UTC(2026, 0, 31))
  const documents = memoryDocuments()
  const stored = new Set<string>()
  const store: RemovedRunsStore = { ...documents, putDocuments: async (place, added) => {
    await documents.putDocuments(place, added)
    for (const { key } of added) stored.add(key)
  }, deleteDocuments: async (place, keys) => {
    await documents.deleteDocuments(place, keys)
    for (const key of keys) stored.delete(key)
  } }
  return { env, stored, notes: new RemovedRuns(store, env) }
}

const idOf = (n: number) => `00000000-0000-7000-8000-${String(n).padStart(12, '0')}`

it('deletes more old notes than it adds, also for threads of many runs', async () => {
  const { env, stored, notes } = notesHouse()
  for (let day = 0; day < 6; day += 1) {
    for (let part = 0; part < 2; part += 1) {
      const from = (day * 2 + part) * 1_000
      await notes.add(tenant, Array.from({ length: 1_000 }, (_, at) => idOf(from + at)))
    }
    env.advance(dayMs + 1)
  }
  expect(stored.size).toBeLessThanOrEqual(6_000)
  expect((await notes.among(tenant, [idOf(10_000), idOf(11_999)])).size).toBe(2)
})

it('deletes old notes behind recent notes, because ids are not in the order of times', async () => {
  const { env, stored, notes } = notesHouse()
  const old = Array.from({ length: 300 }, (_, at) => idOf(10_000 + at))
  await notes.add(tenant, old)
  env.advance(2 * dayMs + 1)
  await notes.add(tenant, Array.from({ length: 200 }, (_, at) => idOf(at)))
  for (let at = 0; at < 10; at += 1) await notes.add(tenant, [idOf(1_000 + at)])
  expect(old.filter((id) => stored.has(id))).toEqual([])
  expect(stored.size).toBe(210)
})
