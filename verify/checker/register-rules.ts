/** Rules about values that one client writes: the item of a client, its metadata of a thread. */

import type { Call } from '../history/history.ts'
import { isSuccess } from './history-index.ts'
import type { HistoryIndex } from './history-index.ts'
import type { ThreadInHistory } from './state-rules.ts'
import type { Rule } from './violation.ts'

interface Write {
  readonly call: Call
  /** Null if the value was deleted. */
  readonly value: string | null
}

/** Values that a read may return, after the writes of one client in their order. */
export function allowedValues(first: readonly (string | null)[], writes: readonly Write[],
  { startMs, endMs }: Call): readonly (string | null)[] {
  let allowed = first
  for (const { call, value } of writes) {
    const { status = 0 } = call
    if (status >= 400 && status < 500 || call.startMs > endMs) continue
    const isDone = isSuccess(status) && call.endMs <= startMs
    allowed = isDone ? [value] : [...allowed, value]
  }
  return allowed
}

const items: Rule<HistoryIndex> = ({ calls }) =>
  [...Map.groupBy(calls.filter(({ operation }) => operation.startsWith('item.')), ({ client }) =>
    client).values()].flatMap((own) => {
      const writes = own.filter(({ operation }) => /put|delete/.test(operation)).map(toItemWrite)
      return own.filter(({ operation, status }) =>
        operation === 'item.search' && status === 200
        || operation === 'item.get' && (status === 200 || status === 404)
      ).flatMap((call) => {
        const value = readItem(call)?.value?.token ?? null
        const allowed = allowedValues([null], writes, call)
        return allowed.includes(value)
          ? []
          : [{ message: `The item is ${value}; allowed: ${allowed}`, calls: [call] }]
      })
    })

interface Item {
  readonly key: string
  readonly value?: { readonly token: string }
}

/** The item of the client in a response. */
function readItem({ operation, client, response }: Call): Item | undefined {
  if (operation !== 'item.search') return (response ?? undefined) as Item | undefined
  return (response as { items: readonly Item[] }).items
    .find(({ key }) => key === `client-${client}`)
}

function toItemWrite(call: Call): Write {
  const isPut = call.operation === 'item.put'
  return { call, value: isPut ? (call.body as { value: { token: string } }).value.token : null }
}

type Metadata = Readonly<Record<string, string>>

const metadata: Rule<ThreadInHistory> = ({ thread: { calls, copy } }) => {
  const patches = calls.filter(({ operation }) => operation === 'thread.patch')
  const reads = calls.filter(({ operation, status }) =>
    operation === 'thread.get' && status === 200
  )
  return [...Map.groupBy(patches, ({ client }) => client)].flatMap(([client, own]) => {
    const field = `client-${client}`
    const writes = own.map((call) => (
      { call, value: (call.body as { metadata: Metadata }).metadata[field]! }
    ))
    return reads.flatMap((call) => {
      const value = (call.response as { metadata: Metadata }).metadata[field] ?? null
      // A copy has the metadata of its source at first.
      const allowed = allowedValues(copy ? [value] : [null], writes, call)
      return allowed.includes(value)
        ? []
        : [{ message: `${field} is ${value}; allowed: ${allowed}`, calls: [call] }]
    })
  })
}

/** Rules about the whole history. */
export const itemRules = { 'items have their last value': items }
/** Rules about a thread. */
export const metadataRules = { 'metadata have their last value': metadata }
