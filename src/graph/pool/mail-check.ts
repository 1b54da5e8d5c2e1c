/** Checks what a graph worker posts, because user code in it may have got hold of the port. */

import { isErrorCode } from '../../errors.ts'
import type { ItemOperation } from '../../items/index.ts'
import type { OutcomeStatus } from '../execution.ts'
import { lineLevels } from '../logs/run-line.ts'
import type { WorkerMail } from './worker-mail.ts'

type Bag = Readonly<Record<string, unknown>>

const statuses: ReadonlySet<unknown> = new Set<OutcomeStatus>(
  ['success', 'error', 'aborted', 'drained'],
)

const levels: ReadonlySet<unknown> = new Set(lineLevels)

/** True if a posted value has the shape of a message, so that reading it cannot throw. */
export function isWorkerMail(value: unknown): value is WorkerMail {
  if (!isBag(value)) return false
  switch (value['type'] as WorkerMail['type']) {
    case 'pong':
    case 'flushed':
      return true
    case 'batch':
      return isNumber(value['job']) && isBatch(value['batch'])
    case 'read':
      return isNumber(value['job']) && isNumber(value['reading'])
        && isReading(value['what'])
    case 'items':
      return isNumber(value['job']) && isNumber(value['asking'])
        && isListOf(value['operations'], isOperation)
    case 'trace':
      return isNumber(value['tracing']) && isText(value['tenant']) && isText(value['contentType'])
        && (value['form'] === 'multipart' || value['form'] === 'batch')
        && value['body'] instanceof Uint8Array
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
      return isText(value['reason'])
    case 'ready':
      return isListOf(value['graphs'], isGraph)
        && isListOf(value['failures'], (each) => isText(each['graphId']) && isText(each['message']))
        && isTextList(value['unknown'])
        && (value['untraced'] === undefined || isText(value['untraced']))
    default:
      return false
  }
}

function isBatch(value: unknown): boolean {
  if (!isBag(value)) return false
  const { steps, events, texts, ackId, outcome } = value
  return isNumber(ackId) && isListOf(steps, isStep) && isListOf(events, isEvent)
    && (texts === undefined || isTextList(texts))
    && (outcome === null || isOutcome(outcome))
}

function isStep({ $case, value }: Bag): boolean {
  if (!isBag(value) || !isText(value['ns'])) return false
  if ($case === 'writes') {
    const { checkpointId, taskId, writes } = value
    return isText(checkpointId) && isText(taskId) && Array.isArray(writes)
  }
  const { id, parentId, full, changes, skeletonJson, metadataJson } = value
  return $case === 'checkpoint' && isText(id) && isText(parentId) && typeof full === 'boolean'
    && Array.isArray(changes) && isText(skeletonJson) && isText(metadataJson)
}

function isEvent({ name, json, valuesOf, durable }: Bag): boolean {
  return isText(name) && isText(json) && isText(valuesOf) && typeof durable === 'boolean'
}

function isOutcome(value: unknown): boolean {
  if (!isBag(value)) return false
  const { status, waiting, interrupts, values, error, at } = value
  return statuses.has(status) && typeof waiting === 'boolean' && isText(interrupts)
    && (values === undefined || isText(values)) && (at === undefined || isText(at))
    && (error === null || (isBag(error) && isText(error['error']) && isText(error['message'])))
}

function isReading(value: unknown): boolean {
  if (!isBag(value)) return false
  const { kind, ns, checkpointId: id, query } = value
  return kind === 'list'
    ? isBag(query)
    : kind === 'tuple' && isText(ns) && (id === null || isText(id))
}

function isOperation({ kind, namespace, key, valueJson, index, prefix, ...each }: Bag): boolean {
  switch (kind as ItemOperation['kind']) {
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

function isResult(value: unknown): boolean {
  if (!isBag(value)) return false
  const { error } = value
  if ('value' in value) return true
  if (!isBag(error) || !isText(error['message'])) return false
  return error['code'] === null || (isText(error['code']) && isErrorCode(error['code']))
}

function isLine({ atMs, level, text, node }: Bag): boolean {
  return isNumber(atMs) && levels.has(level) && isText(text)
    && (node === undefined || isText(node))
}

function isGraph({ graphId, nodes }: Bag): boolean {
  return isText(graphId) && Array.isArray(nodes)
}

function isListOf(value: unknown, isOne: (each: Bag) => boolean): boolean {
  return Array.isArray(value) && value.every((each: unknown) => isBag(each) && isOne(each))
}

function isBag(value: unknown): value is Bag {
  return typeof value === 'object' && value !== null
}

function isText(value: unknown): value is string {
  return typeof value === 'string'
}

function isTextList(value: unknown): boolean {
  return Array.isArray(value) && value.every(isText)
}

function isNumber(value: unknown): value is number {
  return typeof value === 'number'
}
