/** A round: load with faults, then quiet, then a read of everything. */

import { setTimeout as pause } from 'node:timers/promises'

import { Chance } from '../test/simulation/chance.ts'
import { findMissingTicks } from './checker/cron-rules.ts'
import { indexHistory } from './checker/history-index.ts'
import { findUndelivered } from './checker/run-rules.ts'
import { deleteEverything, readUsage } from './deletions.ts'
import type { HistoryWriter } from './history/history.ts'
import type { PairTable } from './pairs.ts'
import type { Target } from './targets/target.ts'
import { runClients } from './workload/clients.ts'
import { offeredOperations } from './workload/operations.ts'
import { readReplay } from './workload/replay-operations.ts'
import { lastReader, Session } from './workload/session.ts'

export interface RoundOptions {
  readonly target: Target
  readonly receiverUrl: string
  readonly name: string
  readonly seed: number
  readonly clients: number
  readonly history: HistoryWriter
  /** Pairs of operations that met in earlier rounds. Default: none. */
  readonly pairs?: PairTable
}

/** Time for webhooks of runs that have ended to be delivered. */
const webhooksMs = 30_000
/** Time for open calls, and then for unfinished runs, to end. */
const quietMs = 60_000
const pageSize = 100
/** Delay between two looks at a replay, in milliseconds. */
const pollMs = 500

/** Runs a round. Its history ends with the entry `quiet` and the last reads. */
export async function runRound(options: RoundOptions): Promise<void> {
  const { target, receiverUrl, name, seed, clients, history, pairs } = options
  const { loadMs } = target
  const session = new Session({ ...target, receiverUrl, name, history, pairs })
  history.add({ type: 'start', wallMs: Date.now(), atMs: history.nowMs() })
  await readUsage(session, AbortSignal.timeout(quietMs))
  const stopped = AbortSignal.timeout(loadMs)
  const aborted = AbortSignal.timeout(loadMs + quietMs)
  await Promise.all([
    runClients({ session, operations: offeredOperations(session), count: clients, seed, stopped,
      aborted }),
    injectFaults(target, history, { chance: new Chance(seed), stopped }),
  ])
  await waitForRuns(session, AbortSignal.timeout(quietMs))
  await waitForReplays(session, AbortSignal.timeout(quietMs))
  history.add({ type: 'quiet', atMs: history.nowMs() })
  await readEverything(session, AbortSignal.timeout(quietMs))
  await waitForWebhooks(history)
  await deleteEverything(session, AbortSignal.timeout(quietMs))
}

interface FaultOptions {
  readonly chance: Chance
  readonly stopped: AbortSignal
}

/** Injects faults at random times until the load stops. */
async function injectFaults(target: Target, history: HistoryWriter,
  { chance, stopped }: FaultOptions): Promise<void> {
  for (;;) {
    await pause(chance.between(0.1, 0.5) * target.loadMs)
    if (stopped.aborted) return
    const faults = Object.entries(target.faults)
    if (faults.length === 0) return
    const [name, inject] = chance.pick(faults)
    const startMs = history.nowMs()
    await inject()
    history.add({ type: 'fault', name, startMs, endMs: history.nowMs() })
  }
}

/** Resolves when no thread of the session is busy, or when the signal is aborted. */
async function waitForRuns(session: Session, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const found = await Promise.all(
      session.bases.map((base) =>
        search(session, base, { body: { status: 'busy', offset: 0 }, signal })
      ),
    )
    if (found.every(({ status, response }) => status === 200 && isEmpty(response))) return
    await pause(100)
  }
}

/** Resolves when all replays have ended, or when the signal is aborted. */
async function waitForReplays(session: Session, signal: AbortSignal): Promise<void> {
  const caller = { session, client: { number: lastReader, signal } }
  for (const id of session.replays) {
    while (!signal.aborted && await readReplay(caller, id) === 'running') await pause(pollMs)
  }
}

/** Resolves when the webhooks of all runs, also of crons, were delivered, or after a limit. */
async function waitForWebhooks({ entries }: HistoryWriter): Promise<void> {
  const endMs = performance.now() + webhooksMs
  while (performance.now() < endMs) {
    const index = indexHistory(entries)
    if (findUndelivered(index).length + findMissingTicks(index).length === 0) return
    await pause(500)
  }
}

function isEmpty(response: unknown): boolean {
  return Array.isArray(response) && response.length === 0
}

interface SearchOptions {
  readonly body: object
  readonly signal: AbortSignal
}

function search(session: Session, base: string, { body, signal }: SearchOptions) {
  return session.call(lastReader, {
    operation: 'thread.search',
    method: 'POST',
    path: `${base}/threads/search`,
    body: { metadata: { verify: session.name }, limit: pageSize, ...body },
  }, signal)
}

/** Reads each thread that was ever created, its state and its runs. */
export async function readEverything(session: Session, signal: AbortSignal): Promise<void> {
  for (const base of session.bases) await listThreads(session, base, signal)
  for (const id of session.replays) {
    await readReplay({ session, client: { number: lastReader, signal } }, id)
  }
  for (const [threadId, thread] of indexHistory(session.history.entries).threads) {
    for (const run of session.offers('trace.get') ? thread.runs.keys() : []) {
      await session.call(lastReader, { operation: 'trace.get', threadId, method: 'GET',
        path: `${thread.base}/api/v1/runs/${run}` }, signal)
    }
    for (const [operation, suffix] of [['thread.get', ''], ['thread.state', '/state'], ['run.list',
      '/runs?limit=1000']] as const) {
      await session.call(lastReader, { operation, threadId, method: 'GET',
        path: `${thread.base}/threads/${threadId}${suffix}` }, signal)
    }
  }
}

/** Lists and counts the threads of the server's own project, or of the deployment. */
async function listThreads(session: Session, base: string, signal: AbortSignal): Promise<void> {
  for (let offset = 0;; offset += pageSize) {
    const { response } = await search(session, base, { body: { offset, sort_by: 'thread_id' },
      signal })
    if (!Array.isArray(response) || response.length < pageSize) break
  }
  if (!session.offers('thread.count')) return
  await session.call(lastReader, {
    operation: 'thread.count',
    method: 'POST',
    path: `${base}/threads/count`,
    body: { metadata: { verify: session.name } },
  }, signal)
}
