/** Checks what a graph worker posts, because user code in it may have got hold of the port. */

import { isErrorCode } from '../../errors.ts'
import { memberOf } from '../../json/index.ts'
import { isUntrackedJson } from '../events/untracked-values.ts'
import type { OutcomeStatus } from '../execution.ts'
import { lineLevels } from '../logs/run-line.ts'
import { recordingDaysMax } from '../recording-rule.ts'
import { labelMax } from '../recording/run-label.ts'
import type { WorkerMail } from './worker-mail.ts'

/** An object of which nothing is known. */
export type Bag = Readonly<Record<string, unknown>>

const statuses: ReadonlySet<unknown> = new Set<OutcomeStatus>(
  ['success', 'error', 'aborted', 'drained'],
)

const levels: ReadonlySet<unknown> = new Set(lineLevels)

/** True if a posted value has the shape of a message, so that reading it cannot throw. */
export function isWorkerMail(value: unknown): value is WorkerMail {
  if (!isBag(value)) return false
  switch (value['type']) {
    case 'flushed':
      return true
    case 'pong':
      return isTime(value['heldMs'])
    case 'batch':
      return isNumber(value['job']) && isBatch(value['batch']) && isTime(value['heldMs'])
    case 'read':
      return isNumber(value['job']) && isNumber(value['reading'])
        && isReading(value['what'])
    case 'items':
      return isNumber(value['job']) && isNumber(value['asking'])
        && isListOf(value['operations'], isOperation)
    case 'trace':
      return isNumber(value['tracing']) && isTraceBody(value)
    case 'wrote':
      return isNumber(value['job']) && isNumber(value['dropped'])
        && isListOf(value['lines'], isLine)
    case 'answer':
      return isNumber(value['job']) && isResult(value['result'])
    case 'broken':
      return isNumber(value['job'])
    case 'loading':
      return value['graphId'] === null || isText(value['graphId'])
    case 'refused':
      return isText(value['reason']) && typeof value['isTransient'] === 'boolean'
    case 'ready':
      return isListOf(value['graphs'], isGraph)
        && isListOf(value['failures'], (each) => isText(each['graphId']) && isText(each['message']))
        && isTextList(value['unknown'])
        && (value['engine'] === undefined || isEngine(value['engine']))
        && (value['untraced'] === undefined || isText(value['untraced']))
        && (value['unwatched'] === undefined || isText(value['unwatched']))
    default:
      return false
  }
}

function isEngine(value: unknown): boolean {
  return isText(memberOf(value, 'version')) && isText(memberOf(value, 'nearestKnown'))
}

function isTime(value: unknown): boolean {
  return value === undefined || (isNumber(value) && value >= 0)
}

function isBatch(value: unknown): boolean {
  if (!isBag(value)) return false
  const { steps, events, texts, ackId, outcome } = value
  return isNumber(ackId) && isListOf(steps, isStep) && isListOf(events, isEvent)
    && (texts === undefined || isTextList(texts))
    && (outcome === null || isOutcome(outcome))
}

/** True for spans of a tenant, and for recorded calls of a run. */
export function isTraceBody({ tenant, contentType, form, body, ...of }: Bag): boolean {
  if (!isText(tenant) || !(body instanceof Uint8Array)) return false
  if (form !== 'recording') return isText(contentType) && (form === 'multipart' || form === 'batch')
  const { runId, startedAtMs, no, days, label = '' } = of
  return isText(runId) && [startedAtMs, no, days].every(isCount) && isText(label)
    && label.length <= labelMax && (days as number) <= recordingDaysMax
}

/** True for a part of the log that a superstep made. */
export function isStep({ $case, value }: Bag): boolean {
  if (!isBag(value) || !isText(value['ns'])) return false
  if ($case === 'writes') {
    const { checkpointId, taskId, writes, effect } = value
    return isText(checkpointId) && isText(taskId) && Array.isArray(writes)
      && (effect === undefined || isEffectNote(effect))
  }
  const { id, parentId, full, changes, skeletonJson, metadataJson } = value
  return $case === 'checkpoint' && isText(id) && isText(parentId) && typeof full === 'boolean'
    && Array.isArray(changes) && isText(skeletonJson) && isText(metadataJson)
}

