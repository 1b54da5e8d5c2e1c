/** Messages without what they say: their kind, and for those of models the model and its tokens. */

import { isObject } from './containment.ts'
import { isList, textAt } from './members.ts'

/** A message of a state without its content. */
export interface LeanMessage {
  readonly id: string | null
  readonly type: string
  /** As the provider names it; for messages of models that say it. */
  readonly model?: string
  readonly provider?: string
  /** As the message has it. */
  readonly usage_metadata?: unknown
}

/** Messages of one task, and characters of a name and of the usage in JSON. */
const [messagesMax, nameMax, usageMax] = [1_000, 200, 4_096]

/** The messages among what a task wrote: its channels, or a list of such. */
export function leanMessages(result: unknown): readonly LeanMessage[] {
  const written = [result].flat().flatMap((each) => (isObject(each) ? Object.values(each) : []))
  const found: LeanMessage[] = []
  for (const values of written) {
    for (const each of isList(values) ? values : [values]) {
      const message = leanMessage(each)
      if (message !== undefined && found.length < messagesMax) found.push(message)
    }
  }
  return found
}

/** A message as JSON or as an instance of its class; undefined for anything else. */
function leanMessage(value: unknown): LeanMessage | undefined {
  if (!isObject(value)) return undefined
  const type = typeOf(value)
  if (type === undefined) return undefined
  const { id, usage_metadata: usage } = value
  const said = type === 'ai' && isObject(usage) && JSON.stringify(usage).length <= usageMax
  return { id: typeof id === 'string' ? id : null, type,
    ...said && { ...modelOf(value), usage_metadata: usage } }
}

/** The name of the model that wrote a message, and its provider, if the message says them. */
export function modelOf(
  { response_metadata: response }: Readonly<Record<string, unknown>>,
): Pick<LeanMessage, 'model' | 'provider'> {
  const model = textAt(response, 'model') ?? textAt(response, 'model_name')
  const provider = textAt(response, 'model_provider') ?? textAt(response, 'ls_provider')
  const fits = (text: string | undefined) => text !== undefined && text.length <= nameMax
  return { ...fits(model) && { model: model! }, ...fits(provider) && { provider: provider! } }
}

/** Kinds of messages, in the words of their classes. */
const types: ReadonlySet<unknown> = new Set(['human', 'ai', 'system', 'tool', 'function',
  'developer', 'generic', 'remove'])

function typeOf(value: Readonly<Record<string, unknown>>): string | undefined {
  const { type, _getType: ofInstance } = value
  if (types.has(type)) return type as string
  if (typeof ofInstance !== 'function') return undefined
  const named: unknown = ofInstance.call(value)
  return types.has(named) ? named as string : undefined
}
