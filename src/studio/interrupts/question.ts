/** Questions of a graph: the shapes of interrupts that people use, and the answer to each. */

import type { Json, JsonObject } from '../api/client.ts'
import { initialValue, schemaOfValue } from '../forms/schema-fields.ts'
import { isObject } from '../json/is-object.ts'
import { weight } from '../forms/values.ts'

/** A question, by how it is answered. */
export type Question =
  /** Each act is approved, edited or rejected. */
  | { readonly kind: 'review'; readonly acts: readonly Act[];
    readonly answer: (decisions: readonly Decision[]) => unknown }
  /** A form says what the answer is. */
  | { readonly kind: 'form'; readonly title: string | undefined; readonly schema: JsonObject;
    readonly initial: unknown; readonly shown: unknown }
  /** One of several answers. */
  | { readonly kind: 'choice'; readonly title: string | undefined;
    readonly choices: readonly Choice[]; readonly shown: unknown }
  /** An effect may have been done; a result is given of one that was. */
  | { readonly kind: 'effect'; readonly title: string | undefined;
    readonly choices: readonly Choice[]; readonly shown: unknown; readonly isCall: boolean }
  /** A text, or any JSON. */
  | { readonly kind: 'open'; readonly title: string | undefined; readonly shown: unknown }

/** An act that waits for a decision: mostly the call of a tool. */
export interface Act {
  readonly name: string
  readonly args: unknown
  readonly words: string | undefined
  readonly allowed: readonly DecisionKind[]
  readonly schema: JsonObject
}

/** Kind of decision that is possible about an act. */
export type DecisionKind = 'approve' | 'edit' | 'reject' | 'respond'

/** Decision that somebody made about an act. */
export type Decision =
  | { readonly kind: 'approve' }
  | { readonly kind: 'edit'; readonly args: unknown }
  | { readonly kind: 'reject' | 'respond'; readonly words: string }

/** One of several answers to a question. */
export interface Choice {
  readonly label: string
  readonly value: Json
}

/** Longer questions, in characters, are shown as a tree. */
const titleMax = 2_000
const choicesMax = 50

/** The question of an interrupt. Whatever its value is, there is one. */
export function questionOf(value: unknown, responseSchema?: unknown): Question {
  if (isObject(responseSchema)) return formOf(value, responseSchema)
  return reviewOf(value) ?? inboxOf(value) ?? schemaIn(value) ?? effectOf(value) ??
    choiceOf(value) ?? openOf(value)
}

/** The first words of a question, for lists. */
export function questionWords(value: unknown): string {
  const question = questionOf(value)
  if (question.kind !== 'review') return question.title ?? 'Waits for an answer.'
  const [first] = question.acts
  return first?.words?.split('\n')[0]!.slice(0, titleMax) ?? `Run ${first?.name}?`
}

/** `action_requests` and `review_configs`, in the spelling of Python or of JavaScript. */
function reviewOf(value: unknown): Question | undefined {
  if (!isObject(value)) return undefined
  const isCamel = Array.isArray(value['actionRequests'])
  const requests = value['actionRequests'] ?? value['action_requests']
  const configs = value['reviewConfigs'] ?? value['review_configs']
  if (!isListOfObjects(requests)) return undefined
  const acts = requests.map((request): Act => {
    const name = String(request['name'] ?? request['action'] ?? 'act')
    const args = request['args'] ?? request['arguments'] ?? {}
    const config = isListOfObjects(configs)
      ? configs.find((each) => (each['actionName'] ?? each['action_name']) === name) ?? {}
      : {}
    const schema = config['argsSchema'] ?? config['args_schema']
    return {
      name,
      args,
      words: wordsIn(request),
      allowed: allowedOf(config['allowedDecisions'] ?? config['allowed_decisions']),
      schema: isObject(schema) ? schema as JsonObject : schemaOfValue(args),
    }
  })
  const edited = isCamel ? 'editedAction' : 'edited_action'
  return { kind: 'review', acts, answer: (decisions) => ({
    decisions: decisions.map((decision, i) => {
      switch (decision.kind) {
        case 'approve':
          return { type: 'approve' }
        case 'edit':
          return { type: 'edit', [edited]: { name: acts[i]!.name, args: decision.args } }
        case 'reject':
          return { type: 'reject', ...decision.words !== '' && { message: decision.words } }
        case 'respond':
          return { type: 'respond', message: decision.words }
      }
    }),
  }) }
}

function allowedOf(value: unknown): readonly DecisionKind[] {
  const all = ['approve', 'edit', 'reject', 'respond'] as const
  if (!Array.isArray(value)) return ['approve', 'edit', 'reject']
  return all.filter((each) => value.includes(each))
}

/** The older shape: `action_request` and `config`, alone or as a list of one. */
function inboxOf(value: unknown): Question | undefined {
  const requests = Array.isArray(value) ? value as unknown[] : [value]
  if (requests.length !== 1 || !isObject(requests[0])) return undefined
  const { action_request: request, config } = requests[0]
  if (!isObject(request) || typeof request['action'] !== 'string') return undefined
  const rules = isObject(config) ? config : {}
  const { action, args = {} } = request
  const allowed =
    ([['allow_accept', 'approve'], ['allow_edit', 'edit'], ['allow_ignore', 'reject'], [
      'allow_respond',
      'respond',
    ]] as const)
      .flatMap(([rule, kind]) => rules[rule] === false || rules[rule] === undefined ? [] : [kind])
  const act: Act = { name: action, args, words: wordsIn(requests[0]), allowed,
    schema: schemaOfValue(args) }
  return { kind: 'review', acts: [act], answer: ([decision]) => [inboxAnswer(act, decision!)] }
}

