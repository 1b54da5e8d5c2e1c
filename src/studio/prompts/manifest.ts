/** Manifests as messages that can be edited, and back. Pure. */

import { isObject } from '../json/is-object.ts'

/** A message of a prompt. */
export interface Message {
  readonly role: Role
  readonly content: string
}

/** Role of the author of a message. */
export type Role = 'system' | 'user' | 'assistant'

/** All roles that a message of a prompt may have. */
export const roles: readonly Role[] = ['system', 'user', 'assistant']

const templates = { system: 'SystemMessagePromptTemplate', user: 'HumanMessagePromptTemplate',
  assistant: 'AIMessagePromptTemplate' } as const

const lc = (id: readonly string[], kwargs: object) => ({ lc: 1, type: 'constructor', id, kwargs })

/** The messages; undefined if the manifest has something that is not a text of one of the roles. */
export function messagesOf(manifest: unknown): readonly Message[] | undefined {
  const kwargs = promptKwargs(manifest)
  if (kwargs === undefined) return undefined
  if (typeof kwargs['template'] === 'string') return [{ role: 'user', content: kwargs['template'] }]
  const { messages } = kwargs
  if (!Array.isArray(messages)) return undefined
  const found = messages.map(messageOf)
  return found.includes(undefined) ? undefined : found as Message[]
}

/** The names of the variables of texts of this format, each once. */
export function variablesIn(texts: readonly string[], format: string): readonly string[] {
  const pattern = format === 'mustache' ? /\{\{[#^&{]?\s*([\w.]+)/g : /\{([^{}]+)\}/g
  const plain = texts.map((text) =>
    format === 'mustache' ? text : text.replaceAll(/\{\{|\}\}/g, '')
  )
  const names = plain.flatMap((text) => [...text.matchAll(pattern)])
    .map(([, name = '']) => format === 'mustache' ? name.split('.')[0]! : name)
  return [...new Set(names)].filter((name) => name !== '')
}

/** A text whose braces mean themselves. */
export const escaped = (text: string): string => text.replaceAll(/[{}]/g, '$&$&')

/** The names of the variables of a manifest whose messages cannot be edited here. */
export function variablesOf(manifest: unknown): readonly string[] {
  const names = promptKwargs(manifest)?.['input_variables']
  const placed = placesOf(manifest)
  return Array.isArray(names)
    ? [...new Set([...names.filter((name) => typeof name === 'string'), ...placed])]
    : placed
}

/** The variables whose values are lists of messages. */
export function placesOf(manifest: unknown): readonly string[] {
  const messages = promptKwargs(manifest)?.['messages']
  const kwargs = Array.isArray(messages) ? messages.map(kwargsOf) : []
  return kwargs.map((each) => each?.['variable_name']).filter((name) => typeof name === 'string')
}

/** The format of the templates. */
export const formatOf = (manifest: unknown): string =>
  JSON.stringify(manifest ?? null).includes('"template_format":"mustache"')
    ? 'mustache'
    : 'f-string'

/** The manifest of these messages; with `before`, all else is as it was there. */
export function manifestOf(messages: readonly Message[], before?: unknown): unknown {
  const format = formatOf(before)
  const variables = variablesIn(messages.map(({ content }) => content), format)
  const made = messages.map(({ role, content }) =>
    lc(['langchain_core', 'prompts', 'chat', templates[role]], {
      prompt: lc(['langchain_core', 'prompts', 'prompt', 'PromptTemplate'], {
        input_variables: variablesIn([content], format),
        template_format: format,
        template: content,
      }),
    })
  )
  const kwargs = { ...format === 'mustache' && { template_format: format },
    input_variables: variables, messages: made }
  const plain = lc(['langchain_core', 'prompts', 'chat', 'ChatPromptTemplate'], kwargs)
  return replaced(before, plain, kwargs)
}

function replaced(before: unknown, plain: object, kwargs: object): unknown {
  if (!isObject(before) || !isObject(before['kwargs'])) return plain
  const { first, messages } = before['kwargs']
  if (first !== undefined) {
    return { ...before, kwargs: { ...before['kwargs'], first: replaced(first, plain, kwargs) } }
  }
  return messages === undefined
    ? plain
    : { ...before, kwargs: { ...before['kwargs'], ...kwargs } }
}

function promptKwargs(manifest: unknown): Readonly<Record<string, unknown>> | undefined {
  const kwargs = kwargsOf(manifest)
  return kwargs?.['first'] === undefined ? kwargs : promptKwargs(kwargs['first'])
}

function kwargsOf(value: unknown): Readonly<Record<string, unknown>> | undefined {
  return isObject(value) && isObject(value['kwargs']) ? value['kwargs'] : undefined
}

function messageOf(value: unknown): Message | undefined {
  if (!isObject(value) || !Array.isArray(value['id']) || !isObject(value['kwargs']))
    return undefined
  const { prompt } = value['kwargs']
  const role = roles.find((each) => templates[each] === (value['id'] as unknown[]).at(-1))
  const template = isObject(prompt) && isObject(prompt['kwargs'])
    ? prompt['kwargs']['template']
    : undefined
  return role === undefined || typeof template !== 'string'
    ? undefined
    : { role, content: template }
}
