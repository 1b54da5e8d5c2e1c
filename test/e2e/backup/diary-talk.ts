/** Clients of threads, who know at each moment what must be in a backup that begins then. */

import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { Client, Run } from '@langchain/langgraph-sdk'

import { faultsOf } from '../cluster/history.ts'
import type { Attempt, Execution } from '../cluster/history.ts'

/** What a client saw of a run, and when it learned of its id. */
interface Timed extends Attempt {
  acceptedMs: number
  endedMs: number
}

/** A thread, and all that its client did there. */
export interface Talk {
  readonly threadId: string
  readonly attempts: Timed[]
}

/** Supersteps of each run. */
const steps = 4

/** Starts one run after the other on a thread, until that is stopped. */
export async function speak(client: Client, { threadId, attempts }: Talk, file: string,
  stopped: AbortSignal): Promise<void> {
  while (!stopped.aborted) {
    const word = randomUUID()
    const attempt: Timed = { word, strategy: 'enqueue', act: attempts.length, answer: 'unknown',
      seen: [], followed: false, acceptedMs: Infinity, endedMs: Infinity }
    attempts.push(attempt)
    const stream = client.runs.stream(threadId, 'diary', {
      input: { file, thread: threadId, word, steps, pauseMs: 5 },
      metadata: { word },
      streamMode: 'updates',
      multitaskStrategy: 'enqueue',
      onRunCreated: ({ run_id: runId }) =>
        Object.assign(attempt, { runId, answer: 'accepted', acceptedMs: Date.now() }),
    })
    for await (const { event, data } of stream) {
      const { write } = data as { write?: { lines: string[] } }
      if (event !== 'updates' || write === undefined) continue
      for (const line of write.lines) attempt.seen.push({ line, atMs: Date.now() })
    }
    Object.assign(attempt, { followed: true, endedMs: Date.now() })
  }
}

/** Runs that were acknowledged before a moment. */
export function acceptedBy(talks: readonly Talk[], atMs: number): number {
  return talks.flatMap(({ attempts }) => attempts.filter(({ acceptedMs }) => acceptedMs < atMs))
    .length
}

/** The words of runs that were acknowledged before a moment. */
export function wordsAcceptedBy(talks: readonly Talk[], atMs: number): ReadonlySet<string> {
  return new Set(
    talks.flatMap(({ attempts }) =>
      attempts.filter(({ acceptedMs }) => acceptedMs < atMs).map(({ word }) => word)
    ),
  )
}

/** What a restored thread has that no history explains which began as that of the talk. */
export async function faultsOfTalk(there: Client, { threadId, attempts }: Talk,
  { atMs, executed }: { readonly atMs: number; readonly executed: readonly Execution[] }
): Promise<
  readonly string[]
> {
  const runs = await allRuns(there, threadId)
  const { values } = await there.threads.getState<{ lines?: string[] }>(threadId)
  return faultsOf({
    threadId,
    steps,
    attempts: attempts.map((attempt) => knownAt(attempt, atMs)),
    runs: runs.map(({ run_id: runId, status, metadata }) => ({ runId, status,
      word: String((metadata as { word?: string }).word) })
    ),
    lines: values.lines ?? [],
    executions: executed.filter((execution) => execution.threadId === threadId),
  })
}

/** More than one page: a thread of a long drill has thousands. */
async function allRuns(there: Client, threadId: string): Promise<readonly Run[]> {
  const limit = 1_000
  const runs: Run[] = []
  for (;;) {
    const page = await there.runs.list(threadId, { limit, offset: runs.length })
    runs.push(...page)
    if (page.length < limit) return runs
  }
}

/** What was certain at a moment. A run that was acknowledged later may be there, or not. */
function knownAt({ seen, ...attempt }: Timed, atMs: number): Attempt {
  const isAccepted = attempt.acceptedMs < atMs
  return { ...attempt, answer: isAccepted ? 'accepted' : 'unknown',
    seen: seen.filter((line) => line.atMs < atMs), followed: attempt.endedMs < atMs }
}

/** All that graphs have executed so far. */
export function executionsIn(file: string): readonly Execution[] {
  return readFileSync(file, 'utf8').trim().split('\n').map((text) => {
    const [threadId, word, number, pid, atMs] = text.split(' ')
    return { threadId: threadId!, word: word!, line: `${word} ${number}`, pid: Number(pid),
      atMs: Number(atMs) }
  })
}
