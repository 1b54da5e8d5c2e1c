/** The routes of replays: recorded runs on another revision. */

import type { FastifyRequest } from 'fastify'

import { cancelReplay, getReplay, listReplayedRuns, listReplays,
  startReplay } from '../../api/index.ts'
import type { ControlReplay, ControlVerdict } from '../../api/index.ts'
import { unknownUsage } from '../../deployment/index.ts'
import type { Replay, Replays, ReplayUsage, ReplayView,
  RunVerdict } from '../../deployment/index.ts'
import { HeddleError } from '../../errors.ts'
import { differenceGroups, differenceKey, divergedPercent,
  verdictCounts } from '../../graph/index.ts'
import { timeText } from '../../json/index.ts'
import type { App } from '../http/route.ts'
import { timeOrNull } from './deployment-json.ts'
import { byOf, ownDeployment, serveControl } from './parts.ts'
import type { ControlParts } from './parts.ts'

/** Runs, and seconds for one of them, by default. */
const usual = { sample: 100, runSeconds: 60 } as const

/** Adds the routes of replays. */
export function replayRoutes(app: App, parts: ControlParts): void {
  const own = async (request: Pick<FastifyRequest, 'caller'> & { readonly params: unknown }) => {
    const deployment = await ownDeployment(parts, request)
    const { replay = '' } = request.params as { readonly replay?: string }
    return { deployment, id: replay.toLowerCase() }
  }
  serveControl(app, startReplay, async (request) => {
    const { deployment } = await own(request)
    const { revision, sample = usual.sample, graph_id = null, since_s, control = true,
      run_s = usual.runSeconds } = request.body
    const sinceMs = since_s === undefined ? null : parts.env.nowMs() - since_s * 1_000
    const replay = await replaysIn(parts).start(deployment, { revision, sample, graphId: graph_id,
      sinceMs, controls: control, limitMs: run_s * 1_000 }, byOf(request.caller))
    return progressJson({ replay, done: 0, counts: verdictCounts([]), groups: differenceGroups([]),
      usage: unknownUsage })
  })
  serveControl(app, listReplays, async (request) => {
    const { deployment } = await own(request)
    return { replays: (await replaysIn(parts).list(deployment)).map(replayJson) }
  })
  serveControl(app, getReplay, async (request) => {
    const { deployment, id } = await own(request)
    return progressJson(await replaysIn(parts).get(deployment, id))
  })
  serveControl(app, listReplayedRuns, async (request) => {
    const { deployment, id } = await own(request)
    return { runs: (await replaysIn(parts).verdicts(deployment, id)).map(verdictJson) }
  })
  serveControl(app, cancelReplay, async (request) => {
    const { deployment, id } = await own(request)
    return replayJson(await replaysIn(parts).cancel(deployment, id))
  })
}

function replaysIn({ deployments: { replays } }: Pick<ControlParts, 'deployments'>): Replays {
  if (replays !== undefined) return replays
  throw new HeddleError('not_ready', 'Nothing is replayed here.')
}

function progressJson({ replay, done, counts, groups, usage }: ReplayView): ControlReplay {
  const compared = counts.same + counts.same_result + counts.diverged + counts.fixed + counts.failed
  return { replay: replayJson(replay), done, verdicts: { ...counts },
    diverged_percent: compared === 0 ? null : divergedPercent(counts),
    groups: groups.map((group) => ({ ...group })), usage: usageJson(usage) }
}

function usageJson({ recorded, replayed, isAtLeast }: ReplayUsage): ControlReplay['usage'] {
  return { recorded: { ...recorded }, replayed: { ...replayed }, is_at_least: isAtLeast }
}

function replayJson(replay: Replay): ControlReplay['replay'] {
  const { id, deployment, by, phase, reason, startedAtMs, endedAtMs, chosen, passed, experiment,
    request: { revision, controls } } = replay
  return { id, deployment, revision, by, phase, reason, started_at: timeText(startedAtMs),
    ended_at: timeOrNull(endedAtMs), controlled: controls, runs: chosen?.length ?? null, passed,
    experiment }
}

function verdictJson(
  { threadId, runId, graphId, recordedRevision, recordedCalls, usage = unknownUsage,
    firstStep = null, ...verdict }: RunVerdict,
): ControlVerdict {
  // The thread of a stateless run has its id.
  return { thread_id: threadId, run_id: runId, stateless: threadId === runId, graph_id: graphId,
    recorded_revision: recordedRevision, recorded_calls: recordedCalls, ...verdict,
    group: differenceKey(verdict), first_step: firstStep,
    usage: usageJson(usage) } as ControlVerdict
}
