/** Rules about the state of a thread: which entries its log may, must and must not contain. */

import type { Call } from '../history/history.ts'
import { isFinal } from './history-index.ts'
import type { HistoryIndex, RunRecord, RunStart, StateRead, ThreadRecord } from './history-index.ts'
import type { Rule } from './violation.ts'

/** A thread within the history. */
export interface ThreadInHistory {
  readonly index: HistoryIndex
  readonly thread: ThreadRecord
}

/** True if the one call had ended before the other one started. */
export function isBefore(one: Call, other: Call): boolean {
  return one.endMs <= other.startMs
}

/** The call in which a client first saw the run succeed. */
function successOf(run: RunRecord): Call | undefined {
  return run.views.find(({ status }) => status === 'success')?.call
}

/** Entries that a run leaves in the log if it succeeds. */
function entriesOf({ token, action }: RunStart, index: HistoryIndex): readonly string[] {
  if (action === 'answer' || action === 'input') return []
  return mayAsk(action, index) ? [`${token}:in`] : [`${token}:in`, `${token}:out`]
}

/** True if a run may succeed with an open interrupt, which may never be answered. */
function mayAsk(action: string, { hasWrongClocks }: HistoryIndex): boolean {
  // A charge whose key has expired asks whether it was done.
  return action === 'ask' || action === 'mail' || action === 'charge' && hasWrongClocks
}

const tokenOf = (entry: string) => entry.split(':')[0]!

/** No entry is in the log twice: no message is doubled, and no question has two answers. */
const once: Rule<ThreadInHistory> = ({ thread: { reads } }) =>
  reads.flatMap(({ call, log }) => {
    const slots = log.map((entry) => entry.split(':').slice(0, 2).join(':'))
    const doubled = slots.filter((slot, index) => slots.indexOf(slot) !== index)
    return doubled.length === 0 ? [] : [{ message: `In the log twice: ${doubled}`, calls: [call] }]
  })

/** Every entry follows from a request to this thread, or was copied with it. */
const explained: Rule<ThreadInHistory> = ({ index, thread }) =>
  thread.reads.flatMap(({ call, log }) => {
    const tokens = sentTokens(index, thread, call.endMs)
    const foreign = log.filter((entry) => !tokens.has(tokenOf(entry)))
    return foreign.length === 0
      ? []
      : [{ message: `No request explains ${foreign}`, calls: [call] }]
  })

/** Tokens sent to a thread, or to the source of a copy before the copy, until a time. */
function sentTokens(index: HistoryIndex, thread: ThreadRecord,
  untilMs: number): ReadonlySet<string> {
  const source = thread.copy && index.threads.get(thread.copy.threadId!)
  const inherited = source ? sentTokens(index, source, Math.min(untilMs, thread.copy!.endMs)) : []
  const started = thread.starts
    .filter(({ call }) => call.startMs <= untilMs && !isRefused(call))
    .map(({ token }) => token)
  const updated = thread.calls
    .filter((call) => isUpdate(call) && call.startMs <= untilMs && !isRefused(call))
    .flatMap(updateEntries).map(tokenOf)
  const injected = thread.calls.filter(({ startMs }) => startMs <= untilMs).flatMap(injectedTokens)
  return new Set([...inherited, ...started, ...updated, ...injected])
}

/** True if the server has not executed the request, because it is wrong or above a limit. */
function isRefused({ status = 0 }: Call): boolean {
  return [400, 409, 422, 429, 507].includes(status)
}

function injectedTokens({ operation, body }: Call): readonly string[] {
  if (operation !== 'run.inject') return []
  return [(body as InjectBody).params.message.content]
}

interface InjectBody {
  readonly params: { readonly message: { readonly content: string } }
}

function isUpdate({ operation }: Call): boolean {
  return operation === 'state.update' || operation === 'thread.fork'
}

function updateEntries({ body }: Call): readonly string[] {
  return (body as { values: { log: string[] } }).values.log
}

/** A run that succeeded, and an update that was acknowledged, are in every later state. */
const kept: Rule<ThreadInHistory> = ({ index, thread }) =>
  keptEntries(index, thread).flatMap(({ entry, fromMs, call: since }) => {
    const read = thread.reads.find(({ call, log }) =>
      isBefore(since, call) && !log.includes(entry) && !mayFork(thread, fromMs, call.endMs)
    )
    return read ? [{ message: `${entry} is not in the state`, calls: [since, read.call] }] : []
  })

/** True if the thread may have gone back to an earlier checkpoint in this time. */
export function mayFork(thread: ThreadRecord, fromMs: number, untilMs: number): boolean {
  return thread.calls.some((call) =>
    isFork(call) && (call.status ?? 0) < 400 && call.startMs <= untilMs
    && forkEndMs(thread, call) >= fromMs
  )
}

function isFork({ operation }: Call): boolean {
  return operation === 'thread.fork' || operation === 'v2.fork'
}

