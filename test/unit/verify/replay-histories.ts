/** Histories that break rules about recordings and replays, and parts of correct ones. */

import type { Call } from '../../../verify/history/history.ts'
import { History } from './made-history.ts'

const path = '/control/v1/deployments/verify/replays'
const replay = (phase: string, experiment: string | null) => (
  { id: 'r', revision: 'r1', phase, experiment }
)

/** A reading of replay `r`. */
export function readReplay(phase: string, experiment: string | null = null): Partial<Call> {
  return { threadId: undefined, path: `${path}/r`, response: { replay: replay(phase, experiment) } }
}

export const startReplay = (): Partial<Call> => ({ ...readReplay('running'), status: 202, path })

/** A reading of the verdict on run `a` of thread `t`. */
export function readVerdicts(verdict: string, ...runs: readonly string[]): Partial<Call> {
  return { threadId: undefined, path: `${path}/r/runs`, response: { runs: runs.map((run) => (
    { thread_id: 't', run_id: run, recorded_revision: 'r1', verdict }
  )) } }
}

/** A reading of a recorded call of run `a`. */
export function readCall(text: string): Partial<Call> {
  return { path: '/d/verify/threads/t/runs/a/calls/0', response: { request: { text } } }
}

const started = () => new History().create().call('replay.start', startReplay())

export const brokenReplays: Readonly<Record<string, History>> = {
  'replays that have ended stay so': started().call('replay.get', readReplay('done'))
    .call('replay.get', readReplay('running')),
  'cancelled replays leave nothing': started().call('replay.get', readReplay('cancelled', 'e')),
  'replays end': started().quiet().call('replay.get', readReplay('running')),
  'replays have runs that exist': started().call('replay.runs', readVerdicts('same', 'a', 'a')),
  'runs agree with their revision': started().call('replay.runs', readVerdicts('diverged', 'a')),
  'recordings are of their run': new History().create().run('a').call('run.call', readCall('b')),
  'deleted runs have no recording': new History().create().run('a')
    .call('run.delete', { path: '/threads/t/runs/a', status: 204 }).view('a', 'gone')
    .call('run.call', readCall('a')),
}
