/** Replays of the recorded runs of a deployment, and the calls about them. */

import { keepPreviousData, queryOptions } from '@tanstack/react-query'

import type { Asked, ControlReplay, ControlVerdict } from '../../../api/index.ts'
import { ask } from '../ask.ts'
import { pollEvery } from '../poll.ts'

/** Progress of a replay: its verdicts so far, and groups of equal differences. */
export type ReplayProgress = ControlReplay

/** A replay without its verdicts. */
export type Replay = ControlReplay['replay']

/** The verdict on one run. */
export type ReplayedRun = ControlVerdict

/** A request for a replay. */
export type ReplayBody = Asked<'POST /control/v1/deployments/:deployment/replays'>['body']

/** Times between looks at a replay that goes on: at its sums, and at all its runs. */
const [soonMs, laterMs] = [1_000, 3_000]

/**
 * Query of the last replays of a deployment, the newest first. Their keys are not below that of the
 * deployment: what happens to it changes none of them.
 */
export const replayList = (name: string) =>
  queryOptions({
    queryKey: ['replays', name],
    queryFn: async ({ signal }) =>
      (await ask('GET /control/v1/deployments/:deployment/replays', {
        params: { deployment: name },
        signal,
      })).replays,
    refetchInterval: pollEvery(15_000),
  })

/** Query of one replay, asked again while it goes on. */
export const replayQuery = (name: string, id: string) =>
  queryOptions({
    queryKey: ['replays', name, id],
    queryFn: ({ signal }) =>
      ask('GET /control/v1/deployments/:deployment/replays/:replay', {
        params: { deployment: name, replay: id },
        signal,
      }),
    staleTime: ({ state }) => isOver(state.data) ? Infinity : 0,
    // One that is not there does not come.
    refetchInterval: ({ state }) =>
      isOver(state.data) || (state.data === undefined && state.error !== null)
        ? false
        : pollEvery(soonMs)({ state }),
  })

/** Query of the verdicts on the runs of a replay. */
export const replayedRuns = (name: string, id: string, phase: Replay['phase']) =>
  queryOptions({
    queryKey: ['replays', name, id, 'runs', phase],
    queryFn: async ({ signal }) =>
      (await ask('GET /control/v1/deployments/:deployment/replays/:replay/runs', {
        params: { deployment: name, replay: id },
        signal,
      })).runs,
    placeholderData: keepPreviousData,
    refetchInterval: ({ state }) => phase === 'running' ? pollEvery(laterMs)({ state }) : false,
  })

/** Starts a replay. */
export const startReplay = (name: string, body: ReplayBody) =>
  ask('POST /control/v1/deployments/:deployment/replays', { params: { deployment: name }, body })

/** Ends a replay. */
export const cancelReplay = (name: string, id: string) =>
  ask('POST /control/v1/deployments/:deployment/replays/:replay/cancel', {
    params: { deployment: name, replay: id },
  })

const isOver = (seen: ReplayProgress | undefined): boolean =>
  seen !== undefined && seen.replay.phase !== 'running'