/** The latest time of a fork. That of a run takes effect when the run starts. */
function forkEndMs({ runs }: ThreadRecord, { operation, endMs, runId = '' }: Call): number {
  if (operation === 'thread.fork') return endMs
  const ended = runs.get(runId)?.views.find(({ status }) => isFinal(status) || status === 'gone')
  return ended?.call.endMs ?? Infinity
}

interface KeptEntry {
  readonly entry: string
  /** The earliest time at which it may have been written. */
  readonly fromMs: number
  /** The call that acknowledged it. */
  readonly call: Call
}

function keptEntries(index: HistoryIndex, thread: ThreadRecord): readonly KeptEntry[] {
  const source = thread.copy && index.threads.get(thread.copy.threadId!)
  const inherited = source
    ? keptEntries(index, source).filter(({ call, fromMs }) =>
      isBefore(call, thread.copy!) && !mayFork(source, fromMs, thread.copy!.endMs)
    )
    : []
  const ofRuns = [...thread.runs.values()].flatMap((run) => {
    const call = successOf(run)
    if (call === undefined || run.start === undefined) return []
    const fromMs = run.start.call.startMs
    return entriesOf(run.start, index).map((entry) => ({ entry, fromMs, call }))
  })
  const ofUpdates = thread.calls
    .filter((call) => isUpdate(call) && call.status === 200)
    .flatMap((call) => updateEntries(call).map((entry) => ({ entry, fromMs: call.startMs, call })))
  return [...inherited, ...ofRuns, ...ofUpdates]
}

/** Entries stay in every later state, unless the thread goes back or their run is rolled back. */
const monotone: Rule<ThreadInHistory> = ({ thread }) => {
  const injected = new Set(thread.calls.flatMap(injectedTokens))
  return thread.reads.flatMap((earlier, index) => {
    const later = thread.reads.slice(index + 1).find(({ call }) => isBefore(earlier.call, call))
    if (!later || mayFork(thread, earlier.call.startMs, later.call.endMs)) return []
    // Other entries may be of the run that answers, which may be rolled back alone.
    const lost = earlier.log.filter((entry) =>
      /:(in|by|update)/.test(entry)
      && !later.log.includes(entry) && !injected.has(tokenOf(entry))
      && !mayBeRolledBack(thread, tokenOf(entry), later.call)
    )
    return lost.length === 0
      ? []
      : [{ message: `The state has lost ${lost}`, calls: [earlier.call, later.call] }]
  })
}

/** True if a request may have rolled back the run of the token before the call ended. */
function mayBeRolledBack(thread: ThreadRecord, token: string, { endMs }: Call): boolean {
  const starts = thread.starts.filter((start) => start.token === token)
  if (starts.length === 0) return false
  const id = starts.find(({ call }) => call.runId !== undefined)?.call.runId
  const run = id === undefined ? undefined : thread.runs.get(id)
  if (id === undefined || run === undefined || isRunDeleted(thread, id)) return true
  const ended = run.views.find(({ status }) => isFinal(status))?.call
  return thread.calls.some((call) =>
    isRollback(call) && call.startMs <= endMs && !(ended && isBefore(ended, call))
    && (!call.operation.endsWith('.cancel') || isAboutRun(call, id))
  )
}

/** A run that was rolled back has left nothing in any later state. */
const rolledBack: Rule<ThreadInHistory> = ({ thread }) =>
  [...thread.runs.values()].flatMap(({ id, start, views }) => {
    const gone = views.find(({ status }) => status === 'gone')?.call
    if (!gone || !start || isRunDeleted(thread, id)) return []
    const read = thread.reads.find(({ call, log }) =>
      isBefore(gone, call) && log.some((entry) => entry.split(':').includes(start.token))
    )
    return read
      ? [{ message: `${start.token} was rolled back and is in the state`,
        calls: [gone, read.call] }]
      : []
  })

/** Runs that were acknowledged one after the other have their entries in this order. */
const ordered: Rule<ThreadInHistory> = ({ thread }) => {
  const read = thread.reads.at(-1)
  if (read === undefined) return []
  // A run may have been created by a repetition of its request; a delayed run starts later.
  const unordered = new Set(
    thread.starts.filter(({ call }) => /\.(repeat|delay)$/.test(call.operation))
      .map(({ token }) => token),
  )
  const placed = thread.starts.filter(({ token }) => !unordered.has(token))
    .map((start) => ({ start, index: read.log.indexOf(`${start.token}:in`) }))
    .filter(({ start, index }) => index >= 0 && start.call.status === 200)
  return placed.flatMap((one) =>
    placed
      .filter((other) => isBefore(one.start.call, other.start.call) && one.index > other.index)
      .map((other) => ({
        message: `${one.start.token} was sent before ${other.start.token} and is after it`,
        calls: [one.start.call, other.start.call, read.call],
      }))
  )
}

