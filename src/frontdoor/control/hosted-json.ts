/** Deployments, revisions and lines as `langgraphjs deploy` reads them. Pure. */

import type { HostedDeployment, HostedLine, HostedLinesBody, HostedLinesPage, HostedRevision,
  HostedStatus } from '../../api/index.ts'
import type { BuildPhase, Deployment, DeploymentEvent, DeploymentLine,
  Revision } from '../../deployment/index.ts'
import { timeText } from '../../json/index.ts'

/** `phase` is that of its build; undefined if there is none. */
export function hostedStatus({ active, rollout, lastRollout }: Deployment,
  { name, state, hash, activeAtMs }: Revision, phase: BuildPhase | undefined): HostedStatus {
  if (state === 'building') return phase === 'building' ? 'BUILDING' : 'AWAITING_BUILD'
  if (state === 'refused') return hash === '' ? 'BUILD_FAILED' : 'DEPLOY_FAILED'
  if (rollout?.revision === name) return rollout.phase === 'preparing' ? 'DEPLOYING' : 'DEPLOYED'
  if (lastRollout?.revision === name && lastRollout.result !== 'done') return 'DEPLOY_FAILED'
  if (active === name || activeAtMs !== null) return 'DEPLOYED'
  return phase === undefined ? 'SKIPPED' : 'DEPLOYING'
}

/** A deployment. `url` is where its data are served, which the command prints. */
export function hostedDeployment({ id, name, createdAtMs, modifiedAtMs, active }: Deployment,
  url: string): HostedDeployment {
  return { id, name, source: 'internal_source',
    source_config: { custom_url: url, deployment_type: 'prod' }, source_revision_config: {},
    secrets: [], status: active === null ? 'AWAITING_DATABASE' : 'READY',
    created_at: timeText(createdAtMs), updated_at: timeText(modifiedAtMs) }
}

/** JSON of a revision with this status; `updated_at` is the time of its creation. */
export function hostedRevision({ id, name, reason, createdAtMs }: Revision,
  status: HostedStatus): HostedRevision {
  return { id, name, status, status_message: reason, created_at: timeText(createdAtMs),
    updated_at: timeText(createdAtMs), source: 'internal_source' }
}

/**
 * The lines of the build of a revision. An event has those of a moment. The last one says why a
 * revision was refused: the command shows the end of the lines, and no reason besides.
 */
export function buildLinesIn(events: readonly DeploymentEvent[],
  { name, state, reason, createdAtMs }: Revision): readonly HostedLine[] {
  const lines = events.filter(({ kind, data }) => kind === 'build' && data['revision'] === name)
    .flatMap(({ seq, atMs, data }) =>
      String(data['text'] ?? '').split('\n').map((message, index) => ({ id: `${seq}.${index}`,
        timestamp: atMs, level: 'INFO', message })
      )
    )
  if (state !== 'refused' || !reason) return lines
  return [...lines, { id: 'reason', timestamp: lines.at(-1)?.timestamp ?? createdAtMs,
    level: 'ERROR', message: reason }]
}

/** A line that code wrote, with its member and `seq` as its id. */
export function writtenLine({ member, seq, atMs, level, text }: DeploymentLine): HostedLine {
  return { id: `${member}/${seq}`, timestamp: atMs,
    level: level === 'warn' ? 'WARNING' : level.toUpperCase(), message: text }
}

/** The page that is asked for, and where the next one begins. */
export function linesPage(lines: readonly HostedLine[],
  { order = 'asc', limit = 100, offset, query }: HostedLinesBody): HostedLinesPage {
  const sought = query === undefined
    ? lines
    : lines.filter(({ message }) => message.toLowerCase().includes(query.toLowerCase()))
  const sorted = order === 'asc' ? sought : sought.toReversed()
  const at = offset == null ? -1 : sorted.findIndex(({ id }) => id === offset)
  const logs = sorted.slice(at + 1, at + 1 + Math.min(limit, 1_000))
  return { logs, next_offset: logs.at(-1)?.id ?? offset ?? null }
}
