/** Examples as lines of files: comma-separated values, JSON, and chats to train a model with. */

import { isObject } from '../../../json/index.ts'
import { lineOf } from './sent/csv.ts'
import type { ExampleRow } from './example-row.ts'

/** A file, and the columns of its inputs and outputs if it has some. */
export type LineForm =
  | { readonly kind: 'csv'; readonly inputs: readonly string[];
    readonly outputs: readonly string[] }
  | { readonly kind: 'openai' }

/** The line of an example; undefined if the form has none for it. */
export function lineIn(form: LineForm, row: ExampleRow): string | undefined {
  const [inputs, outputs] = [parsed(row.inputs), row.outputs === null ? {} : parsed(row.outputs)]
  if (form.kind === 'openai') return chatLine(inputs, outputs)
  return lineOf([...form.inputs.map((name) => textOf(inputs[name])),
    ...form.outputs.map((name) => textOf(outputs[name]))])
}

/** The names in inputs and outputs. */
export function namesIn({ inputs, outputs }: ExampleRow) {
  return { inputs: Object.keys(parsed(inputs)),
    outputs: outputs === null ? [] : Object.keys(parsed(outputs)) }
}

function chatLine(inputs: Fields, outputs: Fields): string | undefined {
  const asked = messagesIn(inputs, 'user')
  const answered = messagesIn(outputs, 'assistant')
  if (asked.length === 0) return undefined
  return `${JSON.stringify({ messages: [...asked, ...answered] })}\n`
}

type Fields = Readonly<Record<string, unknown>>

/** The messages under the usual names; a lone value is the text of one. */
function messagesIn(fields: Fields, role: string): readonly Fields[] {
  const names = role === 'user'
    ? ['messages', 'input', 'inputs']
    : ['messages', 'output', 'message', 'generations']
  const name = names.find((each) => Object.hasOwn(fields, each))
  const values = Object.values(fields)
  const value = name === undefined ? (values.length === 1 ? values[0] : fields) : fields[name]
  const list: readonly unknown[] = Array.isArray(value) ? value : [value]
  return list.flatMap((each) => {
    if (each === undefined || (isObject(each) && Object.keys(each).length === 0)) return []
    return [messageOf(each, role)]
  })
}

const roles: Readonly<Record<string, string>> = { human: 'user', ai: 'assistant',
  AIMessageChunk: 'assistant', chat: 'user' }

/** A message of LangChain, or of the API, as the API has it. */
function messageOf(value: unknown, role: string): Fields {
  if (!isObject(value)) return { role, content: textOf(value) }
  if (typeof value['role'] === 'string') return value
  const type = value['type']
  if (typeof type !== 'string') return { role, content: JSON.stringify(value) }
  const data = isObject(value['data']) ? value['data'] : value
  const more = isObject(data['additional_kwargs']) ? data['additional_kwargs'] : {}
  return { role: roles[type] ?? type, content: data['content'] ?? '', ...more }
}

function textOf(value: unknown): string {
  if (value === undefined || value === null) return ''
  return typeof value === 'string' ? value : JSON.stringify(value)
}

function parsed(json: Uint8Array): Fields {
  const value: unknown = JSON.parse(Buffer.from(json).toString())
  return isObject(value) ? value : {}
}
