/** The load of the crash test: workers that act, and know what must be there afterwards. */

import type { Client } from '@langchain/langgraph-sdk'

/**
 * One client that does one thing after the other and remembers what was acknowledged. What it was
 * doing when the server died is in doubt: it may have happened or not, but wholly or not at all.
 */
export interface LoadWorker {
  readonly name: string
  /** One operation. Throws if the connection breaks. */
  act(client: Client, died: AbortSignal): Promise<void>
  /** Compares the server with what was acknowledged; settles what was in doubt. */
  check(client: Client): Promise<void>
}

/** When and why a worker stopped. */
export interface Stop {
  readonly atMs: number
  readonly reason: unknown
}

/**
 * Acts until it is stopped between two operations, or gets a 503; resolves with when that was.
 * Rejects if anything else fails.
 */
export async function workUntilRefused(
  worker: LoadWorker,
  client: Client,
  stopped: AbortSignal,
): Promise<number | undefined> {
  const never = new AbortController().signal
  try {
    while (!stopped.aborted) await worker.act(client, never)
    return undefined
  } catch (caught) {
    if ((caught as { status?: unknown }).status !== 503) throw caught
    return performance.now()
  }
}

/**
 * Acts until the connection breaks. Rejects if the server answers an error, except those with
 * the `expected` status, which end the work as well.
 */
export async function workUntilDeath(worker: LoadWorker, client: Client, died: AbortSignal,
  expected?: number): Promise<Stop> {
  try {
    while (!died.aborted) await worker.act(client, died)
    return { atMs: performance.now(), reason: 'died' }
  } catch (caught) {
    const atMs = performance.now()
    if (isAnswer(caught, expected)) {
      throw new Error(`${worker.name}: ${String(caught)}`, { cause: caught })
    }
    return { atMs, reason: caught }
  }
}

function isAnswer(caught: unknown, expected: number | undefined): boolean {
  const { status } = caught as { status?: unknown }
  return typeof status === 'number' && status !== expected
}

/** Waits for every run of the thread that is not over. */
export async function settle(client: Client, threadId: string): Promise<void> {
  const [waitMs, allMs] = [60_000, 300_000]
  for (const beganMs = performance.now();;) {
    const runs = await client.runs.list(threadId, { limit: 1_000 })
    const open = runs.filter(({ status }) => status === 'pending' || status === 'running')
    if (open.length === 0) return
    if (performance.now() > beganMs + allMs) {
      const ids = open.map(({ run_id }) => run_id).join(', ')
      throw new Error(`${ids} of thread ${threadId} could be joined, and are said not to be over`)
    }
    await Promise.all(open.map(({ run_id }) =>
      client.runs
        .join(threadId, run_id, { signal: AbortSignal.timeout(waitMs) })
        .catch((caught: unknown) => {
          throw new Error(`run ${run_id} of thread ${threadId} is not over after ${waitMs} ms`, {
            cause: caught,
          })
        })
    ))
  }
}
