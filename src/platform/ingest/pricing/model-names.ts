/** Names of a model in a span: in its metadata and in the parameters of the call. */

import { memberAt, membersAt, stringAt } from '../../../json/index.ts'

/** Names of a model. */
export interface ModelNames {
  /** `ls_model_name` of the metadata, which wins over all others. */
  readonly model: string | undefined
  /** `ls_provider` of the metadata. */
  readonly provider: string | null
  /** Short texts of `invocation_params`. */
  readonly invocation: Readonly<Record<string, string>>
}

/** Characters of a name, and parameters that are looked at. */
const [nameMax, parametersMax] = [200, 50]
const quote = 34

/** Reads names in a valid `extra`. Undefined if there is none. */
export function modelNames(extra: Buffer): ModelNames | undefined {
  const metadata = memberAt(extra, 0, 'metadata')
  const text = (name: string) => {
    const place = metadata && memberAt(extra, metadata.from, name)
    return place && shortText(extra, place.from, place.to)
  }
  const [model, provider] = [text('ls_model_name'), text('ls_provider') ?? null]
  if (model !== undefined) return { model, provider, invocation: {} }
  const place = memberAt(extra, 0, 'invocation_params')
  const parameters = place === undefined ? [] : membersAt(extra, place.from, parametersMax)
  const invocation = Object.fromEntries(parameters.flatMap(({ name, from, to }) => {
    const value = shortText(extra, from, to)
    return value === undefined ? [] : [[name, value]]
  }))
  return Object.keys(invocation).length === 0 ? undefined : { model, provider, invocation }
}

function shortText(bytes: Buffer, from: number, to: number): string | undefined {
  if (bytes[from] !== quote || to - from > 4 * nameMax) return undefined
  const text = stringAt(bytes, from, to)
  return text.length > nameMax || text === '' ? undefined : text
}
