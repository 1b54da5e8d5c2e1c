/**
 * The trial run of a revision, which its project names. It is run before other runs are sent there.
 */

import { withTimeout } from '../../../cluster/index.ts'
import type { Env } from '../../../cluster/index.ts'
import { namespaceOf } from '../../deployment/index.ts'
import type { Deployment, Revision, RolloutMembers } from '../../deployment/index.ts'
import { HeddleError } from '../../errors.ts'
import { contains, isObject } from '../../json/index.ts'
import type { AwaitedRun } from '../../thread/index.ts'
import type { RunsOfServer } from '../cron-firing.ts'

/** Members and operations for trial runs. */
export interface TrialRunParts {
  readonly members: Pick<RolloutMembers, 'live' | 'learn'>
  readonly runs: Pick<RunsOfServer, 'createStatelessAndWait' | 'cancel'>
  readonly env: Pick<Env, 'after' | 'log'>
}

/** Milliseconds that a trial run may take. */
const trialMs = 60_000
/** Characters of what is shown of an answer. */
const shownCharacters = 300

/**
 * Makes trial runs as stateless runs of the owner, which leave no thread behind. Rejects if none
 * could be made now. A run is cancelled if its caller has gone or if it takes too long.
 */
export function trialRuns(parts: TrialRunParts): (
  deployment: Deployment,
  revision: Revision,
  signal: AbortSignal,
) => Promise<string | null> {
  return async ({ name, tenant }, { name: revision, trial }, signal) => {
    if (trial == null) return null
    const { graphId, inputJson, expectJson } = trial
    const { members, runs } = parts
    // Its thread may be on any member, which must know that the revision can be loaded.
    await Promise.all(members.live().map((member) => members.learn(member, name)))
    signal.throwIfAborted()
    const namespace = namespaceOf({ tenant, deployment: name })
    try {
      const run = await runs.createStatelessAndWait(namespace, { assistant_id: graphId,
        input: JSON.parse(inputJson) as never, metadata: { trial: true } }, { commandId: '',
        awaits: true, headers: {}, revision, trialMs })
      return faultOf(graphId, JSON.parse(await valuesOf(parts, namespace, run, signal)), expectJson)
    } catch (error) {
      const { retry, message } = HeddleError.from(error)
      if (signal.aborted || retry !== 'no') throw error
      return `The trial run of "${graphId}" failed: ${message}`
    }
  }
}

/** The values of a run. Cancels the run if they do not arrive in time. */
async function valuesOf({ runs, env }: TrialRunParts, namespace: string,
  { row, result }: AwaitedRun, signal: AbortSignal): Promise<string> {
  const waiting = new AbortController()
  const aborted = Promise.withResolvers<never>()
  const abort = () => aborted.reject(signal.reason)
  signal.addEventListener('abort', abort)
  if (signal.aborted) abort()
  try {
    const values = Promise.race([result(waiting.signal), aborted.promise])
    return await withTimeout(env, trialMs, values, () =>
      new HeddleError('graph_failed', `it has not ended within ${trialMs / 1_000} s`))
  } catch (error) {
    runs.cancel(namespace, row, {}).catch((error: unknown) =>
      env.log.debug('A trial run goes on to its time limit.', { error, runId: row.runId })
    )
    throw error
  } finally {
    signal.removeEventListener('abort', abort)
    waiting.abort()
  }
}

function faultOf(graphId: string, values: unknown, expectJson: string | undefined): string | null {
  const failed = isObject(values) && Object.hasOwn(values, '__error__') ? values['__error__'] : null
  if (failed !== null) {
    const message = isObject(failed) ? failed['message'] : failed
    return `The trial run of "${graphId}" failed: ${String(message)}`
  }
  if (expectJson === undefined || contains(values, JSON.parse(expectJson))) return null
  return `The trial run of "${graphId}" ended without ${
    shown(expectJson)
  } in its state, which is ` +
    `${shown(JSON.stringify(values))}.`
}

function shown(json: string): string {
  return json.length <= shownCharacters ? json : `${json.slice(0, shownCharacters)}…`
}