/** True for a step in the life of an effect. */
function isEffectNote(effect: unknown): boolean {
  if (!isBag(effect)) return false
  const { rule, ordinal, atMs, note } = effect
  if (!isText(rule) || !isNumber(ordinal) || !isNumber(atMs) || !isBag(note)) return false
  const { $case, value } = note
  if (!isBag(value)) return false
  const { once, hash, key } = value
  if ($case === 'intended') return isText(key) && isText(hash) && isTextOrNone(once)
  if ($case === 'decided') {
    return isText(value['decision']) && isTextOrNone(hash) && isTextOrNone(key)
  }
  return $case === 'settled' && isText(value['hash']) && isText(value['resultJson'])
    && typeof value['isCut'] === 'boolean'
}

/** True for an event of a run. */
export function isEvent({ name, json, valuesOf, durable }: Bag): boolean {
  return isText(name) && isText(json) && isText(valuesOf) && typeof durable === 'boolean'
}

/** True for how an execution ended. */
export function isOutcome(value: unknown): boolean {
  if (!isBag(value)) return false
  const { status, waiting, interrupts, values, error, at, waitsAt, askers, replay, untracked } =
    value
  const { isMidStep } = value
  return statuses.has(status) && typeof waiting === 'boolean' && isText(interrupts)
    && (values === undefined || isText(values)) && (at === undefined || isText(at))
    && (untracked === undefined || isUntrackedJson(untracked))
    && (waitsAt === undefined || isTextList(waitsAt)) && (replay === undefined || isText(replay))
    && (isMidStep === undefined || typeof isMidStep === 'boolean')
    && (askers === undefined || (isBag(askers) && isTextList(Object.values(askers))))
    && (error === null || (isBag(error) && isText(error['error']) && isText(error['message'])))
}

/** True for what a job may read of its thread. */
export function isReading(value: unknown): boolean {
  if (!isBag(value)) return false
  const { kind, ns, checkpointId: id, query } = value
  return kind === 'list'
    ? isBag(query)
    : kind === 'tuple' && isText(ns) && (id === null || isText(id))
}

/** True for an operation on items. */
export function isOperation(
  { kind, namespace, key, valueJson, index, prefix, ...each }: Bag,
): boolean {
  switch (kind) {
    case 'get':
    case 'delete':
      return isTextList(namespace) && isText(key)
    case 'put':
      return isTextList(namespace) && isText(key) && isText(valueJson)
        && (index === undefined || index === false || isTextList(index))
    case 'search':
      return isTextList(prefix) && isNumber(each['limit']) && isNumber(each['offset'])
        && (each['filter'] === undefined || isBag(each['filter']))
        && (each['query'] === undefined || isText(each['query']))
    case 'namespaces':
      return isNumber(each['limit']) && isNumber(each['offset'])
        && (each['maxDepth'] === undefined || isNumber(each['maxDepth']))
        && isListOf(each['conditions'],
          ({ matchType, path }) =>
            (matchType === 'prefix' || matchType === 'suffix') && isTextList(path))
    default:
      return false
  }
}

/** True for how a promise settled. */
export function isResult(value: unknown): boolean {
  if (!isBag(value)) return false
  const { error } = value
  if ('value' in value) return true
  if (!isBag(error) || !isText(error['message'])) return false
  return error['code'] === null || (isText(error['code']) && isErrorCode(error['code']))
}

/** True for a line that code wrote. */
export function isLine({ atMs, level, text, node }: Bag): boolean {
  return isNumber(atMs) && levels.has(level) && isText(text)
    && (node === undefined || isText(node))
}

/** True for what is known of a graph. */
export function isGraph({ graphId, nodes, subgraphNodes, subgraphs }: Bag): boolean {
  return isText(graphId) && Array.isArray(nodes)
    && (subgraphNodes === undefined || isTextList(subgraphNodes))
    && (subgraphs === undefined || isTextList(subgraphs))
}

/** True for a list of objects that all have a shape. */
export function isListOf(value: unknown, isOne: (each: Bag) => boolean): boolean {
  return Array.isArray(value) && value.every((each: unknown) => isBag(each) && isOne(each))
}

/** True for any object, lists included. */
export function isBag(value: unknown): value is Bag {
  return typeof value === 'object' && value !== null
}

/** True for a text, also an empty one. */
export function isText(value: unknown): value is string {
  return typeof value === 'string'
}

function isCount(value: unknown): boolean {
  return Number.isSafeInteger(value) && (value as number) >= 0
}

function isTextOrNone(value: unknown): boolean {
  return value === undefined || isText(value)
}

/** True for a list of texts. */
export function isTextList(value: unknown): boolean {
  return Array.isArray(value) && value.every(isText)
}

/** True for a number, also NaN and infinity. */
export function isNumber(value: unknown): value is number {
  return typeof value === 'number'
}
