/** Words of a thread in its row: its question or last message, and its metadata. */

import { textOf } from '../api/content.ts'
import type { Thread } from '../api/threads.ts'
import type { Scalar } from './thread-filter.ts'

/** Why a reader changes nothing in these lists. */
export const onlyReads = 'Your role may only read.'

/** Keys that are not shown as chips: they are the title, or an id, or shown otherwise. */
const hidden = new Set(['title', 'thread_name', 'name', 'graph_id', 'assistant_id'])
const wordsMax = 200

/** The question that a thread waits with. Forms of questions are many; a text is looked for. */
export function questionWords(interrupts: Thread['interrupts']): string {
  const value = Object.values(interrupts ?? {}).flat()[0]?.value
  if (typeof value === 'string') return oneLine(value)
  const asked = (Array.isArray(value) ? value[0] : value ?? {}) as Record<string, unknown>
  const requests = asked['actionRequests'] ?? asked['action_requests']
  const request = (Array.isArray(requests) ? requests[0] : asked['action_request']) as
    | Record<string, unknown>
    | undefined
  const found = [asked['question'], asked['description'], asked['message'], asked['prompt'],
    asked['title'], request?.['description'], request?.['name'], request?.['action']]
    .find((each) => typeof each === 'string' && each !== '')
  return typeof found === 'string' ? oneLine(found) : 'Waits for an answer'
}

/** The second line of a row. */
export function lastWords(thread: Thread): string {
  if (thread.status === 'interrupted') return questionWords(thread.interrupts)
  if (thread.status === 'error') {
    const { message, error } = (thread.error ?? {}) as { message?: unknown; error?: unknown }
    if (typeof message === 'string' && message !== '') return oneLine(message)
    if (typeof error === 'string') return oneLine(error)
    if (typeof thread.error === 'string') return oneLine(thread.error)
  }
  return oneLine(textOf(thread.extracted?.['last'])) || 'No messages yet'
}

/** The graph of a thread, if it has one yet. */
export function graphOf({ metadata }: Pick<Thread, 'metadata'>): string | undefined {
  const { graph_id: graph } = metadata
  return typeof graph === 'string' ? graph : undefined
}

/** Two pairs of metadata that say something: short ones, no ids. */
export function tagsOf(
  { metadata }: Pick<Thread, 'metadata'>,
): readonly (readonly [string, Scalar])[] {
  return Object.entries(metadata).filter((pair): pair is [string, Scalar] => {
    const [key, value] = pair
    return !hidden.has(key) && !key.startsWith('_') && isShort(value)
  }).slice(0, 2)
}

const isShort = (value: unknown): boolean =>
  typeof value === 'number' || typeof value === 'boolean' ||
  typeof value === 'string' && value !== '' && value.length <= 24

/** Everything stands on one line, and otherwise as it was written. */
const oneLine = (text: string): string =>
  text.slice(0, 2 * wordsMax).replace(/\s+/gu, ' ').trim().slice(0, wordsMax)
