/** Texts of the form of an example, their faults, and the body that saves them. */

import type { Example } from '../../api/index.ts'
import type { JsonObject } from '../api/client.ts'
import { splitsOf } from '../api/platform/examples.ts'
import { isObject } from '../json/is-object.ts'
import { messageOf } from '../parts/error-message.ts'

/** The parts of an example that are edited as JSON. */
export const jsonParts = ['inputs', 'outputs', 'metadata'] as const

/** The JSON of each part, and the names of the splits with commas between them. */
export type ExampleDraft = Readonly<Record<typeof jsonParts[number] | 'splits', string>>

/** The draft of an example, or of a new one. */
export function draftOf(example: Example | undefined): ExampleDraft {
  const json = (value: unknown) => JSON.stringify(value, null, 2)
  const { dataset_split: _, ...metadata } = example?.metadata ?? {}
  return { inputs: json(example?.inputs ?? {}), outputs: json(example?.outputs ?? {}),
    metadata: json(metadata), splits: example === undefined ? '' : splitsOf(example).join(', ') }
}

/** The body that saves a draft without faults. */
export function bodyOf({ inputs, outputs, metadata, splits }: ExampleDraft) {
  const read = (json: string) => JSON.parse(json === '' ? 'null' : json) as JsonObject | null
  const split = splits.split(',').map((each) => each.trim()).filter((each) => each !== '')
  return { inputs: read(inputs) ?? {}, outputs: read(outputs), metadata: read(metadata),
    split: split.length === 0 ? ['base'] : split }
}

/** Faults of the JSON by part. Outputs and metadata may be null. */
export function faultsOf(draft: ExampleDraft): Partial<ExampleDraft> {
  return Object.fromEntries(jsonParts.flatMap((name) => {
    const fault = faultOf(draft[name], name !== 'inputs')
    return fault === undefined ? [] : [[name, fault]]
  }))
}

function faultOf(json: string, mayBeNull: boolean): string | undefined {
  if (mayBeNull && ['', 'null'].includes(json.trim())) return undefined
  try {
    return isObject(JSON.parse(json)) ? undefined : 'This has to be an object.'
  } catch (error) {
    return messageOf(error)
  }
}