function inboxAnswer({ name, args }: Act, decision: Decision): object {
  switch (decision.kind) {
    case 'approve':
      return { type: 'accept', args: { action: name, args } }
    case 'edit':
      return { type: 'edit', args: { action: name, args: decision.args } }
    case 'reject':
      return { type: 'ignore', args: null }
    case 'respond':
      return { type: 'response', args: decision.words }
  }
}

/** A JSON Schema in `schema`, or in what clients call it otherwise. */
function schemaIn(value: unknown): Question | undefined {
  if (!isObject(value)) return undefined
  const schema = value['schema'] ?? value['response_schema'] ?? value['responseSchema']
  if (!isObject(schema) || !['type', 'properties', '$ref', 'anyOf', 'oneOf', 'enum', 'allOf']
    .some((key) => Object.hasOwn(schema, key))) return undefined
  return formOf(value, schema)
}

function formOf(value: unknown, schema: Record<string, unknown>): Question {
  const { shown, title } = openOf(value)
  const given = isObject(value)
    ? ['value', 'defaults', 'default', 'args', 'data'].map((key) => value[key])
      .find((each) => each !== undefined)
    : undefined
  const rest = isObject(shown)
    ? without(shown, ['schema', 'response_schema', 'responseSchema'])
    : shown
  return { kind: 'form', title, schema: schema as JsonObject, shown: rest,
    initial: given ?? initialValue(schema, schema) }
}

/** The server's own question. Its effect is named in its words. */
function effectOf(value: unknown): Question | undefined {
  if (!isObject(value) || value['reason'] !== 'effect') return undefined
  const asked = choiceOf(value)
  if (asked?.kind !== 'choice' || !asked.choices.some((each) => each.value === 'done')) {
    return undefined
  }
  const { effect } = value
  // An HTTP call is named by its method and its URL.
  const isCall = typeof effect === 'string' && effect.includes('://')
  const shown = isObject(asked.shown)
    ? without(asked.shown, ['reason', 'effect', 'id'])
    : asked.shown
  return { ...asked, kind: 'effect', shown, isCall }
}

/** A list of plain values, alone or in `choices` or `options`. */
function choiceOf(value: unknown): Question | undefined {
  const { title, shown } = openOf(value)
  for (const key of ['choices', 'options', undefined]) {
    const list = key === undefined ? value : isObject(value) ? value[key] : undefined
    if (!Array.isArray(list) || list.length === 0 || list.length > choicesMax) continue
    const choices = list.map(choice)
    if (choices.some((each) => each === undefined)) continue
    return { kind: 'choice', choices: choices as Choice[], title: title ?? 'Which one?',
      shown: key === undefined || !isObject(shown) ? undefined : without(shown, [key]) }
  }
  return undefined
}

function choice(value: unknown): Choice | undefined {
  if (typeof value === 'string' && value.length <= 200) return { label: value, value }
  if (typeof value === 'number' || typeof value === 'boolean') {
    return { label: String(value), value }
  }
  if (!isObject(value)) return undefined
  const { label, value: inner } = value
  return typeof label === 'string' && inner !== undefined && Object.keys(value).length <= 4
    ? { label, value: inner as Json }
    : undefined
}

function openOf(value: unknown): Extract<Question, { kind: 'open' }> {
  if (typeof value === 'string' && value.length <= titleMax && value.trim() !== '') {
    return { kind: 'open', title: value, shown: undefined }
  }
  const title = isObject(value) ? wordsIn(value) : undefined
  if (value === null || value === undefined || !isObject(value) || title === undefined) {
    return { kind: 'open', title, shown: value ?? undefined }
  }
  const key = wordKeys.find((each) => value[each] === title)!
  return { kind: 'open', title, shown: without(value, [key]) }
}

const wordKeys = ['question', 'title', 'message', 'prompt', 'description', 'text'] as const

function wordsIn(value: Record<string, unknown>): string | undefined {
  for (const key of wordKeys) {
    const words = value[key]
    if (typeof words === 'string' && words.trim() !== '' && words.length <= titleMax) return words
  }
  return undefined
}

/** The object without some keys; undefined if nothing is left. */
function without(value: Record<string, unknown>, keys: readonly string[]): unknown {
  const rest = Object.entries(value).filter(([key]) => !keys.includes(key))
  return rest.length === 0 ? undefined : Object.fromEntries(rest)
}

const isListOfObjects = (value: unknown): value is Record<string, unknown>[] =>
  Array.isArray(value) && value.length > 0 && value.length <= choicesMax && value.every(isObject)

/** True if a text stands well in a card; a longer one is shown as a tree. */
export const isShort = (value: unknown): boolean => weight(value, titleMax) <= titleMax
