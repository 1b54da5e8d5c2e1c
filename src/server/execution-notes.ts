/** Notes of each execution: a span of the request that asked for it, and a key of its own. */

import type { Tracing } from '../../cluster/index.ts'
import type { RunKeys } from '../access/index.ts'
import type { AppUser, Execution } from '../graph/index.ts'
import type { Begin } from './watched-host.ts'

/** Keys of runs, and whether all runs have one or only those of users of a login. */
export interface KeysOfRuns {
  readonly runKeys: Pick<RunKeys<AppUser>, 'issue' | 'revoke'>
  readonly forAll: boolean
}

/** Combines spans and keys for executions. */
export function executionNotes(tracing: Tracing | undefined, keys: KeysOfRuns): Begin {
  return tracing ? both(traced(tracing), keyed(keys)) : keyed(keys)
}

function both(outer: Begin, inner: Begin): Begin {
  return (given) => {
    const first = outer(given)
    const second = inner(first.execution)
    return {
      execution: second.execution,
      within: (work) => first.within(() => second.within(work)),
      end: (...outcome) => {
        second.end(...outcome)
        first.end(...outcome)
      },
    }
  }
}

/** Each execution becomes a span, which ends with its outcome. */
function traced(tracing: Tracing): Begin {
  return (execution) => {
    const span = tracing.begin(startOf(execution))
    return {
      execution: { ...execution, trace: span.trace },
      within: (work) => span.within(work),
      end: (outcome, failure) => span.end({ 'heddle.outcome': outcome }, failure),
    }
  }
}

/** The code of a run may call its own server, as long as it is executed. */
function keyed({ runKeys, forAll }: KeysOfRuns): Begin {
  return (given) => {
    if (!forAll && given.user === undefined) {
      return { execution: given, within: (work) => work(), end: () => {} }
    }
    const { user, ...execution } = given
    const ownKey = runKeys.issue(execution.tenant, user)
    return { execution: { ...execution, ownKey }, within: (work) => work(),
      end: () => runKeys.revoke(ownKey) }
  }
}

function startOf(
  { request: { kind }, trace, graphId, tenant, threadId, runId, attempt }: Execution,
) {
  return {
    name: `${kind} ${graphId}`,
    // A run may begin long after it was asked for, and in another member.
    ...kind === 'run' && { parent: trace ?? '' },
    details: {
      'heddle.tenant': tenant,
      'heddle.thread_id': threadId,
      'heddle.graph_id': graphId,
      ...runId !== '' && { 'heddle.run_id': runId, 'heddle.attempt': attempt },
    },
  }
}
