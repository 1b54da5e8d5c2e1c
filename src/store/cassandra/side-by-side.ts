/**
 * A request that may be done twice and that the driver must not repeat, because what is said of it
 * depends on what each of its copies met: sent once more where its answer does not come.
 */

import type { Env } from '../../../cluster/index.ts'
import { outcomeOf } from './driver-error.ts'

/**
 * Resolves with the first success. Rejects when each that was sent has failed, with what one of
 * them met: whatever may have been done wins over what certainly was not.
 */
export function sideBySide<Answer>(env: Pick<Env, 'after'>, patienceMs: number,
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
