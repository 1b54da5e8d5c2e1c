/**
 * Sends a request once more, in parallel, if its answer does not come. For requests that may be
 * executed twice but that the driver must not retry, because the outcome depends on what happened
 * to each copy.
 */

import type { Env } from '../../../../cluster/index.ts'
import { outcomeOf } from './driver-error.ts'

/**
 * Resolves with the first success. Rejects when all copies have failed, with one of their errors.
 * An error that says the request may have been done wins over one that says it was not.
 */
export function hedgedWrite<Answer>(env: Pick<Env, 'after'>, patienceMs: number,
  send: () => Promise<Answer>): Promise<Answer> {
  const { promise, resolve, reject } = Promise.withResolvers<Answer>()
  const failures: unknown[] = []
  let sent = 0
  const one = () => {
    sent += 1
    send().finally(() => cancel()).then(resolve, (error: unknown) => {
      failures.push(error)
      if (failures.length === sent) reject(worstOf(failures))
    })
  }
  const cancel = env.after(patienceMs, one)
  one()
  return promise
}

function worstOf(failures: readonly unknown[]): unknown {
  return failures.find((error) => outcomeOf(error) === 'unknown') ??
    failures.find((error) => outcomeOf(error) === 'refused') ?? failures[0]
}
