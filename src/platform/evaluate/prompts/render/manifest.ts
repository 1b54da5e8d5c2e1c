/** Reads manifests: what LangChain makes of a prompt, maybe with a model behind it. Pure. */

import { HeddleError } from '../../../../errors.ts'
import { isObject } from '../../../../json/index.ts'
import type { ChatMessage } from '../../models/model.ts'
import { fStringNames, missing, renderFString } from './f-string.ts'
import { messagesIn, roleOf, textOfContent } from './message-like.ts'
import { mustacheNodes, renderMustache } from './mustache.ts'
import type { MustacheNode } from './mustache.ts'
import { RenderBudget } from './room.ts'

type Values = Readonly<Record<string, unknown>>

/** The messages of a prompt with these values. Throws `invalid`. */
export function messagesOf(manifest: unknown, values: Values): readonly ChatMessage[] {
  const prompt = promptIn(manifest)
  const all = { ...partialsOf(prompt), ...values }
  const room = new RenderBudget()
  if (prompt.name === 'PromptTemplate') {
    return [{ role: 'user', content: renderTemplate(prompt.kwargs, all, room) }]
  }
  return chatMessages(prompt).flatMap((message) => rendered(message, all, room))
}

/** The names of the variables that a prompt needs values for, each once. Throws `invalid`. */
export function variablesOf(manifest: unknown): readonly string[] {
  const prompt = promptIn(manifest)
  const given = new Set(Object.keys(partialsOf(prompt)))
  const names = prompt.name === 'PromptTemplate'
    ? namesIn(prompt.kwargs)
    : chatMessages(prompt).flatMap(namesOfMessage)
  return [...new Set(names)].filter((name) => !given.has(name))
}

/** The model behind the prompt, as it was serialised; null if there is none. */
export function modelOf(manifest: unknown): unknown | null {
  const sequence = constructed(manifest)
  if (sequence?.name !== 'RunnableSequence') return null
  const { middle, last } = sequence.kwargs
  const steps = [...Array.isArray(middle) ? middle as unknown[] : [], last]
  const model = steps.map(constructed).find((step) =>
    step !== undefined && (isBinding(step) || /Chat|LLM|OpenAI|Anthropic/.test(step.name))
  )
  return model === undefined ? null : unbound(model)
}

/** The prompt alone, as it was serialised. Throws `invalid`. */
export function withoutModel(manifest: unknown): unknown {
  return promptIn(manifest).whole
}

/** The JSON schema of the answer that the prompt asks for; null if there is none. */
export function schemaOf(manifest: unknown): Record<string, unknown> | null {
  const { kwargs, name } = promptIn(manifest)
  const schema = kwargs['schema_'] ?? kwargs['schema']
  return name === 'StructuredPrompt' && isObject(schema) ? schema : null
}

/** An object of LangChain, serialised. */
interface Constructed {
  /** The last part of its id. */
  readonly name: string
  readonly kwargs: Readonly<Record<string, unknown>>
  readonly whole: Readonly<Record<string, unknown>>
}

function constructed(value: unknown): Constructed | undefined {
  if (!isObject(value) || value['lc'] !== 1 || value['type'] !== 'constructor') return undefined
  const { id, kwargs } = value
  const name: unknown = Array.isArray(id) ? id.at(-1) : undefined
  return typeof name === 'string' && isObject(kwargs) ? { name, kwargs, whole: value } : undefined
}

const prompts = ['ChatPromptTemplate', 'StructuredPrompt', 'PromptTemplate']

/** The prompt of a manifest, without a model behind it. */
function promptIn(manifest: unknown): Constructed {
  const outer = constructed(manifest)
  const prompt = outer?.name === 'RunnableSequence' ? constructed(outer.kwargs['first']) : outer
  if (prompt !== undefined && prompts.includes(prompt.name)) return prompt
  throw new HeddleError('invalid', prompt === undefined
    ? 'This is no prompt that LangChain has serialised.'
    : `A ${prompt.name} cannot be used here: make it a chat prompt.`)
}

function isBinding({ name, kwargs }: Constructed): boolean {
  return name === 'RunnableBinding' && constructed(kwargs['bound']) !== undefined
}

