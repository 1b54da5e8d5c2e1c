/** The twin of replays, of which nothing is executed. */

import type { Deployment, Replay, ReplayRequest, Replays, ReplayView,
  RunVerdict } from '../../src/deployment/index.ts'
import { unknownUsage } from '../../src/deployment/index.ts'
import { HeddleError } from '../../src/errors.ts'
import { verdictCounts, verdictFor } from '../../src/graph/index.ts'

/** The id of the replay that is always there. */
export const replayId = '0a1b2c3d-0000-4000-8000-000000000001'

/** Replays in memory. */
export class MemoryReplays implements Replays {
  readonly started: ReplayRequest[] = []

  async start(deployment: Deployment, request: ReplayRequest, by: string): Promise<Replay> {
    this.started.push(request)
    return { ...aReplay(deployment, by), request }
  }

  async list(deployment: Deployment): Promise<readonly Replay[]> {
    return [aReplay(deployment)]
  }

  async get(deployment: Deployment, id: string): Promise<ReplayView> {
    requireKnown(id)
    return { replay: aReplay(deployment), done: 1, counts: verdictCounts([aVerdict]), groups: [],
      usage: unknownUsage }
  }

  async verdicts(_: Deployment, id: string): Promise<readonly RunVerdict[]> {
    requireKnown(id)
    return [aVerdict]
  }

  async cancel(deployment: Deployment, id: string): Promise<Replay> {
    requireKnown(id)
    return { ...aReplay(deployment), phase: 'cancelled', endedAtMs: 2_000 }
  }
}

const aVerdict: RunVerdict = { ...verdictFor('same', ''), reason: null, threadId: replayId,
  runId: replayId, graphId: 'agent', recordedRevision: 'r1', recordedCalls: 1, calls: 1, ms: 5 }

function aReplay({ id, name }: Deployment, by = 'local'): Replay {
  return { id: replayId, deploymentId: id, deployment: name, by, phase: 'running', reason: null,
    startedAtMs: 1_000, endedAtMs: null, runner: null, chosen: null, passed: 0, experiment: null,
    request: { revision: 'r1', sample: 1, graphId: null, sinceMs: null, controls: true,
      limitMs: 1_000 } }
}

function requireKnown(id: string): void {
  if (id !== replayId) throw new HeddleError('not_found', 'There is no such replay.')
}
