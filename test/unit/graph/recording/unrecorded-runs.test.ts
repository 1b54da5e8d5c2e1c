/** Recordings that may be lost with their process: which runs the log names. */

import { expect, it } from 'vitest'

import type { TraceBody } from '../../../../src/graph/engine/step-traces.ts'
import type { Execution } from '../../../../src/graph/execution.ts'
import { UnrecordedRuns } from '../../../../src/graph/recording/unrecorded-runs.ts'
import { virtualEnv } from '../../../support/env.ts'

const runOf = (id: string, kind = 'run') =>
  ({ threadId: `t${id}`, runId: `0197aaaa-0000-7000-8000-00000000000${id}`,
    request: { kind } }) as unknown as Execution

it('names runs that have ended and whose recording has not arrived', () => {
  const env = virtualEnv()
  const runs = new UnrecordedRuns(env, 1)
  for (const run of [runOf('1'), runOf('2'), runOf('3', 'edit')]) runs.ended(run)
  runs.received({ form: 'recording', runId: runOf('1').runId } as TraceBody)
  runs.warn('It ended by itself with SIGKILL.')
  const { threadId, runId } = runOf('2')
  expect(env.lines).toMatchObject([{ level: 'warn',
    details: { threadId, runId, reason: 'It ended by itself with SIGKILL.' } }])
  runs.warn('again')
  expect(env.lines).toHaveLength(1)
})

it('names no run of long ago, and none that is not recorded', () => {
  const env = virtualEnv()
  const runs = new UnrecordedRuns(env, 1)
  runs.ended(runOf('1'))
  env.advance(10_001)
  runs.warn('late')
  const none = new UnrecordedRuns(env, 0)
  none.ended(runOf('1'))
  none.warn('off')
  runs.ended(runOf('2'))
  runs.clear()
  runs.warn('flushed')
  expect(env.lines).toEqual([])
})
