/** Feedback in requests, as a checked row. Pure. */

import { HeddleError } from '../../../errors.ts'
import { isObject } from '../../../json/index.ts'
import { textOf } from '../../../raw-json.ts'
import { namedId } from '../catalog/named-id.ts'
import type { Feedback } from '../../spans/feedback-port.ts'
import type { Uuid } from '../../spans/span.ts'
import { readTimeUs } from '../../spans/time.ts'
import { readUuid } from '../../../uuid-bytes.ts'
import { feedbackMembers } from './feedback-members.ts'

/** Characters of a key, and of all members of one piece of feedback. */
const [keyMax, bodyMax] = [180, 256 * 1024]

/** Characters of a value that a span knows: it has the marks of all its feedback in its head. */
const valueMax = 1_000

/** Members of a body that have a field of their own in a row, and those that are renamed. */
const fields = new Set(['id', 'key', 'run_id', 'trace_id', 'session_id', 'created_at',
  'modified_at', 'feedbackConfig', 'feedback_config'])

/**
 * The feedback of a body. Feedback with an id replaces what was sent with it before. Without an id,
 * it gets one that is made of the body and the time. Throws `invalid`.
 */
export function feedbackOf(tenant: string, body: unknown, nowUs: number): Feedback {
  if (!isObject(body)) throw wrong('body', 'feedback is an object')
  const { key, score = null, value = null } = body
  if (typeof key !== 'string' || key === '' || key.length > keyMax) {
    throw wrong('key', `a text of 1 to ${keyMax} characters`)
  }
  if (score !== null && typeof score !== 'number' && typeof score !== 'boolean') {
    throw wrong('score', 'a number, true, false or null')
  }
  const [span, trace, project] = [idIn(body, 'run_id'), idIn(body, 'trace_id'),
    idIn(body, 'session_id')]
  if (span === null && project === null) throw wrong('run_id', 'the id of a run, or session_id')
  const bodyJson = rest(body)
  return {
    tenant,
    id: idIn(body, 'id') ?? namedId('feedback', `${nowUs}\n${key}\n${span}\n${bodyJson}`),
    key,
    score: score === null ? null : Number(score),
    value: textOfValue(value),
    span,
    trace,
    project,
    createdUs: timeIn(body, 'created_at') ?? nowUs,
    modifiedUs: nowUs,
    bodyJson,
  }
}

/** Members that a client may change: some of feedback, and the configuration of its key. */
const changeable = Object.entries(feedbackMembers).filter(([, rule]) => rule === 'change')
  .map(([name]) => name).concat('feedback_config')

/** The row after a change. Null leaves a member as it is. Throws `invalid`. */
export function changedFeedback(row: Feedback, change: Readonly<Record<string, unknown>>,
  nowUs: number): Feedback {
  const given = Object.fromEntries(changeable.flatMap((name) => {
    const value = change[name]
    return value === undefined || value === null ? [] : [[name, value]]
  }))
  const { tenant, id, key, span, trace, project, createdUs } = row
  const body = { ...JSON.parse(row.bodyJson) as object, ...given, id, key, run_id: span,
    trace_id: trace, session_id: project }
  return { ...feedbackOf(tenant, body, nowUs), createdUs }
}

/** The configuration of its key that a body brings; undefined if there is none. */
export function configIn(body: unknown): Readonly<Record<string, unknown>> | undefined {
  if (!isObject(body)) return undefined
  const config = body['feedback_config'] ?? body['feedbackConfig']
  return isObject(config) ? config : undefined
}

/** All members without a field, as JSON. */
function rest(body: Readonly<Record<string, unknown>>): string {
  timeIn(body, 'start_time')
  const others = Object.entries(body).filter(([name, value]) =>
    !fields.has(name) && value !== undefined
  )
  const config = configIn(body)
  const text = textOf({ ...Object.fromEntries(others), ...config && { feedback_config: config } })
  if (text.length <= bodyMax) return text
  throw wrong('body', `at most ${bodyMax / 1024} KB of JSON`)
}

/** The value as filters and statistics know it; clients read the one in the body. */
function textOfValue(value: unknown): string | null {
  if (value === null) return null
  const text = typeof value === 'string' ? value : textOf(value)
  return text.length <= valueMax ? text : null
}

function idIn(body: Readonly<Record<string, unknown>>, name: string): Uuid | null {
  const given = body[name]
  if (given === undefined || given === null) return null
  const id = readUuid(given)
  if (id === undefined) throw wrong(name, 'a UUID')
  return id
}

function timeIn(body: Readonly<Record<string, unknown>>, name: string): number | undefined {
  const given = body[name]
  if (given === undefined || given === null) return undefined
  const us = readTimeUs(given)
  if (us === undefined) throw wrong(name, 'a time')
  return us
}

function wrong(field: string, expected: string): HeddleError {
  return new HeddleError('invalid', `${field}: expected ${expected}.`)
}
