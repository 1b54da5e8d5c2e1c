/** The catalog of datasets in memory, and what writes and reads their examples, for tests. */

import { randomUUID } from 'node:crypto'

import { HeddleError } from '../../src/errors.ts'
import { exampleWrites } from '../../src/platform/evaluate/datasets/example-calls.ts'
import { exampleReads } from '../../src/platform/evaluate/datasets/example-reader.ts'
import { LongBodies } from '../../src/platform/calls/long-bodies.ts'
import type { Dataset, DatasetCatalog } from '../../src/platform/evaluate/datasets/dataset.ts'
import type { SpanStore } from '../../src/platform/index.ts'
import { newTenant } from '../contract/span-port-contract.ts'
import { virtualEnv } from './env.ts'

const bodyThread = new URL('../../src/platform/threads/body-thread.ts', import.meta.url)

type Needs = Pick<DatasetCatalog, 'charge' | 'publish'>

/** A dataset with the calls of both threads. */
export function oneDataset(writer: SpanStore, reader: SpanStore, change: Partial<Dataset> = {}) {
  const [tenant, id, env] = [newTenant(), randomUUID(), virtualEnv()]
  let held = 0
  let isDeleted = false
  let dataset: Dataset = { id, name: 'd', description: null, dataType: 'kv', inputsSchema: null,
    outputsSchema: null, transformations: null, metadataJson: '{}', baseline: null, createdMs: 0,
    modifiedMs: 0, count: 0, head: null, erasedBefore: null, upload: null, tags: {}, ...change }
  const catalog: Needs = {
    charge: async (_tenant, _id, bytes) => {
      held += bytes
    },
    publish: async ({ after, version, count, erases }) => {
      if (isDeleted) throw new HeddleError('not_found')
      if (dataset.head !== after) throw new HeddleError('stale')
      dataset = { ...dataset, head: version, count, ...erases && { erasedBefore: version } }
    },
  }
  const writes = (own: Needs = catalog) =>
    exampleWrites({
      store: writer,
      longBodies: new LongBodies(bodyThread, env),
      env: { nowMs: () => env.nowMs(), random: () => 0.5, uuid: () => randomUUID(),
        after: (ms, run) => {
          const timer = setTimeout(run, ms)
          return () => clearTimeout(timer)
        } },
      needs: {
        datasets: async ({ ids }) => ids.includes(id) && !isDeleted ? [dataset] : [],
        chargeDataset: (call) => own.charge(call.tenant, call.id, call.bytes),
        publishDataset: own.publish,
      },
      projectIds: async (_tenant, ids) => ids,
    })
  return {
    tenant,
    env,
    catalog,
    reads: exampleReads(reader, { monotonicMs: () => 0 }),
    /** Several of these are several members. */
    writes,
    delete: () => {
      isDeleted = true
    },
    get dataset() {
      return dataset
    },
    get held() {
      return held
    },
  }
}
