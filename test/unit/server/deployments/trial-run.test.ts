/** A trial run: what it asks for, and what it finds bad. */

import { expect, it } from 'vitest'

import { HeddleError } from '../../../../src/errors.ts'
import { trialRuns } from '../../../../src/server/deployments/trial-run.ts'
import { virtualEnv } from '../../../support/env.ts'
import { settled } from '../../../support/thread-house.ts'
import { aDeployment, aRevision } from '../../../support/rollout-records.ts'

/** A trial whose run ends with this: values, an error, or never. */
function trial(end: object | Error | 'never', expectJson?: string) {
  const env = virtualEnv()
  const [seen, cancelled]: [unknown[], unknown[]] = [[], []]
  const stop = new AbortController()
  const row = { threadId: 'hidden', runId: 'trial' }
  const tryOut = trialRuns({ env,
    members: { live: () => ['a', 'b'], learn: async (...learned) => void seen.push(learned) },
    runs: { cancel: async (...asked) => void cancelled.push(asked),
      createStatelessAndWait: async (...asked) => {
        seen.push(asked)
        if (end instanceof Error) throw end
        const result = end === 'never'
          ? new Promise<never>(() => {})
          : Promise.resolve(JSON.stringify(end))
        return { row, result: () => result } as never
      } } })
  const found = tryOut(aDeployment(), aRevision('r2', {
    trial: { graphId: 'agent', inputJson: '{"a":1}',
      ...expectJson !== undefined && { expectJson } },
  }), stop.signal)
  return { env, seen, found, stop, cancelled }
}

it("runs on the new revision in the owner's data, when all members know it", async () => {
  const { seen, found, cancelled } = trial({ text: 'hello', more: 1 }, '{"text":"hello"}')
  expect(await found).toBeNull()
  expect(cancelled).toEqual([])
  expect(seen).toEqual([['a', 'shop'], ['b', 'shop'], ['acme@shop', { assistant_id: 'agent',
    input: { a: 1 }, metadata: { trial: true } }, { commandId: '', awaits: true, headers: {},
    revision: 'r2', trialMs: 60_000 }]])
})

it.each([
  [{ __error__: { error: 'Error', message: 'no key' } }, 'failed: no key'],
  [{ text: 'else' }, 'ended without {"text":"hello"} in its state, which is {"text":"else"}.'],
  [new HeddleError('invalid', 'The input is wrong.'), 'failed: The input is wrong.'],
])('finds %j bad', async (end, message) => {
  expect(await trial(end, '{"text":"hello"}').found).toBe(`The trial run of "agent" ${message}`)
})

it('may be made again if a member was away, and waits for a minute', async () => {
  await expect(trial(new HeddleError('unavailable')).found).rejects
    .toMatchObject({ code: 'unavailable' })
  const { env, found, cancelled } = trial('never')
  await settled()
  env.advance(60_000)
  expect(await found).toBe('The trial run of "agent" failed: it has not ended within 60 s')
  expect(cancelled).toEqual([['acme@shop', { threadId: 'hidden', runId: 'trial' }, {}]])
})

it('is cancelled when its roll-out ends, and says nothing then', async () => {
  const reason = new HeddleError('not_ready', 'The roll-out has ended without it.')
  const late = trial('never')
  await settled()
  late.stop.abort(reason)
  await expect(late.found).rejects.toBe(reason)
  expect(late.cancelled).toHaveLength(1)
  expect(late.env.timers()).toBe(0)
  const early = trial('never')
  early.stop.abort(reason)
  await expect(early.found).rejects.toBe(reason)
  expect([early.seen.length, early.cancelled]).toEqual([2, []])
})
