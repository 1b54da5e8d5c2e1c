/** Callers that wait for a run: answered when it ends, or forgotten once they are gone. */

import { describe, expect, it } from 'vitest'

import { HeddleError } from '../../../../src/errors.ts'
import { RunWaiters, unwritten } from '../../../../src/thread/actor/run-waiters.ts'
import { ThreadHouse } from '../../../support/thread-house.ts'

const left = new HeddleError('unavailable', 'The client went.')
const failure = (wait: Promise<unknown>) => wait.then(() => 'answered', (error: unknown) => error)

describe('a caller that waits for a run', () => {
  it('is rejected and forgotten at once if it goes', async () => {
    const waiters = new RunWaiters()
    const cancelled = new AbortController()
    const waiting = failure(waiters.wait('r', cancelled.signal))
    expect(waiters.has('r')).toBe(true)
    cancelled.abort(left)
    expect(waiters.has('r')).toBe(false)
    expect(await waiting).toBe(left)
  })

  it('is not added if it has gone before', async () => {
    const waiters = new RunWaiters()
    expect(await failure(waiters.wait('r', AbortSignal.abort(left)))).toBe(left)
    expect(waiters.has('r')).toBe(false)
  })

  it('is answered though another one has gone', async () => {
    const waiters = new RunWaiters()
    const cancelled = new AbortController()
    const going = failure(waiters.wait('r', cancelled.signal))
    const staying = [waiters.wait('r', new AbortController().signal), waiters.wait('r')]
    cancelled.abort(left)
    expect(waiters.has('r')).toBe(true)
    waiters.answer('r', Promise.resolve('{}'))
    expect(await Promise.all(staying)).toEqual(['{}', '{}'])
    expect(await going).toBe(left)
  })

  it('does not remove a new waiter if it goes after its answer', async () => {
    const waiters = new RunWaiters()
    const cancelled = new AbortController()
    const answered = waiters.wait('r', cancelled.signal)
    waiters.answer('r', Promise.resolve('{}'))
    void waiters.wait('r')
    cancelled.abort(left)
    expect(await answered).toBe('{}')
    expect(waiters.has('r')).toBe(true)
  })
})

describe('a run of this member', () => {
  it('continues if a caller that joined it goes, and answers the others', async () => {
    const house = new ThreadHouse()
    const run = house.run()
    await house.client.startRun('t', 'x', run)
    const timers = house.env.timers()
    const cancelled = new AbortController()
    const going = failure(
      house.client.joinRun('t', 'x', run.runId, cancelled.signal),
    )
    const staying = house.client.joinRun('t', 'x', run.runId)
    cancelled.abort(left)
    expect(await going).toBe(left)
    expect(house.env.timers()).toBe(timers)
    house.host.end(house.host.only)
    expect(await staying).toBe('{}')
  })
})

it.each([[false, true], [true, false]])(
  'A run whose write failed counts as unwritten, unless the failure is ambiguous (%s).',
  (ambiguous, isUnwritten) => {
    const failed = new HeddleError('unavailable', undefined, { ambiguous })
    expect(unwritten(failed).details).toMatchObject({ unwritten: isUnwritten })
  },
)