/** An answer is stored for its own question, and a question has one answer. */
const answers: Rule<ThreadInHistory> = ({ index, thread }) =>
  thread.reads.flatMap(({ call, log }) =>
    log.filter((entry) => entry.includes(':answer:')).flatMap((entry) => {
      const [question, , answer] = entry.split(':')
      const start = findAnswer(index, thread, answer!)
      if (start?.question === undefined || start.question === question) return []
      return [{ message: `${entry} answers another question`, calls: [start.call, call] }]
    })
  )

function findAnswer(index: HistoryIndex, thread: ThreadRecord, token: string):
  | RunStart
  | undefined {
  const own = thread.starts.find((start) => start.token === token)
  const source = thread.copy && index.threads.get(thread.copy.threadId!)
  return own ?? (source && findAnswer(index, source, token))
}

/** An interrupt whose answer is in the state is shown nowhere. */
const answered: Rule<ThreadInHistory> = ({ thread }) =>
  thread.calls.filter(({ operation, status }) => operation === 'thread.get' && status === 200)
    .flatMap((call) => {
      const { interrupts } = call.response as { interrupts?: Record<string, { value?: unknown }[]> }
      return Object.values(interrupts ?? {}).flat().flatMap(({ value }) => {
        const question = (value as { token?: string } | undefined)?.token
        const read = thread.reads.find(({ call: earlier, log }) =>
          isBefore(earlier, call) && log.some((entry) => entry.startsWith(`${question}:answer:`))
        )
        if (question === undefined || !read || mayRollBack(thread, read)) return []
        return [{ message: `${question} is answered and shown`, calls: [read.call, call] }]
      })
    })

/** True if a rollback may have taken back what was read. */
function mayRollBack(thread: ThreadRecord, { call: { startMs } }: StateRead): boolean {
  return mayFork(thread, startMs, Infinity) ||
    thread.calls.some((call) => isRollback(call) && call.endMs > startMs)
}

/** True for a request that may roll a run back. */
export function isRollback({ operation, path, body }: Call): boolean {
  if (operation.endsWith('.cancel')) return path.includes('action=rollback')
  const { multitask_strategy: strategy, params } = (body ?? {}) as StrategyBody
  return (strategy ?? params?.multitask_strategy) === 'rollback'
}

interface StrategyBody {
  readonly multitask_strategy?: string
  readonly params?: StrategyBody
}

/** A status is final: a run that has ended keeps its status, and is not forgotten. */
const final: Rule<ThreadInHistory> = ({ thread }) =>
  [...thread.runs.values()].flatMap(({ id, views }) => {
    const ended = views.find(({ status }) => isFinal(status))
    const changed = ended &&
      views.find(({ call, status }) =>
        isBefore(ended.call, call) && status !== ended.status
        && !(status === 'gone' && (isDeleted(thread, call) || isRunDeleted(thread, id)))
      )
    if (!changed) return []
    const message = `Run ${id} changed from ${ended.status} to ${changed.status}`
    return [{ message, calls: [ended.call, changed.call] }]
  })

/** A run that was acknowledged is known until it is rolled back. */
const known: Rule<ThreadInHistory> = ({ thread }) =>
  [...thread.runs.values()].flatMap(({ id, start, views }) => {
    const gone = views.find(({ status }) => status === 'gone')?.call
    if (gone === undefined || start === undefined || isDeleted(thread, gone)) return []
    const isRolledBack = thread.calls.some((call) =>
      isRollback(call) && call.startMs <= gone.endMs
      && (!call.operation.endsWith('.cancel') || isAboutRun(call, id))
    )
    return isRolledBack || isRunDeleted(thread, id)
      ? []
      : [{ message: `Run ${id} is not known`, calls: [start.call, gone] }]
  })

function isAboutRun({ path, body }: Call, runId: string): boolean {
  const { run_ids: ids = [] } = (body ?? {}) as { run_ids?: readonly string[] }
  return path.includes(runId) || ids.includes(runId)
}

/** True if a client wanted to delete the run at any time. */
export function isRunDeleted({ calls }: ThreadRecord, runId: string): boolean {
  return calls.some((call) => call.operation === 'run.delete' && isAboutRun(call, runId))
}

/** True if the thread may be deleted when the call ends. */
export function isDeleted({ deletions }: ThreadRecord, call: Call): boolean {
  return deletions.some(({ startMs }) => startMs <= call.endMs)
}

/** After the load each run has ended. */
const ended: Rule<ThreadInHistory> = ({ index, thread }) =>
  [...thread.runs.values()].flatMap(({ id, views }) => {
    const last = views.findLast(({ call }) => call.startMs >= index.quietMs)
    if (last === undefined || isFinal(last.status) || last.status === 'gone') return []
    return [{ message: `Run ${id} is ${last.status} after the load`, calls: [last.call] }]
  })

export const threadRules = { 'in the log once': once, 'explained by a request': explained,
  'kept': kept, 'state never goes backwards': monotone, 'rollback leaves nothing': rolledBack,
  'in order': ordered, 'answers its question': answers, 'answered interrupts are closed': answered,
  'status is final': final, 'runs are known': known, 'runs end': ended }
