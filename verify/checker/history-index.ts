/** Index of a history: its calls by thread, run and token. Times are milliseconds. */

import type { Call, Effect, Entry, Fault, Tick, Webhook } from '../history/history.ts'
import { readSent, withOutcome } from './requests.ts'
import type { Sent } from './requests.ts'

/** A state of a thread that a client has read: its log, and an entry for each message. */
export interface StateRead {
  readonly call: Call
  readonly log: readonly string[]
}

/** A status of a run that a client has read; `gone` if the server did not know the run. */
export interface RunView {
  readonly call: Call
  readonly status: string
}

/** A request that started a run, with its task or with the answer to an interrupt. */
export interface RunStart extends Sent {
  readonly call: Call
}

export interface RunRecord {
  readonly id: string
  /** Undefined if the response to its start was lost. */
  readonly start?: RunStart
  readonly views: readonly RunView[]
}

export interface ThreadRecord {
  readonly id: string
  /** Path before `/threads`: empty, or `/d/<name>` for a deployment. */
  readonly base: string
  readonly calls: readonly Call[]
  readonly starts: readonly RunStart[]
  readonly reads: readonly StateRead[]
  readonly runs: ReadonlyMap<string, RunRecord>
  /** The call that created it. */
  readonly created: Call
  /** The same, if it made a copy. */
  readonly copy?: Call
  /** Responses to its deletion; without a status if the result is unknown. */
  readonly deletions: readonly Call[]
}

export interface HistoryIndex {
  readonly calls: readonly Call[]
  readonly faults: readonly Fault[]
  /** True if a clock may have jumped. Keys of effects may expire early then. */
  readonly hasWrongClocks: boolean
  readonly effects: readonly Effect[]
  readonly webhooks: readonly Webhook[]
  /** Runs that crons made. */
  readonly ticks: readonly Tick[]
  /** Milliseconds since 1970 at time 0 of the history; undefined if it is not in the history. */
  readonly wallMs?: number
  readonly threads: ReadonlyMap<string, ThreadRecord>
  /** End of the load; Infinity if the history was cut off. */
  readonly quietMs: number
}

const finalStatuses = new Set(['success', 'error', 'timeout', 'interrupted'])

/** True if a run with this status has ended. */
export function isFinal(status: string): boolean {
  return finalStatuses.has(status)
}

/** True for a 2xx; false if the connection broke. */
export function isSuccess(status: number | undefined): boolean {
  return status !== undefined && status >= 200 && status < 300
}

/** Indexes a history. */
export function indexHistory(entries: readonly Entry[]): HistoryIndex {
  const calls = entries.filter((entry) => entry.type === 'call').map(withOutcome)
    .toSorted((one, other) => one.startMs - other.startMs)
  const byThread = Map.groupBy(calls, ({ threadId }) => threadId ?? '')
  const start = entries.find((entry) => entry.type === 'start')
  const created = new Map(calls.filter(isCreation).map((call) => [createdId(call), call]))
  const faults = entries.filter((entry) => entry.type === 'fault')
  return {
    calls,
    faults,
    hasWrongClocks: faults.some(({ name }) => name === 'all' || name.startsWith('clock')),
    effects: entries.filter((entry) => entry.type === 'effect'),
    webhooks: entries.filter((entry) => entry.type === 'webhook'),
    ticks: entries.filter((entry) => entry.type === 'tick'),
    wallMs: start && start.wallMs - start.atMs,
    threads: new Map(
      [...created].map(([id, call]) => [id, toThread(id, call, byThread.get(id) ?? [])] as const),
    ),
    quietMs: entries.find((entry) => entry.type === 'quiet')?.atMs ?? Infinity,
  }
}

/** The path before `/threads`. */
export function baseOf({ path }: Call): string {
  return /^\/d\/[^/]+(?=\/threads\b)/.exec(path)?.[0] ?? ''
}

function isCopy({ operation, status }: Call): boolean {
  return operation === 'thread.copy' && status === 200
}

function isCreation(call: Call): boolean {
  return call.operation === 'thread.create' && call.status === 200 || isCopy(call)
}

function createdId({ response }: Call): string {
  return (response as { thread_id: string }).thread_id
}

function toThread(id: string, created: Call, calls: readonly Call[]): ThreadRecord {
  const starts = calls.flatMap(toStart)
  return {
    id,
    base: baseOf(created),
    calls,
    starts,
    reads: calls.flatMap(toRead),
    runs: toRuns(calls, starts),
    created,
    copy: isCopy(created) ? created : undefined,
    deletions: calls.filter(isDeletion),
  }
}

/** A deletion, or a prune that may have deleted the thread. */
function isDeletion({ operation, response }: Call): boolean {
  const { pruned_count: count = 1 } = (response ?? {}) as { pruned_count?: number }
  return operation === 'thread.delete' || operation === 'thread.remove' && count > 0
}

function toStart(call: Call): RunStart[] {
  const sent = readSent(call)
  return sent ? [{ call, ...sent }] : []
}

function toRead(call: Call): StateRead[] {
  const isCommand = call.operation === 'v2.state'
  if (!isCommand && !/^thread\.(state|get)$/.test(call.operation) || call.status !== 200) return []
  const { values } = (isCommand
    ? (call.response as { result: unknown }).result
    : call.response) as StateResponse
  const messages = values?.messages?.map(({ content }) => toEntry(content)) ?? []
  return [{ call, log: [...values?.log ?? [], ...messages] }]
}

/** The entry of a message. That of the graph is an entry already. */
function toEntry(content: string): string {
  return content.includes(':') ? content : `${content.split('/')[0]!}:message`
}

interface StateResponse {
  readonly values?: { readonly log?: string[]; readonly messages?: { content: string }[] } | null
}

function toRuns(calls: readonly Call[], starts: readonly RunStart[]) {
  // Of a request and its repetitions the first one counts.
  const startById = new Map(
    starts.toReversed()
      .flatMap((start) => start.call.runId === undefined ? [] : [[start.call.runId, start]]),
  )
  const views = Map.groupBy(calls.flatMap((call) => toViews(call, startById)), ({ id }) => id)
  const ids = new Set([...startById.keys(), ...views.keys()])
  return new Map([...ids].map((id) => [
    id,
    { id, start: startById.get(id), views: views.get(id)?.map(({ view }) => view) ?? [] },
  ]))
}

type ViewById = { readonly id: string; readonly view: RunView }

interface RunResponse {
  readonly run_id: string
  readonly status: string
}

function toViews(call: Call, starts: ReadonlyMap<string, RunStart>): ViewById[] {
  const { operation, status, response, path } = call
  if (operation === 'run.get') {
    const id = path.split('/').at(-1)!
    if (status === 404) return [{ id, view: { call, status: 'gone' } }]
    return status === 200
      ? [{ id, view: { call, status: (response as RunResponse).status } }]
      : []
  }
  if (operation !== 'run.list' || status !== 200) return []
  const listed = response as readonly RunResponse[]
  const seen = listed.map((run) => ({ id: run.run_id, view: { call, status: run.status } }))
  const limit = Number(new URLSearchParams(path.split('?')[1]).get('limit'))
  if (listed.length >= limit) return seen
  const missing = [...starts].filter(([id, start]) =>
    start.call.endMs < call.startMs && start.call.status === 200
    && !listed.some((run) => run.run_id === id)
  )
  return [...seen, ...missing.map(([id]) => ({ id, view: { call, status: 'gone' } }))]
}
