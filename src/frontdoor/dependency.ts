/** What a server depends on, and whether it is in reach. */

import { atLatest } from '../../cluster/index.ts'
import type { Env } from '../../cluster/index.ts'
import { HeddleError } from '../errors.ts'

export interface Dependency {
  /** A short word, as the answer names it. */
  readonly name: string
  /** For people, at the beginning of a sentence. */
  readonly title: string
  /** Without it no request can be served. */
  readonly vital: boolean
  /** Throws where it is out of reach. */
  check(): Promise<void>
}

export interface CheckResult {
  readonly ok: boolean
  /** How long it took to find out. */
  readonly ms: number
}

/** Whoever does not answer by then is out of reach. */
const patienceMs = 2_000

/** By their names. Throws `unavailable`, with all of them, where a vital one is out of reach. */
export async function checkAll({ dependencies, env }:
{ readonly dependencies: readonly Dependency[]; readonly env: Env }):
Promise<Readonly<Record<string, CheckResult>>> {
  const checked = await Promise.all(dependencies.map(async (dependency) => {
    const beganMs = env.monotonicMs()
    const answered = dependency.check().then(() => undefined,
      (error: unknown) => reasonOf(error, dependency))
    const failure = await atLatest(env, patienceMs, answered.then((reason) => ({ reason })))
    const reason = failure === undefined ? `${dependency.title} does not answer.`
      : failure.reason
    const result = { ok: reason === undefined, ms: Math.round(env.monotonicMs() - beganMs) }
    return { ...dependency, reason, result }
  }))
  const findings = Object.fromEntries(checked.map(({ name, result }) => [name, result]))
  const lost = checked.find(({ vital, result }) => vital && !result.ok)
  if (lost === undefined) return findings
  throw new HeddleError('unavailable', lost.reason, { dependencies: findings })
}

/** Only what we say ourselves is shown. */
function reasonOf(error: unknown, { title }: Dependency): string {
  return error instanceof HeddleError ? error.message : `${title} is out of reach.`
}
