/** Calls of models: the question of a caller, and the model that is asked. */

import type { ModelQuestion } from '../../../api/index.ts'
import { HeddleError } from '../../../errors.ts'
import type { Prompts } from '../prompts/prompt.ts'
import { messagesOf, modelOf, schemaOf, withoutModel } from '../prompts/render/manifest.ts'
import { endpointOf } from '../models/endpoint.ts'
import type { ChatMessage, ModelCall, ModelEndpoint, ModelImage } from '../models/model.ts'
import type { PlaygroundSettings } from '../models/playground-settings.ts'

/** Sources of models and prompts: the settings of the playground, and the stored prompts. */
export interface ModelSources {
  readonly playgroundSettings: Pick<PlaygroundSettings, 'defaultModel'>
  readonly prompts: Pick<Prompts, 'manifest'>
}

type Sources = ModelSources

/** The parts of a question that name a prompt and a model. */
export type PromptedQuestion = Pick<ModelQuestion,
  'manifest' | 'prompt' | 'model' | 'schema' | 'secrets' | 'tools' | 'images'>

/** The call. Throws `invalid` with what is missing, and `not_found` for an unknown prompt. */
export async function modelCallOf(sources: Sources, tenant: string,
  body: ModelQuestion): Promise<ModelCall> {
  const { messages, variables } = body
  if (messages === undefined || messages === null) {
    const { render, call } = await templateOf(sources, tenant, body)
    return { ...call, messages: render(variables ?? {}) }
  }
  if (isGiven(body.manifest) || isGiven(body.prompt)) throw oneOfThem()
  return { ...await restOf(sources, tenant, body, null), messages }
}

/** A prompt with a model: what it asks depends on the values of its variables. */
export interface Template {
  readonly call: Omit<ModelCall, 'messages'>
  /** Throws `invalid`. */
  render(values: Readonly<Record<string, unknown>>): readonly ChatMessage[]
}

/** The manifest or stored prompt of a question, with the model that it is sent to. */
export async function templateOf(sources: Sources, tenant: string,
  body: PromptedQuestion): Promise<Template> {
  const { manifest, prompt } = body
  if (isGiven(manifest) === isGiven(prompt)) throw oneOfThem()
  const read = manifest ?? await manifestOf(sources, tenant, prompt!)
  return { call: await restOf(sources, tenant, body, read),
    render: (values) => messagesOf(read, values) }
}

async function restOf(sources: Sources, tenant: string,
  { model, schema: wanted, secrets, tools, images }: PromptedQuestion,
  manifest: unknown): Promise<Template['call']> {
  const schema = wanted ?? (manifest === null ? null : schemaOf(manifest))
  const behind = manifest === null ? null : modelOf(manifest)
  const endpoint = await endpointFor(sources, tenant, model ?? behind)
  return { endpoint, ...schema && { schema }, ...secrets && { secrets },
    ...tools?.length && { tools }, ...images?.length && { images: imagesOf(images) } }
}

/** Bytes of all images of a question. */
const imageBytesMax = 3 * 1024 * 1024
const dataUrl = /^data:(image\/(?:png|jpeg|gif|webp));base64,([A-Za-z0-9+/]+={0,2})$/

/** Throws `invalid` for what is no image, and for too many bytes. */
function imagesOf(urls: readonly string[]): readonly ModelImage[] {
  const images = urls.map((url, at) => {
    const [, mediaType, base64] = dataUrl.exec(url) ?? []
    if (mediaType !== undefined && base64 !== undefined) return { mediaType, base64 }
    throw new HeddleError('invalid', `images: number ${at + 1} is no data URL of a PNG, JPEG, ` +
      'GIF or WebP image in base64.')
  })
  const bytes = images.reduce((sum, { base64 }) => sum + base64.length * 3 / 4, 0)
  if (bytes <= imageBytesMax) return images
  throw new HeddleError('invalid', `The images have more than ${imageBytesMax / 1024 ** 2} MB ` +
    'together: use smaller ones.')
}

function isGiven(source: unknown): boolean {
  return source !== undefined && source !== null
}

function oneOfThem(): HeddleError {
  return new HeddleError('invalid', 'Send one of `manifest`, `prompt` and `messages`.')
}

async function manifestOf({ prompts }: Sources, tenant: string,
  prompt: NonNullable<ModelQuestion['prompt']>): Promise<unknown> {
  const { manifest, isOwn } = await prompts.manifest(tenant, prompt)
  const read = JSON.parse(Buffer.from(manifest).toString()) as unknown
  return isOwn ? read : withoutModel(read)
}

/** The endpoint of a serialised model, or that of the default model. Throws `invalid`. */
export async function endpointFor(
  { playgroundSettings }: Pick<Sources, 'playgroundSettings'>,
  tenant: string,
  model: unknown,
): Promise<ModelEndpoint> {
  return model === undefined || model === null
    ? await playgroundSettings.defaultModel(tenant)
    : endpointOf(model)
}
