/** Parts of a question beside its messages: tools, a schema of the answer, and images. Pure. */

import type { ModelQuestion } from '../../api/index.ts'
import type { JsonObject } from '../api/client.ts'
import { isObject } from '../json/is-object.ts'
import { size } from '../parts/amounts.ts'

/** An image that was chosen. */
export interface ChosenImage {
  readonly name: string
  readonly bytes: number
  /** Its content, as the server wants it. */
  readonly dataUrl: string
}

/** The parts as they are typed and chosen. */
export interface QuestionExtras {
  readonly tools: string
  readonly schema: string
  readonly images: readonly ChosenImage[]
}

/** No tools, no schema, no images. */
export const noExtras: QuestionExtras = { tools: '', schema: '', images: [] }

/** Bytes that all images of a question may have. */
export const imageBytesMax = 3_000_000

/** Types of images that models read. */
export const imageTypes: readonly string[] = ['image/png', 'image/jpeg', 'image/gif', 'image/webp']

type Tool = NonNullable<ModelQuestion['tools']>[number]

/** Tools in a text: a list of them, or one. Throws an error for people. */
export function toolsIn(text: string): readonly Tool[] {
  if (text.trim() === '') return []
  const value = parsed(text)
  return (Array.isArray(value) ? value : [value]).map((each, at) => toolOf(each, at + 1))
}

/** Schema in a text; undefined in an empty one. Throws an error for people. */
export function schemaIn(text: string): JsonObject | undefined {
  if (text.trim() === '') return undefined
  const value = parsed(text)
  if (isObject(value)) return value as JsonObject
  throw new Error('A schema is a JSON object, such as {"type": "object", "properties": {}}.')
}

/** The reason why an image cannot be added to the others; undefined if it can. */
export function imageFault(
  image: { readonly name: string; readonly type: string; readonly size: number },
  others: readonly ChosenImage[],
): string | undefined {
  if (!imageTypes.includes(image.type)) {
    return `${image.name} is no PNG, JPEG, GIF or WebP image.`
  }
  const all = others.reduce((sum, other) => sum + other.bytes, image.size)
  if (all <= imageBytesMax) return undefined
  return `${image.name} is too large: all images may have ${size(imageBytesMax)} together, and ` +
    `these would have ${size(all)}.`
}

/** The members of a question. Throws an error for people. */
export function extrasOf(
  { tools: toolText, schema: schemaText, images }: QuestionExtras,
): Pick<ModelQuestion, 'tools' | 'schema' | 'images'> {
  const [tools, schema] = [toolsIn(toolText), schemaIn(schemaText)]
  if (tools.length > 0 && schema !== undefined) {
    throw new Error('Give tools or a schema: a model is not asked for both.')
  }
  return { ...tools.length > 0 && { tools }, ...schema && { schema },
    ...images.length > 0 && { images: images.map(({ dataUrl }) => dataUrl) } }
}

/** A tool, also in the form of chat completions or of messages. */
function toolOf(given: unknown, no: number): Tool {
  const value = isObject(given) && isObject(given['function']) ? given['function'] : given
  const fault = (words: string) => new Error(`Tool ${no}: ${words}`)
  if (!isObject(value)) throw fault('expected an object with a name and parameters.')
  const { name, description, parameters = value['input_schema'] ?? { type: 'object' } } = value
  if (typeof name !== 'string' || !/^[\w-]{1,64}$/.test(name)) {
    throw fault('its name has 1 to 64 letters, digits, _ and -.')
  }
  if (!isObject(parameters)) throw fault('its parameters are a JSON schema.')
  return { name, parameters, ...typeof description === 'string' && { description } }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch (error) {
    throw new Error(`This is no JSON: ${error instanceof Error ? error.message : ''}`, {
      cause: error,
    })
  }
}
