/**
 * Takes in an experiment that ran elsewhere. One that is refused leaves no experiment and no
 * example; one that a server died over is completed by the same body, sent again.
 */

import { HeddleError } from '../../../errors.ts'
import { datasetChanged, sessionJson, transferOf } from '../../../platform/index.ts'
import type { Dataset, ExperimentForm, Project, Uuid } from '../../../platform/index.ts'
import type { PlatformParts } from '../platform-route.ts'
import { jsonOf } from './datasets.ts'

/** The dataset and the experiment, when all of it can be read. */
export async function experimentOf(parts: PlatformParts, tenant: string, body: Uint8Array) {
  const { ingest, datasets, feedbackConfigs } = parts.platform
  const form = await ingest.readExperiment({ tenant, body })
  const before = await sentBefore(parts, tenant, form)
  const dataset = before?.referenceDatasetId ?? (await ensuredDataset(parts, tenant, form)).id
  const project = before ?? await newProject(parts, tenant, form, dataset)
  try {
    await ingest.addExperiment({ tenant, dataset, project: project.id, body }, {
      transfer: transferOf(body),
    })
  } catch (error) {
    const isRefused = refusals.has(HeddleError.from(error).code)
    // The dataset stays: somebody else may have put something there.
    if (before === undefined && isRefused) await remove(parts, tenant, project.id)
    throw error
  }
  for (const config of form.configs) await feedbackConfigs.ensure(tenant, config)
  return { dataset: await jsonOf(parts, tenant, await datasets.one(tenant, dataset)),
    experiment: sessionJson(tenant, project) }
}

/** Sent again, what ended with another error may succeed. */
const refusals: ReadonlySet<string> = new Set(['invalid', 'too_large', 'exists'])

async function remove({ platform }: PlatformParts, tenant: string, project: Uuid): Promise<void> {
  await platform.removals.remove('project', tenant, project).catch(() => undefined)
}

/** The project that the same body made. Throws `exists` for another one of this name. */
async function sentBefore({ platform: { projects } }: PlatformParts, tenant: string,
  { name, content }: ExperimentForm): Promise<Project | undefined> {
  const { projects: [known] } = await projects.find(tenant, { name, sortBy: 'created_at',
    descending: true, limit: 1, offset: 0 })
  if (known === undefined || known.upload === content) return known
  throw new HeddleError('exists', `A project ${name} already exists: give the experiment another ` +
    'name.')
}

async function newProject(parts: PlatformParts, tenant: string, form: ExperimentForm,
  dataset: Uuid): Promise<Project> {
  const { name, description, startMs, endMs, metadataJson, content: upload } = form
  try {
    return await parts.platform.projects.create(tenant, { name, description, startMs, endMs, upload,
      extraJson: `{"metadata":${metadataJson}}`, referenceDatasetId: dataset }, false)
  } catch (error) {
    const made = HeddleError.from(error).code === 'exists'
      ? await sentBefore(parts, tenant, form)
      : undefined
    if (made === undefined) throw error
    return made
  }
}

/** The dataset with the id, or else with the name, that the form says. */
async function ensuredDataset({ platform: { datasets } }: PlatformParts, tenant: string,
  { dataset: { id, name, description } }: ExperimentForm): Promise<Dataset> {
  const find = async (): Promise<Dataset | undefined> => {
    if (id !== null) return (await datasets.get(tenant, [id]))[0]
    return (await datasets.find(tenant, { name: name!, sortBy: 'created', descending: true,
      limit: 1, offset: 0 })).datasets[0]
  }
  const known = await find()
  if (known !== undefined) return known
  try {
    return await datasets.create(tenant, { ...datasetChanged({ description }),
      name: name?.trim() ? name : `Dataset ${id}`, ...id !== null && { id } })
  } catch (error) {
    const made = HeddleError.from(error).code === 'exists' ? await find() : undefined
    if (made === undefined) throw error
    return made
  }
}
