/** The trial run of a revision: what its project names, run before anybody else is sent to it. */

import { withTimeout } from '../../../cluster/index.ts'
import type { Env } from '../../../cluster/index.ts'
import { namespaceOf } from '../../deployment/index.ts'
import type { Deployment, Revision, RolloutMembers } from '../../deployment/index.ts'
import { HeddleError } from '../../errors.ts'
import { contains, isObject } from '../../json/index.ts'
import type { RunsOfServer } from '../cron-firing.ts'

/** What makes trial runs. */
export interface TrialRunParts {
  readonly members: Pick<RolloutMembers, 'live' | 'learn'>
  readonly runs: RunsOfServer
  readonly env: Pick<Env, 'after'>
}

/** Time for a run. */
const trialMs = 60_000
/** Characters of what is shown of an answer. */
const shownCharacters = 300

/**
 * Makes them: as stateless runs of the owner, which leave no thread behind. Rejects if none could
 * be made now.
 */
export function trialRuns({ members, runs, env }: TrialRunParts): (
  deployment: Deployment,
  revision: Revision,
) => Promise<string | null> {
  return async ({ name, tenant }, { name: revision, trial }) => {
    if (trial == null) return null
    const { graphId, inputJson, expectJson } = trial
    // Its thread may be on any member, which must know that the revision can be loaded.
    await Promise.all(members.live().map((member) => members.learn(member, name)))
    const cancel = new AbortController()
    try {
      const { result } = await runs.createStatelessAndWait(
        namespaceOf({ tenant, deployment: name }),
        { assistant_id: graphId, input: JSON.parse(inputJson) as never, metadata: { trial: true } },
        { commandId: '', awaits: true, headers: {}, revision, isTrial: true },
      )
      const values = await withTimeout(env, trialMs, result(cancel.signal), () =>
        new HeddleError('graph_failed', `it has not ended within ${trialMs / 1_000} s`))
      return faultOf(graphId, JSON.parse(values), expectJson)
    } catch (error) {
      const { retry, message } = HeddleError.from(error)
      if (retry !== 'no') throw error
      return `The trial run of "${graphId}" failed: ${message}`
    } finally {
      cancel.abort()
    }
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
