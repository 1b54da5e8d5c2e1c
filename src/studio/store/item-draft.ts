/** Content of the editor of an item, and the request that it makes. Pure. */

import type { PutItem } from '../../api/index.ts'
import { isObject } from '../json/is-object.ts'
import type { StoredItem } from './store-calls.ts'

/** The fields of the editor. */
export interface ItemDraft {
  /** Labels with dots between them. */
  readonly namespace: string
  readonly key: string
  /** JSON of an object. */
  readonly value: string
  /** default  as the project says · never · minutes  after so many of them */
  readonly expiry: 'default' | 'never' | 'minutes'
  /** A number as text. */
  readonly minutes: string
}

/** A new item, in the namespace that is shown. */
export const emptyItem = (namespace: readonly string[]): ItemDraft => ({
  namespace: namespace.join('.'),
  key: '',
  value: '{}',
  expiry: 'default',
  minutes: '',
})

/** The draft of an item that is there: its time to live stays unless it is changed. */
export const draftOfItem = ({ namespace, key, value, ttl }: StoredItem): ItemDraft => ({
  namespace: namespace.join('.'),
  key,
  value: JSON.stringify(value, null, 2),
  expiry: ttl == null ? 'never' : 'minutes',
  minutes: ttl == null ? '' : String(ttl.ttl_minutes),
})

/** The request. Throws an error that names the fault for people. */
export function putOf({ namespace, key, value, expiry, minutes }: ItemDraft): PutItem {
  const labels = namespace.split('.')
  if (namespace === '' || labels.includes('')) {
    throw new Error('A namespace is one or more labels with dots between them: users.ada')
  }
  if (key === '') throw new Error('An item needs a key.')
  return { namespace: labels, key, value: objectIn(value),
    ...expiry !== 'default' && { ttl: expiry === 'never' ? null : minutesIn(minutes) } } as PutItem
}

function objectIn(text: string): Readonly<Record<string, unknown>> {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    throw new Error(`The value is no JSON: ${(error as Error).message}`, { cause: error })
  }
  if (!isObject(value)) throw new Error('The value of an item is an object: {"likes": "plums"}')
  return value
}

function minutesIn(text: string): number {
  const minutes = Number(text)
  if (text.trim() !== '' && minutes > 0 && Number.isFinite(minutes)) return minutes
  throw new Error('An item expires after a number of minutes above 0.')
}
