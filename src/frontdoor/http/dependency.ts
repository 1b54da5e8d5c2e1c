/** What a server depends on, and whether it can be reached. */

import { atLatest } from '../../../cluster/index.ts'
import type { Env } from '../../../cluster/index.ts'
import { CodedError, HeddleError } from '../../errors.ts'

export interface Dependency {
  /** A short word: its name in the answer. */
  readonly name: string
  /** Its name for people, at the beginning of a sentence. */
  readonly title: string
  /** Without it no request can be served. */
  readonly vital: boolean
  /** Throws if it cannot be reached. */
  check(): Promise<void>
}

export interface CheckResult {
  readonly ok: boolean
  /** How long the check took. */
  readonly ms: number
}

/** What does not answer by then counts as unreachable. */
const patienceMs = 2_000

/** The results by name. Throws `unavailable`, with all results, if a vital one is unreachable. */
export async function checkAll(
  { dependencies, env }: { readonly dependencies: readonly Dependency[]; readonly env: Env },
): Promise<Readonly<Record<string, CheckResult>>> {
  const checked = await Promise.all(dependencies.map(async (dependency) => {
    const beganMs = env.monotonicMs()
    const answered = dependency.check().then(() => undefined,
      (error: unknown) => reasonOf(error, dependency))
    const failure = await atLatest(env, patienceMs, answered.then((reason) => ({ reason })))
    const reason = failure === undefined ?
      `${dependency.title} does not answer.`
      : failure.reason
    const result = { ok: reason === undefined, ms: Math.round(env.monotonicMs() - beganMs) }
    return { ...dependency, reason, result }
  }))
  const findings = Object.fromEntries(checked.map(({ name, result }) => [name, result]))
  const lost = checked.find(({ vital, result }) => vital && !result.ok)
  if (lost === undefined) return findings
  throw new HeddleError('unavailable', lost.reason, { dependencies: findings })
}

/** Only our own messages are shown. */
function reasonOf(error: unknown, { title }: Dependency): string {
  return error instanceof CodedError ? error.message : `${title} is out of reach.`
}
