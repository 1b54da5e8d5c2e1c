/** Removal of what the platform keeps of a namespace, also of what no catalog lists. */

import { expect, it } from 'vitest'

import type { Platform } from '../../../../src/platform/index.ts'
import { hasTraces, removePlatformData } from '../../../../src/server/deployments/platform-data.ts'
import { CatalogHouse, newRecord } from '../../platform/catalog/catalog-house.ts'

const tenant = 'acme@shop'

/** A namespace with the recorded calls of so many runs. */
function namespaceWith(recorded: number) {
  const catalogs = new CatalogHouse().client()
  const state = { recorded, removed: [] as string[], feedback: [] as string[] }
  const platform = {
    ingest: {
      remove: ({ what }: { readonly what: { readonly project: string } }) =>
        Promise.resolve(void state.removed.push(what.project)),
      removeUnlisted: () => {
        const count = state.recorded
        state.recorded = 0
        return Promise.resolve(count)
      },
      deleteFeedback: ({ id }: { readonly id: string }) => {
        state.feedback = state.feedback.filter((each) => each !== id)
        return Promise.resolve(true)
      },
    },
    query: {
      hasRecordings: () => Promise.resolve(state.recorded > 0),
      listFeedback: ({ limit }: { readonly limit: number }) =>
        Promise.resolve(state.feedback.slice(0, limit).map((id) => ({ id }))),
    },
  } as unknown as Pick<Platform, 'documents' | 'ingest' | 'query' | 'rules' | 'shares'>
  return { catalogs, platform, tenant, state, owner: { id: 'id of shop', createdAtMs: 0 } }
}

it('recorded calls are removed and counted without a project', async () => {
  const namespace = namespaceWith(3)
  expect(await hasTraces(namespace)).toBe(true)
  expect(await removePlatformData(namespace)).toBe(3)
  expect(await hasTraces(namespace)).toBe(false)
})

it('projects, and notes of former names, are removed with their traces', async () => {
  const namespace = namespaceWith(0)
  const { catalogs, state } = namespace
  await catalogs.create({ tenant, collection: 'project' }, newRecord({ name: 'one' }))
  await catalogs.create({ tenant, collection: 'project_name' }, newRecord({ name: 'former' }))
  expect(await hasTraces(namespace)).toBe(true)
  expect(await removePlatformData(namespace)).toBe(2)
  expect(state.removed).toEqual(['id of one'])
  expect(await hasTraces(namespace)).toBe(false)
})

it('feedback on runs that never came is removed, though no project leads to it', async () => {
  const namespace = namespaceWith(0)
  namespace.state.feedback = Array.from({ length: 50 }, (_, at) => `feedback ${at}`)
  expect(await removePlatformData(namespace)).toBe(50)
  expect(namespace.state.feedback).toEqual([])
})
