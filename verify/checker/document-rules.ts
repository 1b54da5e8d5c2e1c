/** Rules about documents that one client writes: examples, prompts, queue items and links. */

import type { Call } from '../history/history.ts'
import { isSuccess } from './history-index.ts'
import type { HistoryIndex } from './history-index.ts'
import { allowedValues } from './register-rules.ts'
import type { Rule } from './violation.ts'

/** How a kind of document is written and read. */
interface Kind {
  /** The value that an operation writes; null if it deletes it, undefined if it writes nothing. */
  readonly write: (call: Call) => string | null | undefined
  /** The value in a response; null if it has none, undefined if the operation reads nothing. */
  readonly read: (call: Call) => string | null | undefined
}

interface Content {
  readonly id?: string
  readonly inputs?: { readonly token: string }
  readonly manifest?: { readonly token: string }
}

/** Reads a value from a response; null if the document is not found. */
function readFound({ status, response }: Call, read: (content: Content) => string | undefined):
  | string
  | null
  | undefined {
  if (status === 404) return null
  return status === 200 ? read(response as Content) ?? null : undefined
}

const kinds: Readonly<Record<string, Kind>> = {
  example: {
    write: ({ operation, body }) => {
      if (operation === 'example.delete') return null
      return /create|update/.test(operation) ? (body as Content).inputs?.token : undefined
    },
    read: (call) => {
      if (call.operation === 'example.get') return readFound(call, ({ inputs }) => inputs?.token)
      if (call.operation !== 'example.list' || call.status !== 200) return undefined
      const example = (call.response as Content[]).find(({ id }) => id === call.documentId)
      return example?.inputs?.token ?? null
    },
  },
  prompt: {
    write: ({ operation, body }) => {
      if (operation === 'prompt.delete') return null
      return operation === 'prompt.commit' ? (body as Content).manifest?.token : undefined
    },
    read: (call) =>
      call.operation === 'prompt.pull'
        ? readFound(call, ({ manifest }) => manifest?.token)
        : undefined,
  },
  queue: {
    write: ({ operation, documentId }) => {
      if (operation === 'queue.remove' || operation === 'queue.delete') return null
      return operation === 'queue.add' ? documentId : undefined
    },
    read: (call) => {
      if (call.operation !== 'queue.list' || call.status !== 200) return undefined
      return (call.response as Content[]).find(({ id }) => id === call.documentId)?.id ?? null
    },
  },
  share: {
    write: ({ operation, response }) => {
      if (operation === 'share.delete') return null
      const { share_token: token } = (response ?? {}) as { share_token?: string }
      return operation === 'share.create' ? token ?? 'unknown' : undefined
    },
    read: (call) =>
      call.operation === 'share.read'
        ? readFound(call, () => call.path.split('/').at(-2))
        : undefined,
  },
}

/** A document has the value of the last write until it is deleted. */
function hasLastValue(name: string): Rule<HistoryIndex> {
  const { write, read } = kinds[name]!
  return (index) => {
    const own = index.calls.filter(({ operation, documentId }) =>
      documentId !== undefined && operation.startsWith(`${name}.`)
    )
    return [...Map.groupBy(own, toDocument)].flatMap(([id, calls]) => {
      const writes = calls.flatMap((call) => {
        const value = write(call)
        return value === undefined ? [] : [{ call, value }]
      })
      return calls.flatMap((call) => {
        const value = read(call)
        if (value === undefined || mayBeDeleted(index, call)) return []
        const allowed = allowedValues([null], writes, call)
        return allowed.includes(value)
          ? []
          : [{ message: `${name} ${id} is ${value}; allowed: ${allowed}`, calls: [call] }]
      })
    })
  }
}

/** A queue has an item of its own, also for a span that another queue has. */
function toDocument({ operation, path, documentId }: Call): string {
  const [, queue = ''] = /annotation-queues\/([^/]+)/.exec(path) ?? []
  return operation.startsWith('queue.') ? `${documentId} in ${queue}` : documentId!
}

/** True if the span that the document is about may be deleted when the call ends. */
function mayBeDeleted({ calls }: HistoryIndex, { documentId, endMs }: Call): boolean {
  const post = calls.find(({ spanId }) => spanId === documentId)
  return post !== undefined &&
    calls.some((call) =>
      /^(span|project)\.(delete|purge)$/.test(call.operation) && call.startMs <= endMs
      && (call.spanId === documentId || call.projectId === post.projectId)
    )
}

/** A link to a span shows that span. */
const shown: Rule<HistoryIndex> = ({ calls }) =>
  calls.filter(({ operation, status, response, documentId }) =>
    operation === 'share.read' && isSuccess(status) && (response as Content).id !== documentId
  ).map((call) => ({ message: `The link to ${call.documentId} shows another span`, calls: [call] }))

/** Rules about the whole history. */
export const documentRules = { 'examples have their last value': hasLastValue('example'),
  'prompts have their last commit': hasLastValue('prompt'),
  'queues have their items': hasLastValue('queue'),
  'links are valid until they are deleted': hasLastValue('share'), 'links show their span': shown }
