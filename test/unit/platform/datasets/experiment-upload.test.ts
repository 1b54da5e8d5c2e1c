/** Experiments that come in one body: all of it is checked, and written once. */

import { randomUUID } from 'node:crypto'

import { expect, it } from 'vitest'

import { HeddleError } from '../../../../src/errors.ts'
import { ingestHandlers } from '../../../../src/platform/threads/ingest-handlers.ts'
import type { Project } from '../../../../src/platform/index.ts'
import { oneDataset } from '../../../support/memory-datasets.ts'
import { memorySpans } from '../../../support/memory-spans.ts'

const time = '2026-11-26T20:00:00.000001Z'

/** A dataset, and the thread that writes. */
function opened() {
  const store = memorySpans()
  const house = oneDataset(store, store)
  const { tenant, dataset: { id: dataset }, env, catalog } = house
  const project: Project = { id: randomUUID(), name: 'x', startMs: 0, endMs: null,
    description: null, extraJson: '{}', referenceDatasetId: dataset, retentionDays: 14,
    longLived: false, createdMs: 0, modifiedMs: 0, restJson: '{}' }
  const handlers = ingestHandlers({ store, env, needs: {
    datasets: async ({ ids }) => ids.includes(dataset) ? [house.dataset] : [],
    chargeDataset: ({ id, bytes }) => catalog.charge(tenant, id, bytes),
    publishDataset: catalog.publish,
    projects: async ({ ids }) => ids.includes(project.id) ? [project] : [],
    ownProjects: async () => [],
    prices: async () => [],
    ended: async () => undefined,
    removed: async () => undefined,
  } })
  const add = (body: object) =>
    handlers.addExperiment({ tenant, dataset, project: project.id,
      body: Buffer.from(JSON.stringify(body)) })
  const feedback = (onProject: boolean) =>
    store.listFeedback({ tenant, project: project.id, limit: 1_000, offset: 0,
      ...onProject && { onProject } })
  return { house, store, handlers, tenant, project, add, feedback }
}

const rowOf = (q: string) => ({ row_id: randomUUID(), inputs: { q }, expected_outputs: { a: q },
  actual_outputs: { a: 1 }, start_time: time, end_time: time,
  evaluation_scores: [{ key: 'right', score: 1 }] })
const bodyOf = (results: readonly object[], more: object = {}) => ({ experiment_name: 'x',
  experiment_start_time: time, experiment_end_time: time, dataset_name: 'd', results, ...more })

it('An experiment is written whole, and once if it comes twice', async () => {
  const { house, store, tenant, add, feedback } = opened()
  const rows = Array.from({ length: 300 }, (_, index) => rowOf(`row ${index}`))
  const body = bodyOf([...rows, { ...rows[0], error: 'late' }], {
    summary_experiment_scores: [{ key: 'mean', score: 0.5 }],
  })
  await add(body)
  await add(body)
  expect([house.dataset.count, house.held > 0]).toEqual([300, true])
  expect(await feedback(false)).toHaveLength(302)
  const [mean, ...others] = await feedback(true)
  expect([mean?.key, mean?.score, mean?.span, others]).toEqual(['mean', 0.5, null, []])
  const [first] = await feedback(false).then((all) => all.filter(({ span }) => span !== null))
  const [head] = await store.heads(await store.locate(tenant, [first!.span!]))
  expect(head).toMatchObject({ name: 'x', type: 'chain', root: true })
  expect(rows.map(({ row_id: id }) => id)).toContain(head!.example)
  const changed = bodyOf([rowOf('new'), { ...rows[0], inputs: { q: 'other' } }])
  await expect(add(changed)).rejects.toThrow(/already exists with other inputs or outputs/)
  expect(house.dataset.count).toBe(300)
  // What there is stays; less may be said of it.
  await add(bodyOf([rowOf('new'), { ...rows[1], expected_outputs: null }]))
  expect(house.dataset.count).toBe(301)
})

it.each([
  [{ experiment_name: null }, 'experiment_name: it is missing.'],
  [{ dataset_name: ' ' }, 'dataset_name: expected it or dataset_id.'],
  [{ experiment_end_time: '2020-01-01' }, 'experiment_end_time: expected a time after its start.'],
  [{ experiment_metadata: { a: 'x'.repeat(50_000) } }, /^experiment_metadata: .*48 KB/],
  [{ results: {} }, 'results: expected a list.'],
  [{ results: [1] }, 'results[0]: expected an object.'],
  [{ results: [{ ...rowOf('a'), row_id: 'x' }] }, 'results[0].row_id: expected a UUID.'],
  [{ results: [{ ...rowOf('a'), inputs: [] }] }, 'results[0].inputs: expected an object.'],
  [{ results: [{ ...rowOf('a'), end_time: 'soon' }] }, 'results[0].end_time: expected a time.'],
  [{ results: [{ ...rowOf('a'), evaluation_scores: [{ score: 1 }] }] },
    'results[0].evaluation_scores[0].key: expected a text of 1 to 180 characters.'],
  [{ results: Array.from({ length: 10_001 }, () => ({})) }, 'results: there may be 10000.'],
  [{ results: [{ ...rowOf('a'), evaluation_scores: Array.from({ length: 101 }, () => ({})) }] },
    'results[0].evaluation_scores: there may be 100.'],
])('Nothing is written of %j', async (more, message) => {
  const { handlers, tenant, house, add } = opened()
  const body = bodyOf([rowOf('a')], more)
  const read = handlers.readExperiment({ tenant, body: Buffer.from(JSON.stringify(body)) })
  await expect(read).rejects.toThrow(message)
  await expect(read).rejects.toBeInstanceOf(HeddleError)
  await expect(add(body)).rejects.toThrow(message)
  expect([house.dataset.count, house.held]).toEqual([0, 0])
})
