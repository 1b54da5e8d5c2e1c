/** Checks what a graph process sends, because code of its project may have written to the wire. */

import { isPlace } from '../app-thread/app-mail.ts'
import { isBag, isEvent, isGraph, isLine, isListOf, isNumber, isOperation, isOutcome, isReading,
  isResult, isStep, isText, isTextList, isTraceBody } from '../pool/mail-check.ts'
import type { FromProcess } from './process-mail.ts'

const levels: ReadonlySet<unknown> = new Set(['debug', 'info', 'warn', 'error'])
const reasons: ReadonlySet<unknown> = new Set(['crashed', 'displaced', 'full'])
const stats = ['starting', 'ready', 'busy', 'underWay', 'waiting', 'lost']

/** True if a value has the shape of a message, so that reading it cannot throw. */
export function isProcessMail(mail: unknown): mail is FromProcess {
  if (!isBag(mail)) return false
  switch (mail['type']) {
    case 'loading':
      return mail['graphId'] === null || isText(mail['graphId'])
    case 'ready':
      return isListOf(mail['graphs'], isGraph)
    case 'moved':
      return mail['place'] === null || isPlace(mail['place'])
    case 'refused':
      return isText(mail['reason']) && typeof mail['isTransient'] === 'boolean'
    case 'steps':
      return isNumber(mail['id']) && isNumber(mail['step']) && isBatch(mail['batch'])
    case 'ended':
      return isNumber(mail['id']) && isOutcome(mail['outcome'])
    case 'lost':
      return isNumber(mail['id']) && reasons.has(mail['reason'])
    case 'read':
      return isBag(mail['of']) && isNumber(mail['of']['id']) && isNumber(mail['reading'])
        && isReading(mail['what'])
    case 'answer':
      return isNumber(mail['asking']) && isResult(mail['result'])
    case 'items':
      return isNumber(mail['asking']) && isText(mail['tenant'])
        && isListOf(mail['operations'], isOperation)
    case 'trace':
      return isNumber(mail['tracing']) && isBag(mail['body']) && isTraceBody(mail['body'])
    case 'wrote':
      return isNumber(mail['id']) && isNumber(mail['dropped']) && isListOf(mail['lines'], isLine)
    case 'printed':
      return isText(mail['line']) && (mail['level'] === 'info' || mail['level'] === 'warn')
    case 'logged': {
      const { level, message, details } = mail
      return levels.has(level) && isText(message) && isBag(details)
        && Object.values(details).every(isText)
    }
    case 'beat': {
      const { stats: figures, residentBytes } = mail
      return isNumber(residentBytes) && isBag(figures)
        && stats.every((name) => isNumber(figures[name]))
    }
    case 'drained':
    case 'flushed':
      return true
    default:
      return false
  }
}

function isBatch(value: unknown): boolean {
  if (!isBag(value)) return false
  const { steps, events, texts } = value
  return isListOf(steps, isStep) && isListOf(events, isEvent)
    && (texts === undefined || isTextList(texts))
}
