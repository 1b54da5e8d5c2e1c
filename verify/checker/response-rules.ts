/** Rules about responses, the life of threads, lists, items of the store and effects. */

import type { Call } from '../history/history.ts'
import { baseOf, isSuccess } from './history-index.ts'
import type { HistoryIndex, ThreadRecord } from './history-index.ts'
import { isBefore, isDeleted } from './state-rules.ts'
import type { ThreadInHistory } from './state-rules.ts'
import type { Rule } from './violation.ts'

/** Time after a fault in which responses may still fail. */
const recoveryMs = 2_000

function isDuringFault({ faults }: HistoryIndex, call: Call): boolean {
  return faults.some(({ startMs, endMs }) =>
    call.startMs <= endMs + recoveryMs && call.endMs >= startMs
  )
}

/** A request fails without a fault neither by the connection nor with a 5xx. */
const available: Rule<HistoryIndex> = (index) =>
  index.calls
    .filter((call) =>
      (call.status === undefined || call.status >= 500) && !isDuringFault(index, call)
    )
    .map((call) => ({
      message: `${call.operation} failed with ${call.status ?? 'a broken connection'}`,
      calls: [call],
    }))

/** A 5xx is 503 only: the server knows each other failure. */
const known: Rule<HistoryIndex> = ({ calls }) =>
  calls.filter(({ status = 0 }) => status >= 500 && status !== 503)
    .map((call) => ({ message: `${call.operation} returned ${call.status}`, calls: [call] }))

/** A wrong request is rejected. That it has no effect follows from the rules about the state. */
const rejected: Rule<HistoryIndex> = ({ calls }) =>
  calls.filter(({ operation, status }) => operation.startsWith('wrong.') && status! < 400)
    .map((call) => ({ message: `${call.operation} returned ${call.status}`, calls: [call] }))

/** The pages of the searches for all threads after the load, by the path before `/threads`. */
function lastSearches({ calls, quietMs }: HistoryIndex): ReadonlyMap<string, readonly Call[]> {
  return Map.groupBy(
    calls.filter(({ operation, startMs, body, status }) =>
      operation === 'thread.search' && startMs >= quietMs && status === 200
      && (body as { sort_by?: string }).sort_by !== undefined
    ),
    baseOf,
  )
}

/** All pages of each search for all threads, during the load and after it. */
function fullSearches(index: HistoryIndex): readonly (readonly Call[])[] {
  const single = index.calls.filter(({ operation, status, body, startMs }) =>
    operation === 'thread.search' && status === 200 && startMs < index.quietMs
    && (body as { status?: string }).status === undefined
  )
  return [...lastSearches(index).values(), ...single.map((call) => [call])]
}

/** A search finds each thread that exists, and none that was deleted. */
const found: Rule<HistoryIndex> = (index) =>
  fullSearches(index).flatMap((pages) => {
    const [first, last] = [pages[0]!, pages.at(-1)!]
    const ids = new Set(pages.flatMap(({ response }) =>
      (response as { thread_id: string }[]).map(({ thread_id: id }) => id)
    ))
    const threads = [...index.threads.values()].filter(({ base }) =>
      base === baseOf(first)
    )
    return threads.flatMap((thread) => {
      const isListed = ids.has(thread.id)
      const isMissing = !isListed && isBefore(thread.created, first) && !isDeleted(thread, last)
      const isKept = isListed &&
        thread.deletions.some((deletion) => isSuccess(deletion.status) && isBefore(deletion, first))
      const message = isMissing
        ? `Thread ${thread.id} is not found`
        : `Thread ${thread.id} was deleted and is found`
      return isMissing || isKept ? [{ message, calls: pages }] : []
    })
  })

/** The count after the load is the number of threads that were found. */
const counted: Rule<HistoryIndex> = (index) => {
  const searches = lastSearches(index)
  const counts = index.calls.filter(({ operation, startMs, status }) =>
    operation === 'thread.count' && startMs >= index.quietMs && status === 200
  )
  return counts.flatMap((count) => {
    const pages = searches.get(baseOf(count)) ?? []
    const listed = pages.reduce((sum, { response }) => sum + (response as unknown[]).length, 0)
    return count.response === listed
      ? []
      : [{ message: `${listed} threads are found, ${count.response} counted`, calls: [count] }]
  })
}

