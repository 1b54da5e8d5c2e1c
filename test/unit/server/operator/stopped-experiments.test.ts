/** A restored data directory has no experiment that calls assistants and models again. */

import { join } from 'node:path'

import { afterEach, beforeEach, expect, it } from 'vitest'

import { systemEnv } from '../../../../cluster/index.ts'
import { cancelledExperiment, catalogClient, catalogKind,
  experimentRecords } from '../../../../src/platform/index.ts'
import { backUpStore, restoreStore } from '../../../../src/server/operator/backup.ts'
import { operatorActors, placeOfStore } from '../../../../src/server/operator/operator-actors.ts'
import { resolveSettings } from '../../../../src/settings/index.ts'
import { openEmbeddedStore } from '../../../../src/store/embedded/index.ts'
import { embeddedPlace } from '../../../contract/embedded-place.ts'

const env = systemEnv({ level: 'silent' })

let place: ReturnType<typeof embeddedPlace>
beforeEach(() => {
  place = embeddedPlace()
})
afterEach(() => place.remove())

const settingsOf = (name: string) => ({
  ...resolveSettings({ folder: place.directory, starter: '', environment: {}, options: {} }),
  dataDirectory: join(place.directory, name),
})

/** Works with the experiments of a data directory that no server has open. */
async function withExperiments<Result>(name: string,
  work: (records: ReturnType<typeof experimentRecords>) => Promise<Result>): Promise<Result> {
  const store = await openEmbeddedStore({ directory: join(place.directory, name), env })
  const { activations, router } = operatorActors(await placeOfStore(store, env), env,
    () => [catalogKind({ log: store.log, env })])
  try {
    return await work(experimentRecords(catalogClient(router), env))
  } finally {
    await activations.close(AbortSignal.abort())
    await store.close()
  }
}

const request = {
  asked: { dataset_id: env.uuid(), assistant_id: 'agent', repetitions: 1, max_concurrency: 4 },
  target: 'agent',
  datasetVersion: '',
  total: 3,
  project: env.uuid(),
  projectName: 'agent-1',
}
const names = ['one', 'two'].map((tenant) => ({ tenant, id: env.uuid() }))
const ended = { tenant: 'one', id: env.uuid() }

/** A data directory with open experiments of two tenants, and with one that was cancelled. */
async function backedUp(): Promise<string> {
  await withExperiments('data', async (records) => {
    for (const name of [...names, ended]) await records.add(name, request)
    const before = (await records.get(ended))!
    await records.save(ended, before, cancelledExperiment(before, 7)!)
  })
  const backup = join(place.directory, 'backup.db')
  await backUpStore(settingsOf('data'), backup, { env, traces: true, report: () => {} })
  return backup
}

it.each([[false, 'Cancelled', 2], [true, 'Created', undefined]])(
  'a restore with resumes: %s leaves open experiments as %s',
  async (resumes, status, count) => {
    const backup = await backedUp()
    const { stopped } = await restoreStore(settingsOf('back'), { backup, resumes, env,
      manifest: 'required', report: () => {} })
    expect(stopped?.experiments).toBe(count)
    await withExperiments('back', async (records) => {
      for (const name of names) expect(await records.get(name)).toMatchObject({ status })
      expect(await records.get(ended)).toMatchObject({ status: 'Cancelled', finishedMs: 7 })
    })
    await withExperiments('data', async (records) => {
      expect(await records.get(names[0]!)).toMatchObject({ status: 'Created' })
    })
  },
)
