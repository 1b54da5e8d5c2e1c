/** Begins a roll-out, and follows it to its end, also after connections that are cut. */

import { pause } from '../../../cluster/index.ts'
import { CommandError } from '../admin-command.ts'
import type { ControlAccess } from './control-command.ts'
import type { activateRevision, Body, ControlDeployment, ControlOutcome, ControlRevision,
  ControlRollout } from '../../api/index.ts'
import { assert } from '../../errors.ts'
import { ControlError, failureLines, NoAnswerError } from './control-error.ts'

/** A roll-out as it was last seen: under way, or ended. */
export type SeenRollout =
  | { readonly kind: 'under_way'; readonly rollout: ControlRollout;
    readonly deployment: ControlDeployment }
  | { readonly kind: 'ended'; readonly outcome: ControlOutcome;
    readonly deployment: ControlDeployment }

/** Time between looks at a roll-out. */
const lookMs = 150

/** Reads the deployment from the control API. */
export function readDeployment({ client, name }: ControlAccess): Promise<ControlDeployment> {
  return client.ask('GET /control/v1/deployments/:deployment', { params: { deployment: name } })
}

/** Reads a revision from the control API. */
export function readRevision({ client, name }: ControlAccess,
  revision: string): Promise<ControlRevision> {
  return client.ask('GET /control/v1/deployments/:deployment/revisions/:revision', {
    params: { deployment: name, revision },
  })
}

/** Removes a revision that nothing uses. */
export async function removeRevision({ client, name }: ControlAccess,
  revision: string): Promise<void> {
  await client.ask('DELETE /control/v1/deployments/:deployment/revisions/:revision', {
    params: { deployment: name, revision },
  })
}

/** Activates a revision. Resolves with the id of the roll-out, which has begun. */
export async function beginRollout(access: ControlAccess, revision: string,
  body: Body<typeof activateRevision>, before: ControlDeployment): Promise<string> {
  const { client, name } = access
  try {
    const begun = await client.ask(
      'POST /control/v1/deployments/:deployment/revisions/:revision/activate',
      { params: { deployment: name, revision }, body, headers: { prefer: 'respond-async' } },
    )
    assert('rollout' in begun && begun.rollout !== null, 'a roll-out has begun')
    return begun.rollout.id
  } catch (error) {
    // It may have begun although no answer came.
    const begun = error instanceof NoAnswerError && error.sent
      ? begunSince(before, await readDeployment(access), revision)
      : undefined
    if (begun === undefined) throw error
    return begun
  }
}

function begunSince(before: ControlDeployment, now: ControlDeployment, revision: string):
  | string
  | undefined {
  const known = [before.rollout?.id, before.last_rollout?.id]
  return [now.rollout, now.last_rollout]
    .find((each) => each?.revision === revision && !known.includes(each.id))?.id
}

/**
 * Looks at a roll-out again and again until `isDone` or it has ended. Resolves with what was seen
 * last. Throws CommandError if it takes longer than `withinMs`.
 */
export async function followRollout(access: ControlAccess, id: string,
  isDone: (seen: SeenRollout) => boolean, withinMs: number): Promise<SeenRollout> {
  const { env } = access
  const endMs = env.monotonicMs() + withinMs
  for (;;) {
    const seen = seenIn(await readDeployment(access), id)
    if (seen.kind === 'ended' || isDone(seen)) return seen
    if (env.monotonicMs() > endMs) {
      throw new CommandError(`The roll-out of ${seen.rollout.revision} takes longer than ` +
        `--timeout: it is ${phases[seen.rollout.phase]}. The cluster ends it by itself; see ` +
        `"heddle deployments show ${access.name}".`)
    }
    await pause(env, lookMs)
  }
}

const phases = { preparing: 'being loaded', confirming: 'being confirmed', watching: 'watched' }

function seenIn(deployment: ControlDeployment, id: string): SeenRollout {
  const { rollout, last_rollout: outcome } = deployment
  if (rollout?.id === id) return { kind: 'under_way', rollout, deployment }
  if (outcome?.id === id) return { kind: 'ended', outcome, deployment }
  throw new CommandError('Another roll-out has begun since: see "heddle revisions".')
}

/** Throws the result of a roll-out, unless it is the wanted one. */
export function requireDone({ result, reason, failures, from, revision }: ControlOutcome): void {
  if (result === 'done') return
  const why = reason ?? 'no reason is known.'
  if (result === 'refused') {
    throw new ControlError('graph_failed', [`${revision} cannot be loaded, and ` +
      `${from ?? 'nothing'} stays active: ${why}`, ...failureLines(failures)].join('\n'))
  }
  if (result === 'rolled_back') {
    throw new CommandError(`${revision} was active, and ${from ?? 'nothing'} is again: ${why}`,
      'refused')
  }
  throw new CommandError(`${revision} is not active, and ${from ?? 'nothing'} stays: ${why}`)
}
