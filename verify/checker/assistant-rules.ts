/** Rules about the assistants of clients, and about their versions in runs. */

import type { Call } from '../history/history.ts'
import { isSuccess } from './history-index.ts'
import type { HistoryIndex } from './history-index.ts'
import { allowedValues } from './register-rules.ts'
import { isBefore } from './state-rules.ts'
import type { ThreadInHistory } from './state-rules.ts'
import type { Rule } from './violation.ts'

/** An assistant, as its client changed it. */
interface AssistantRecord {
  readonly id: string
  readonly created: Call
  readonly calls: readonly Call[]
  /** Changes of the latest version, with the token of the version. */
  readonly writes: readonly { readonly call: Call; readonly value: string }[]
}

interface Version {
  readonly version?: number
  readonly config?: { readonly configurable?: { readonly version?: string } }
}

function assistantsOf({ calls }: HistoryIndex): readonly AssistantRecord[] {
  const own = Map.groupBy(calls, ({ assistantId }) => assistantId)
  return calls.filter(({ operation, status }) => operation === 'assistant.create' && status === 200)
    .map((created) => {
      const { assistant_id: id } = created.response as { assistant_id: string }
      const ofAssistant = own.get(id) ?? []
      return { id, created, calls: ofAssistant, writes: toWrites([created, ...ofAssistant]) }
    })
}

function toWrites(calls: readonly Call[]): AssistantRecord['writes'] {
  const tokens = new Map<number, string>()
  return calls.flatMap((call) => {
    const { operation, status, body, response } = call
    if (operation === 'assistant.latest') {
      const value = tokens.get((body as { version: number }).version)
      return value === undefined ? [] : [{ call, value }]
    }
    if (operation !== 'assistant.create' && operation !== 'assistant.update') return []
    const value = tokenOf(body as Version)!
    if (status === 200) tokens.set((response as Version).version!, value)
    return [{ call, value }]
  })
}

function tokenOf({ config }: Version): string | undefined {
  return config?.configurable?.version
}

function deletionOf({ calls }: AssistantRecord): Call | undefined {
  return calls.find(({ operation }) => operation === 'assistant.delete')
}

/** A read of an assistant has the version that was made the latest last. */
const latest: Rule<HistoryIndex> = (index) =>
  assistantsOf(index).flatMap(({ id, calls, writes }) =>
    calls.filter(({ operation, status }) => operation === 'assistant.get' && status === 200)
      .flatMap((call) => {
        const found = tokenOf(call.response as Version) ?? null
        const allowed = allowedValues([null], writes, call)
        return allowed.includes(found)
          ? []
          : [{ message: `Assistant ${id} has ${found}; allowed: ${allowed}`, calls: [call] }]
      })
  )

/** The list of versions has each number once, and each version that was acknowledged. */
const listed: Rule<HistoryIndex> = (index) =>
  assistantsOf(index).flatMap(({ id, created, calls }) =>
    calls.filter(({ operation, status }) => operation === 'assistant.versions' && status === 200)
      .flatMap((call) => {
        const versions = call.response as readonly Version[]
        const found = new Map(versions.map((version) => [version.version, tokenOf(version)]))
        const missing = [created, ...calls].find((made) =>
          /^assistant\.(create|update)$/.test(made.operation) && made.status === 200
          && isBefore(made, call)
          && found.get((made.response as Version).version) !== tokenOf(made.body as Version)
        )
        if (missing === undefined && found.size === versions.length) return []
        return [{ message: `Versions of ${id}: ${JSON.stringify([...found])}`,
          calls: [...missing ? [missing] : [], call] }]
      })
  )

/** An assistant exists until its client deletes it, and then neither exists nor runs. */
const lives: Rule<HistoryIndex> = (index) =>
  assistantsOf(index).flatMap((assistant) => {
    const deletion = deletionOf(assistant)
    return assistant.calls.filter(({ operation }) => operation !== 'assistant.delete')
      .flatMap((call) => {
        const isGone = deletion && isSuccess(deletion.status) && isBefore(deletion, call)
        const mayBeGone = deletion && deletion.startMs <= call.endMs
        if (isGone && isSuccess(call.status)) {
          return [{
            message: `Assistant ${assistant.id} was deleted and ${call.operation} succeeded`,
            calls: [deletion, call],
          }]
        }
        return !mayBeGone && call.status === 404
          ? [{ message: `Assistant ${assistant.id} is not known`, calls: [call] }]
          : []
      })
  })

/** A run has the version that was the latest when the run was created. */
const used: Rule<ThreadInHistory> = ({ index, thread }) => {
  const assistants = new Map(assistantsOf(index).map((assistant) => [assistant.id, assistant]))
  const starts = new Map(thread.starts.toReversed().map((start) => [start.token, start]))
  return thread.reads.flatMap(({ call: read, log }) =>
    log.filter((entry) => entry.includes(':by:')).flatMap((entry) => {
      const [token = '', , version = ''] = entry.split(':')
      const start = starts.get(token)
      // A fork has the assistant of the run before.
      if (start?.assistantId === undefined) return []
      const { assistantId = '', call } = start
      const allowed = allowedValues([null], assistants.get(assistantId)?.writes ?? [], call)
      return allowed.includes(version) ? [] : [{
        message: `${token} has version ${version}; allowed: ${allowed}`,
        calls: [call, read],
      }]
    })
  )
}

/** Rules about the whole history. */
export const assistantRules = { 'assistants have their latest version': latest,
  'versions are listed': listed, 'deleted assistants stay deleted': lives }
/** Rules about a thread. */
export const versionRules = { 'runs have the latest version': used }
