/** The port of rules within the platform: its models, prompts, datasets and queues. */

import { HeddleError } from '../../../errors.ts'
import { isObject } from '../../../json/index.ts'
import type { Datasets } from '../datasets/datasets.ts'
import { endpointOf } from '../models/endpoint.ts'
import type { Models } from '../models/model.ts'
import type { PlaygroundSettings } from '../models/playground-settings.ts'
import type { Prompts } from '../prompts/prompt.ts'
import { messagesOf, modelOf, schemaOf, variablesOf,
  withoutModel } from '../prompts/render/manifest.ts'
import type { Uuid } from '../../spans/span.ts'
import type { RulePort } from './judge-port.ts'

/** Parts of a platform that rules act through. */
export interface PlatformWayParts {
  readonly models: Pick<Models, 'ask'>
  readonly playgroundSettings: Pick<PlaygroundSettings, 'defaultModel'>
  readonly prompts: Pick<Prompts, 'manifest'>
  readonly datasets: Pick<Datasets, 'get' | 'addExamples' | 'example'>
  readonly queues?: {
    /** Throws `not_found`. */
    get(tenant: string, queue: Uuid): Promise<unknown>
    /** Each run is in the queue once. */
    add(tenant: string, queue: Uuid, runs: readonly Uuid[]): Promise<unknown>
  }
}

/** The port of rules to the parts of this platform; egress is added by the server. */
export function platformPort(
  { models, playgroundSettings, prompts, datasets, queues }: PlatformWayParts,
): Omit<RulePort, 'egress'> {
  return {
    models: {
      check: (model) => {
        if (model !== null) endpointOf(model)
      },
      ask: async (tenant, { model, messages, schema }, signal) => {
        const endpoint = model === null
          ? await playgroundSettings.defaultModel(tenant)
          : endpointOf(model)
        return await models.ask(tenant, { endpoint, messages, schema }, signal)
      },
    },
    prompts: {
      manifest: async (tenant, ref) => {
        const { manifest, isOwn } = await prompts.manifest(tenant, promptName(ref))
        const read = JSON.parse(Buffer.from(manifest).toString()) as unknown
        return isOwn ? read : withoutModel(read)
      },
      messagesOf,
      variablesOf,
      modelOf,
      schemaOf,
    },
    datasets: {
      name: async (tenant, id) => (await datasets.get(tenant, [id]))[0]?.name,
      addExample: (tenant, dataset, { id, inputsJson, outputsJson, metadataJson, sourceRun }) =>
        datasets.addExamples(tenant, dataset, [{ id, inputsJson, outputsJson, metadataJson,
          sourceRun: { id: sourceRun } }]),
      reference: async (tenant, id) => {
        const example = JSON.parse(await datasets.example(tenant, id, {})) as unknown
        return isObject(example) ? example['outputs'] : undefined
      },
    },
    ...queues && { queues: {
      add: (tenant: string, queue: Uuid, runs: readonly Uuid[]) => queues.add(tenant, queue, runs),
      exists: (tenant: string, queue: Uuid) => exists(queues.get(tenant, queue)),
    } },
  }
}

/** `name`, `owner/name`, either with `:ref`. */
function promptName(text: string) {
  const [path = '', ref] = text.split(':')
  const [first = '', name] = path.split('/')
  return { ...name !== undefined && first !== '-' && { owner: first }, name: name ?? first,
    ...ref && { ref } }
}

async function exists(found: Promise<unknown>): Promise<boolean> {
  try {
    await found
    return true
  } catch (error) {
    if (HeddleError.from(error).code !== 'not_found') throw error
    return false
  }
}
