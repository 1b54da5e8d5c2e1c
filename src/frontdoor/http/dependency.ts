/** The things that a server depends on, and a check of each. */

import { atLatest } from '../../../cluster/index.ts'
import type { Env } from '../../../cluster/index.ts'
import { CodedError, HeddleError } from '../../errors.ts'

/** One thing that the server depends on, such as its store. */
export interface Dependency {
  /** A short word: its name in answers. */
  readonly name: string
  /** Name for people, as a message begins with it. */
  readonly title: string
  /** True if no request can be served without it. */
  readonly vital: boolean
  /** Throws if it is out of reach. */
  check(): Promise<void>
}

/** The result of one check. */
export interface CheckResult {
  readonly ok: boolean
  /** Duration of the check. */
  readonly ms: number
}

/** Time for one check. What does not answer by then counts as out of reach. */
const patienceMs = 2_000

/** Checks all. Throws `unavailable`, with all results, if a vital one is out of reach. */
export async function checkAll(
  { dependencies, env }: { readonly dependencies: readonly Dependency[]; readonly env: Env },
): Promise<Readonly<Record<string, CheckResult>>> {
  const checked = await Promise.all(dependencies.map(async (dependency) => {
    const beganMs = env.monotonicMs()
    const answered = dependency.check().then(() => undefined,
      (error: unknown) => reasonOf(error, dependency))
    const failure = await atLatest(env, patienceMs, answered.then((reason) => ({ reason })))
    const reason = failure === undefined
      ? `${dependency.title} does not answer.`
      : failure.reason
    const result = { ok: reason === undefined, ms: Math.round(env.monotonicMs() - beganMs) }
    return { ...dependency, reason, result }
  }))
  const findings = Object.fromEntries(checked.map(({ name, result }) => [name, result]))
  const lost = checked.find(({ vital, result }) => vital && !result.ok)
  if (lost === undefined) return findings
  throw new HeddleError('unavailable', lost.reason, { dependencies: findings })
}

/** Shows our own messages only; others may contain secrets. */
function reasonOf(error: unknown, { title }: Dependency): string {
  return error instanceof CodedError ? error.message : `${title} is out of reach.`
}
