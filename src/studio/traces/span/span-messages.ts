/** Messages of models in the payloads of spans, in the forms that libraries write. Pure. */

import { isObject } from '../../json/is-object.ts'
import { jsonOrText } from '../../json/json-text.ts'

/** A message, as it is shown. */
export interface ShownMessage {
  readonly role: 'user' | 'assistant' | 'system' | 'tool'
  /** The name of the tool, or of who speaks. */
  readonly name: string | undefined
  readonly text: string
  readonly calls: readonly { readonly name: string; readonly args: unknown }[]
}

const roles: Readonly<Record<string, ShownMessage['role']>> = { user: 'user', human: 'user',
  humanmessage: 'user', humanmessagechunk: 'user', assistant: 'assistant', ai: 'assistant',
  aimessage: 'assistant', aimessagechunk: 'assistant', model: 'assistant', system: 'system',
  systemmessage: 'system', developer: 'system', tool: 'tool', toolmessage: 'tool',
  function: 'tool' }

type Members = Readonly<Record<string, unknown>>

/** The messages of inputs or outputs; undefined if they are something else. */
export function messagesIn(value: unknown): readonly ShownMessage[] | undefined {
  const found = listIn(value)?.map(messageOf)
  return found === undefined || found.length === 0 || found.includes(undefined)
    ? undefined
    : found as readonly ShownMessage[]
}

/** The list of what may be messages: that of a state, of a call of a model, of its answer. */
function listIn(value: unknown): readonly unknown[] | undefined {
  if (Array.isArray(value)) {
    const [only] = value as readonly unknown[]
    return value.length === 1 && Array.isArray(only) && typeof only[0] !== 'string' ? only : value
  }
  const { messages, generations, choices, output, message } = membersOf(value) ?? {}
  if (Array.isArray(messages)) return listIn(messages)
  if (Array.isArray(generations)) {
    return listIn(generations)?.map((each) => membersOf(each)?.['message'] ?? each)
  }
  if (Array.isArray(choices)) return choices.map((each) => membersOf(each)?.['message'])
  if (Array.isArray(output)) return listIn(output)
  if (membersOf(message) !== undefined) return [message]
  if (membersOf(output)?.['content'] !== undefined) return [output]
  return membersOf(value)?.['role'] === undefined ? undefined : [value]
}

function messageOf(value: unknown): ShownMessage | undefined {
  if (Array.isArray(value) && value.length === 2 && typeof value[0] === 'string') {
    return messageOf({ role: value[0] as string, content: value[1] as unknown })
  }
  const members = membersOf(value)
  if (members === undefined) return undefined
  const { kwargs, data, id, role, type } = members
  const inner = membersOf(kwargs) ?? membersOf(data) ?? members
  const word = Array.isArray(id) ? id.at(-1) : role ?? (type === 'constructor' ? null : type)
  const known = typeof word === 'string' ? roles[word.toLowerCase()] : undefined
  if (known === undefined || !('content' in inner || 'tool_calls' in inner)) return undefined
  return { role: known, text: wordsOf(inner['content']), calls: callsIn(inner),
    name: typeof inner['name'] === 'string' ? inner['name'] : undefined }
}

function callsIn({ tool_calls: calls, additional_kwargs: more }: Members): ShownMessage['calls'] {
  const list = Array.isArray(calls) && calls.length > 0 ? calls : membersOf(more)?.['tool_calls']
  if (!Array.isArray(list)) return []
  return list.flatMap((each: unknown) => {
    const call = membersOf(each)
    const made = membersOf(call?.['function'])
    const name = call?.['name'] ?? made?.['name']
    if (typeof name !== 'string') return []
    return [{ name, args: call?.['args'] ?? readJson(made?.['arguments']) }]
  })
}

/** The words of a content: a text, or parts of which some are texts. */
function wordsOf(content: unknown): string {
  if (typeof content === 'string') return content
  if (!Array.isArray(content)) return ''
  return content.map((part: unknown) => {
    const text = typeof part === 'string' ? part : membersOf(part)?.['text']
    return typeof text === 'string' ? text : ''
  }).join('')
}

const readJson = (value: unknown): unknown => typeof value === 'string' ? jsonOrText(value) : value

function membersOf(value: unknown): Members | undefined {
  return isObject(value) ? value : undefined
}
