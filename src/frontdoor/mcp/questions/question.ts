/** Questions of graphs as the protocol asks a user: a message, and a form of few fields. Pure. */

import { isObject, listOf, objectOf } from '../../../json/index.ts'
import { approvalForm, approvalIn, decisionsIn } from './approval.ts'
import type { Json } from '../message.ts'

/** An interrupt that waits for an answer. */
export interface Question {
  /** Its own id. The oldest engines give none. */
  readonly id: string
  readonly value: unknown
  /** JSON Schema that the graph gave for the answer; undefined if it gave none. */
  readonly answerSchema: unknown
}

/**
 * given    the value that the graph goes on with
 * refused  the user declined, or closed the form
 * missing  nothing that could be an answer
 */
export type GivenAnswer =
  | { readonly kind: 'given'; readonly value: unknown }
  | { readonly kind: 'refused' }
  | { readonly kind: 'missing' }

/** Characters of a question that are shown. */
const charactersMax = 10_000

/** The questions of a run, from the list in its result. */
export function questionsOf(interrupts: unknown): readonly Question[] {
  return listOf(interrupts).map((each, index) => {
    const { id, value, response_schema: answerSchema } = objectOf(each)
    return { id: typeof id === 'string' ? id : `question-${index + 1}`, value, answerSchema }
  })
}

/** The parameters of `elicitation/create`. `failure`: why the answer before had no effect. */
export function elicitationOf({ value, answerSchema }: Question, failure?: string): Json {
  const approval = approvalIn(value)
  const message = [...failure === undefined ? [] : [failure], messageOf(value)].join('\n\n')
  return { message: message.slice(0, charactersMax),
    requestedSchema: approval ? approvalForm(approval) : formOf(answerSchema) }
}

/** The text of a question: most are a text, or an object that has one. */
function messageOf(value: unknown): string {
  if (typeof value === 'string' && value !== '') return value
  const { question, message, description } = objectOf(value)
  const text = [message, question, description].find((each) =>
    typeof each === 'string' && each !== ''
  )
  const isAll = Object.keys(objectOf(value)).length === 1
  if (typeof text === 'string' && isAll) return text
  const json = JSON.stringify(value ?? null)
  return typeof text === 'string' ? `${text}\n\n${json}` : json
}

/** The answer that a client gave to `elicitation/create`. */
export function answerIn(result: unknown, { value, answerSchema }: Question): GivenAnswer {
  const { action, content } = objectOf(result)
  if (action === 'decline' || action === 'cancel') return { kind: 'refused' }
  if (action !== 'accept' || !isObject(content)) return { kind: 'missing' }
  const approval = approvalIn(value)
  if (approval) {
    const decisions = decisionsIn(content, approval)
    return decisions ? { kind: 'given', value: decisions } : { kind: 'missing' }
  }
  if (isForm(answerSchema)) return { kind: 'given', value: content }
  const { answer } = content
  if (answer === undefined) return { kind: 'missing' }
  return { kind: 'given', value: isText(answerSchema) ? answer : valueIn(answer) }
}

/** An answer with parts that no form has is written as JSON. */
function valueIn(answer: unknown): unknown {
  if (typeof answer !== 'string') return answer
  try {
    return JSON.parse(answer)
  } catch {
    return answer
  }
}

/** A form asks for one level of plain fields. Any other answer is one field. */
function formOf(schema: unknown): Json {
  if (isForm(schema)) {
    const { properties, required = [] } = schema as Json
    return { type: 'object', properties, required }
  }
  return { type: 'object', properties: { answer: fieldOf(schema) }, required: ['answer'] }
}

function fieldOf(schema: unknown): Json {
  if (isField(schema)) return { title: 'Answer', ...schema as Json }
  return isText(schema)
    ? { type: 'string', title: 'Answer' }
    : { type: 'string', title: 'Answer', description: `As JSON: ${JSON.stringify(schema)}`
      .slice(0, charactersMax) }
}

/** True if the answer is the text itself: nothing says otherwise. */
function isText(schema: unknown): boolean {
  return !isObject(schema) || isField(schema)
}

function isForm(schema: unknown): boolean {
  if (!isObject(schema) || schema['type'] !== 'object' || !isObject(schema['properties']))
    return false
  const fields = Object.values(schema['properties'])
  return fields.length > 0 && fields.every(isField)
}

const fieldTypes: readonly unknown[] = ['string', 'number', 'integer', 'boolean']

/** A field has one plain value, or several of a few texts. */
function isField(schema: unknown): boolean {
  if (!isObject(schema)) return false
  const { type, items } = schema
  const isChoice = isObject(items) && (items['enum'] ?? items['anyOf']) !== undefined
  return fieldTypes.includes(type) || (type === 'array' && isChoice)
}