/** Repetitions of a charge have the same key, and no other charge has it. */
const charges: Rule<HistoryIndex> = ({ effects }) => {
  const all = effects.filter(({ name }) => name === 'charge')
  const keys = Map.groupBy(all, ({ token }) => token)
  const tokens = Map.groupBy(all, ({ key }) => key)
  return [...keys, ...tokens].flatMap(([, same]) => {
    const [first] = same
    const other = same.find(({ key, token }) => key !== first!.key || token !== first!.token)
    const message = `Charges of ${first!.token} and ${other?.token}: ${first!.key}, ${other?.key}`
    return other ? [{ message, calls: [] }] : []
  })
}

/** A mail is sent once: no client of the workload decides that it is sent again. */
const mails: Rule<HistoryIndex> = ({ effects }) =>
  [...Map.groupBy(effects.filter(({ name }) => name === 'mail'), ({ token }) => token)]
    .filter(([, sent]) => sent.length > 1)
    .map(([token, sent]) => ({ message: `Mail ${token} was sent ${sent.length} times`, calls: [] }))

/** The result of an effect that is in a state is not computed again. */
const stored: Rule<HistoryIndex> = ({ effects, threads }) => {
  const reads = [...threads.values()].flatMap(({ reads: ofThread }) => ofThread)
  const firstRead = new Map<string, Call>()
  for (const { call, log } of reads) {
    for (const entry of log.filter((each) => each.includes(':receipt:'))) {
      const token = entry.split(':')[0]!
      const { endMs = Infinity } = firstRead.get(token) ?? {}
      if (call.endMs < endMs) firstRead.set(token, call)
    }
  }
  return effects.flatMap(({ name, token, atMs }) => {
    const read = firstRead.get(token)
    return read && atMs > read.endMs
      ? [{ message: `The ${name} of ${token} was repeated after its result was stored`,
        calls: [read] }]
      : []
  })
}

/** A refusal because of a limit names the time of the next try. */
const limited: Rule<HistoryIndex> = ({ calls }) =>
  calls.filter(({ status, retryAfter }) => status === 429 && retryAfter === undefined)
    .map((call) => ({ message: `${call.operation} was refused without Retry-After`,
      calls: [call] })
    )

export const historyRules = { 'refusals name the next try': limited,
  'available without faults': available, 'no 5xx but 503': known,
  'wrong requests are rejected': rejected, 'threads are found': found, 'counts agree': counted,
  'charges keep their key': charges, 'mails are sent once': mails,
  'stored results are not computed again': stored }

/** A thread exists until a client deletes it. */
const exists: Rule<ThreadInHistory> = ({ thread }) =>
  onThread(thread)
    .filter((call) => call.status === 404 && !isAboutRun(call) && !isDeleted(thread, call))
    .map((call) => ({ message: `Thread ${thread.id} is not known`, calls: [call] }))

/** A thread that was deleted stays deleted. */
const deleted: Rule<ThreadInHistory> = ({ thread }) => {
  const deletion = thread.deletions.find(({ status }) => isSuccess(status))
  if (deletion === undefined) return []
  return onThread(thread)
    .filter((call) => isBefore(deletion, call) && isSuccess(call.status))
    .map((call) => ({
      message: `Thread ${thread.id} was deleted and ${call.operation} returned ${call.status}`,
      calls: [deletion, call],
    }))
}

/** True if the 404 is about the run, which was rolled back meanwhile, or about its assistant. */
function isAboutRun({ response }: Call): boolean {
  const { detail = '' } = (response ?? {}) as { detail?: string }
  return /^(Run|Assistant) /.test(detail)
}

/** Calls that return 404 only if the thread does not exist. */
function onThread({ calls }: ThreadRecord): readonly Call[] {
  return calls.filter(({ operation }) =>
    !/^(wrong|foreign)\./.test(operation) &&
    !/^(runs?\.(get|join|cancel|follow|delete)|thread\.(fork|prune|remove)|trace\.get|v2\.events)$/
      .test(
        operation,
      )
  )
}

/** The response of a waiting run contains the entries that the run has left in the state. */
const agrees: Rule<ThreadInHistory> = ({ thread }) =>
  [...thread.runs.values()].flatMap(({ start, views }) => {
    const succeeded = views.find(({ status }) => status === 'success')
    if (!start || !succeeded || start.call.operation !== 'run.wait' || start.call.status !== 200) {
      return []
    }
    const { log = [] } = start.call.response as { log?: string[] }
    return start.action === 'answer' || log.includes(`${start.token}:in`)
      ? []
      : [{ message: `The response lacks ${start.token}`, calls: [start.call, succeeded.call] }]
  })

export const threadLifeRules = { 'threads exist': exists, 'deleted stays deleted': deleted,
  'wait and state agree': agrees }
