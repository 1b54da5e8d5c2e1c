/** A deployment for people. */

import type { ControlDeployment, ControlOutcome } from '../../api/index.ts'
import { failureLines } from './control-error.ts'
import { requestLimitText } from './deployment-settings.ts'
import { minuteOf } from '../table.ts'

/** The last roll-out in words. A check has moved nothing: its revision is as active as before. */
function lastText({ kind, revision, result, percent }: ControlOutcome): string {
  const isDone = result === 'done'
  switch (kind) {
    case 'check':
      return `${revision} ${isDone ? 'checked, not activated' : `not checked: ${result}`}`
    case 'secrets':
      return `secrets for ${revision} ${isDone ? 'loaded' : result.replace('_', ' ')}`
    default: {
      const share = percent < 100 ? `${percent} % of new runs` : 'active'
      return `${revision} ${isDone ? share : result.replace('_', ' ')}`
    }
  }
}

function problemRow(
  { member, revision, reason, since, serves_some }: ControlDeployment['problems'][number],
): readonly [string, string] {
  return ['', `${revision} cannot ${serves_some ? 'serve all of its graphs' : 'serve'} on member ` +
    `${member.slice(0, 8)} since ${minuteOf(since)}: ${reason}`]
}

/** A deployment with all its settings, one a line. */
export function deploymentText(deployment: ControlDeployment): string {
  const { limits, next, rollout, last_rollout: last, preview, hosts } = deployment
  const rows: (readonly [string, string])[] = [
    ['name', deployment.name],
    ['url', deployment.url],
    ['active', deployment.active ?? 'none'],
    ...(deployment.problems ?? []).map(problemRow),
    ...deployment.previous === null ? [] : [['previous', deployment.previous] as const],
    ...next === null ? [] : [['next', `${next.revision}, ${next.percent} % of new runs`] as const],
    ...deployment.paused ? [['paused', 'yes: none of its runs starts'] as const] : [],
    ...rollout === null
      ? []
      : [
        ['roll-out',
          `${rollout.revision} ${rollout.phase} since ${minuteOf(rollout.started_at)}`] as const,
      ],
    ...last === null
      ? []
      : [['last', `${lastText(last)} at ${minuteOf(last.ended_at)} by ${last.by}`] as const],
    ...last === null || last.reason === null ? [] : [['', last.reason] as const],
    ...failureLines(last?.failures ?? []).map((line) => ['', line] as const),
    ...deployment.kept_secrets === undefined || deployment.kept_secrets.length === 0
      ? []
      : [['secrets', `${deployment.kept_secrets.join(', ')} from the next roll-out on`] as const],
    ['access',
      deployment.access === 'own' ? `keys of ${deployment.tenant}` : 'keys of all tenants'],
    ...hosts.length === 0 ? [] : [['hosts', hosts.join(', ')] as const],
    ['limits', `workers=${limits.workers} memory_mb=${limits.memory_mb} ` +
      `concurrency=${limits.concurrency} run_timeout_s=${limits.run_timeout_s} ` +
      `body_mb=${limits.body_mb} requests=${requestLimitText(limits.requests)}`],
    ...deployment.record == null
      ? []
      : [['record', `${deployment.record}, whatever langgraph.json says`] as const],
    ...preview === null
      ? []
      : [
        ['preview',
          `of ${preview.of}; removed after ${preview.ttl_s} s without a request`] as const,
      ],
    ['made', minuteOf(deployment.created_at)],
  ]
  return rows.map(([name, text]) => `${name.padEnd(10)}${text}\n`).join('')
}
