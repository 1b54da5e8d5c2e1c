/** Sources of the lines of a deployment: what its code wrote, or what a build wrote. */

import type { ControlLine, LinesQuery } from '../../api/index.ts'
import { lineCondition } from '../../deployment/index.ts'
import type { Deployment, DeploymentLine } from '../../deployment/index.ts'
import { timeText } from '../../json/index.ts'
import type { ControlParts } from './parts.ts'

/** A source of lines, in order. */
export interface LineSource {
  /** The lines since the call before, as the API shows them. */
  next(): Promise<readonly object[]>
  /** True if there will be no further ones. */
  isOver(): Promise<boolean>
}

const linesMax = 1_000
const pageMax = 100

/** The lines that code wrote on all members. */
export function writtenLines({ env, deployments: { logs } }: ControlParts, { name }: Deployment,
  { revision, level, since, until, q, limit = linesMax }: LinesQuery): LineSource {
  const seen = new Map<string, number>()
  const options = { ...revision !== undefined && { revision }, ...level !== undefined && { level },
    ...q !== undefined && { q }, ...until !== undefined && { untilMs: Date.parse(until) } }
  // A member of an older version knows neither of the last two.
  const isMeant = lineCondition(options)
  let sinceMs = since === undefined ? undefined : Date.parse(since)
  return {
    next: async () => {
      const beganMs = env.nowMs()
      const lines = await logs.lines(name, { ...options, limit, ...seen.size > 0 && { after: seen },
        ...sinceMs !== undefined && { sinceMs } })
      for (const { member, seq } of lines) seen.set(member, Math.max(seen.get(member) ?? 0, seq))
      // Members that had no line yet are asked for what comes from now on.
      sinceMs ??= beganMs
      return lines.filter(isMeant).map(lineJson)
    },
    isOver: async () => false,
  }
}

/** The lines of the build of a revision, which are kept as events. */
export function buildLines({ deployments: { records, builds } }: ControlParts,
  deployment: Deployment, revision: string): LineSource {
  let after = 0
  return {
    next: async () => {
      const lines: object[] = []
      for (let isMore = true; isMore && lines.length < linesMax;) {
        const page = await records.events(deployment.id, after, pageMax)
        after = page.at(-1)?.seq ?? after
        isMore = page.length === pageMax
        for (const { kind, data, atMs } of page) {
          if (kind !== 'build' || data['revision'] !== revision) continue
          const { level = 'info', member = '', text = '' } = data
          // An event has the lines of a moment.
          lines.push(
            ...String(text).split('\n').map((line) => ({ at: timeText(atMs), level, member,
              revision, text: line, thread_id: null, run_id: null })
            ),
          )
        }
      }
      return lines
    },
    isOver: async () => {
      const found = await records.revision(deployment, revision)
      if (found.state === 'building') return false
      // It has its manifest before it has its chunks.
      const phase = await builds?.phase(found)
      return phase === undefined || phase === 'built'
    },
  }
}

function lineJson(
  { atMs, level, member, revision, text, thread_id, run_id }: DeploymentLine,
): ControlLine {
  return { at: timeText(atMs), level, member, revision, text, thread_id, run_id }
}
