/** Deployments and roll-outs as JSON of the control API. */

import type { ControlDeployment, ControlFailure, ControlMember, ControlMove, ControlOutcome,
  ControlRollout } from '../../api/index.ts'
import type { Activated, Deployment, DeploymentLimits, GraphFailure, MemberProgress, RevisionUse,
  Rollout, RolloutOutcome } from '../../deployment/index.ts'
import { timeText } from '../../json/index.ts'
import type { MemberProblem } from './parts.ts'

/** A time that there may be none of. */
export const timeOrNull = (ms: number | null) => ms === null ? null : timeText(ms)
const memberJson = ({ id, state, ms }: MemberProgress): ControlMember => ({ id, state, ms })
/** A graph that cannot be loaded. */
export const failureJson = ({ graph_id, message, at }: GraphFailure): ControlFailure => ({ graph_id,
  message, at })

/** A deployment. `url` is where its data are served. */
export function deploymentJson(deployment: Deployment, url: string,
  problems: readonly MemberProblem[] = []): ControlDeployment {
  const { name, tenant, access, hosts, limits, record = null, paused, active, previous, next,
    envVersion, rollout, lastRollout, preview, createdAtMs, modifiedAtMs } = deployment
  return { name, tenant, access, url, hosts, limits: limitsJson(limits), record, paused, active,
    previous, next, env_version: envVersion, rollout: rollout && rolloutJson(rollout),
    last_rollout: lastRollout && outcomeJson(lastRollout), kept_secrets: keptNames(deployment),
    problems: problems.filter((each) => each.deployment === name).map(problemJson),
    preview: preview && { of: preview.of, label: preview.label, ttl_s: preview.ttlMs / 1_000 },
    created_at: timeText(createdAtMs), updated_at: timeText(modifiedAtMs) }
}

function keptNames({ keptSecrets = [] }: Deployment): readonly string[] {
  return keptSecrets.map(({ name }) => name)
}

function problemJson(
  { member, revision, reason, sinceMs, isWhole }: MemberProblem,
): ControlDeployment['problems'][number] {
  return { member, revision, reason, since: timeText(sinceMs), serves_some: !isWhole }
}

function limitsJson(
  { workers, memory_mb, concurrency, run_timeout_s, body_mb, requests }: DeploymentLimits,
): ControlDeployment['limits'] {
  return { workers, memory_mb, concurrency, run_timeout_s, body_mb,
    requests: requests && { count: requests.count, interval_s: requests.interval_s } }
}

function rolloutJson(rollout: Rollout): ControlRollout {
  const { id, kind, revision, from, percent, phase, members, startedAtMs, watchMs, by, message } =
    rollout
  return { id, kind, revision, from, percent, phase, members: members.map(memberJson),
    started_at: timeText(startedAtMs), watch_s: watchMs / 1_000, by, message }
}

function outcomeJson(outcome: RolloutOutcome): ControlOutcome {
  const { id, kind, revision, from, percent, result, reason, failures, members, by, startedAtMs,
    endedAtMs } = outcome
  return { id, kind, revision, from, percent, result, reason, failures: failures.map(failureJson),
    members: members.map(memberJson), by, started_at: timeText(startedAtMs),
    ended_at: timeText(endedAtMs) }
}

/** A roll-out that is under way, or has ended. */
export function eitherJson(rollout: Rollout | RolloutOutcome): ControlRollout | ControlOutcome {
  return 'phase' in rollout ? rolloutJson(rollout) : outcomeJson(rollout)
}

/** JSON of the revisions that are active after a roll-out has reached the members. */
export function activatedJson({ deployment, rollout, pointerMs }: Activated,
  use: ReadonlyMap<string, RevisionUse>): ControlMove {
  const { active, previous, next } = deployment
  const { members } = rollout
  const current = new Set([active, next?.revision])
  return {
    active,
    previous,
    next,
    env_version: deployment.envVersion,
    kept_secrets: keptNames(deployment),
    pointer_ms: pointerMs,
    members: members.map(memberJson),
    unconfirmed: members.filter(({ state }) => state !== 'confirmed').map(({ id }) => id),
    still_running: [...use].filter(([name, { running }]) => running > 0 && !current.has(name))
      .map(([revision, { running: runs }]) => ({ revision, runs })),
    rollout_id: rollout.id,
  }
}
