/** Does something with many runs of traces, part by part, until all are done or it is stopped. */

/** Does the work with some runs, by their ids. */
export type WorkAct = (ids: readonly string[], signal: AbortSignal) => Promise<unknown>

/** Runs of one call. Each may hold megabytes. */
export const runsAtOnce = 20

/** Most runs that one press of a button reaches. */
export const runsMax = 10_000

/** Calls the act with ids, part by part. Yields the number that is done. */
export async function* work(pages: AsyncIterable<readonly string[]> | Iterable<readonly string[]>,
  act: WorkAct, signal: AbortSignal): AsyncGenerator<number> {
  let done = 0
  for await (const ids of pages) {
    for (let at = 0; at < ids.length && done < runsMax; at += runsAtOnce) {
      if (signal.aborted) return
      const part = ids.slice(at, Math.min(at + runsAtOnce, at + runsMax - done))
      await act(part, signal)
      yield done += part.length
    }
    if (done >= runsMax) return
  }
}