/** The model of a binding, with what is bound to it. */
function unbound(model: Constructed): unknown {
  if (!isBinding(model)) return model.whole
  const { bound, kwargs } = model.kwargs
  const inner = constructed(bound)!
  return { ...inner.whole, kwargs: { ...inner.kwargs, ...isObject(kwargs) && kwargs } }
}

function partialsOf({ kwargs }: Constructed): Values {
  const partials = kwargs['partial_variables']
  return isObject(partials) ? partials : {}
}

function chatMessages({ kwargs }: Constructed): readonly Constructed[] {
  const { messages } = kwargs
  if (!Array.isArray(messages)) throw new HeddleError('invalid', 'The prompt has no messages.')
  return messages.map((message: unknown) => {
    const found = constructed(message)
    if (found !== undefined) return found
    throw new HeddleError('invalid',
      'A message of the prompt is not one that LangChain serialised.')
  })
}

function rendered(message: Constructed, values: Values,
  room: RenderBudget): readonly ChatMessage[] {
  const { name, kwargs } = message
  if (name === 'MessagesPlaceholder') return placed(kwargs, values, room)
  const role = roleOf(message)
  if (!name.endsWith('PromptTemplate')) return [{ role, content: textOfContent(kwargs['content']) }]
  const content = templatesOf(message).map((each) => renderTemplate(each, values, room)).join('')
  return [{ role, content }]
}

function placed(kwargs: Constructed['kwargs'], values: Values,
  room: RenderBudget): readonly ChatMessage[] {
  const name = placeholderName(kwargs)
  const value = Object.hasOwn(values, name) ? values[name] : undefined
  if (value) return room.messagesOf(value, () => messagesIn(value))
  if (kwargs['optional'] === true) return []
  throw missing(name)
}

function placeholderName(kwargs: Constructed['kwargs']): string {
  const name = kwargs['variable_name']
  if (typeof name === 'string') return name
  throw new HeddleError('invalid', 'A placeholder of the prompt names no variable.')
}

function namesOfMessage(message: Constructed): readonly string[] {
  const { name, kwargs } = message
  if (name === 'MessagesPlaceholder') return [placeholderName(kwargs)]
  return name.endsWith('PromptTemplate') ? templatesOf(message).flatMap(namesIn) : []
}

/** The templates of a message: one, or the texts of its parts. */
function templatesOf({ name, kwargs }: Constructed): readonly Constructed['kwargs'][] {
  const parts: readonly unknown[] = [kwargs['prompt']].flat()
  return parts.map((part) => {
    const found = constructed(part)
    if (found?.name === 'PromptTemplate') return found.kwargs
    const template = found?.kwargs['template']
    if (found?.name === 'DictPromptTemplate' && isObject(template) && template['type'] === 'text') {
      return { ...found.kwargs, template: template['text'] }
    }
    throw new HeddleError('invalid', `A ${name} has a part that is not a text: only texts can be ` +
      'used here.')
  })
}

function renderTemplate(kwargs: Constructed['kwargs'], values: Values, room: RenderBudget): string {
  const { template, isMustache, partials } = readTemplate(kwargs)
  // They are not copied together: a prompt may have thousands of templates, and as many values.
  const views = [values, partials]
  return isMustache ? renderMustache(template, views, room) : renderFString(template, views, room)
}

function namesIn(kwargs: Constructed['kwargs']): readonly string[] {
  const { template, isMustache, partials } = readTemplate(kwargs)
  const names = isMustache ? mustacheNames(mustacheNodes(template)) : fStringNames(template)
  return names.filter((name) => !Object.hasOwn(partials, name))
}

function readTemplate(kwargs: Constructed['kwargs']) {
  const { template, template_format: format = 'f-string', partial_variables: partials } = kwargs
  if (typeof template !== 'string' || format !== 'f-string' && format !== 'mustache') {
    throw new HeddleError('invalid', 'A template is a text of the format f-string or mustache.')
  }
  return { template, isMustache: format === 'mustache',
    partials: isObject(partials) ? partials : {} }
}

/** Names that templates look up outside: the first step of each, also in sections. */
function mustacheNames(nodes: readonly MustacheNode[]): readonly string[] {
  return nodes.flatMap((node) => {
    if (node.kind === 'text') return []
    const [name = ''] = node.name.split('.')
    const inner = node.kind === 'section' ? mustacheNames(node.inner) : []
    return [...name === '' ? [] : [name], ...inner]
  })
}
