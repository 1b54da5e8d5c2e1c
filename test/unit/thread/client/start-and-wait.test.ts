/** A run whose caller waits for its result: started again only if it may have been lost. */

import { describe, expect, it } from 'vitest'

import type { RunRow } from '../../../../proto/gen/storage/v1/row.ts'
import { HeddleError } from '../../../../src/errors.ts'
import { startAndWait } from '../../../../src/thread/client/start-and-wait.ts'
import type { StartRun } from '../../../../src/thread/model/thread-client.ts'
import { virtualEnv } from '../../../support/env.ts'
import { aRun, settled } from '../../../support/thread-house.ts'

const lost = () => Promise.reject(new HeddleError('not_found', undefined, { again: true }))

/** A caller whose first join finds no run; `answers` is the id of the run that was accepted. */
async function waiting(run: Partial<StartRun>, answers = 'r') {
  const env = virtualEnv()
  const started: StartRun[] = []
  const joined: string[] = []
  const { row, result } = await startAndWait({
    env,
    run: aRun('r', run),
    start: async (asked) => {
      started.push(asked)
      return { runId: answers } as RunRow
    },
    join: (runId) => joined.push(runId) === 1 ? lost() : Promise.resolve('{"a":1}'),
  })
  const outcome = result().catch((error: unknown) => error)
  await settled()
  env.advance(250)
  await settled()
  return { row, started, joined, outcome: await outcome }
}

describe('a run that is waited for', () => {
  it('is started again, as it was, if it was lost before it was on disk', async () => {
    const { row, started, joined, outcome } = await waiting({ awaited: true })
    expect([row.runId, outcome]).toEqual(['r', '{"a":1}'])
    expect(started).toHaveLength(2)
    expect(started[1]).toEqual({ ...started[0], again: true, againAfterMs: 0 })
    expect(joined).toEqual(['r', 'r'])
  })

  it.each([['it was on disk', { awaited: false }, 'r'], ['an earlier request made it', {
    awaited: true,
  }, 'other']])(
    'is not started again if %s',
    async (_, run, answers) => {
      const { started, joined, outcome } = await waiting(run, answers)
      expect(started).toHaveLength(1)
      expect(joined).toEqual([answers])
      expect(outcome).toMatchObject({ code: 'not_found' })
    },
  )
})
