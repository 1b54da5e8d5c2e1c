/** Who waits for a run: answered with it, or gone before it and of no account from then on. */

import { describe, expect, it } from 'vitest'

import { HeddleError } from '../../../src/errors.ts'
import { RunWaiters } from '../../../src/thread/run-waiters.ts'
import { ThreadHouse } from '../../support/thread-house.ts'

const left = new HeddleError('unavailable', 'The client went.')
const failure = (wait: Promise<unknown>) => wait.then(() => 'answered', (error: unknown) => error)

describe('who waits for a run', () => {
  it('and goes is told so at once, and the run has no waiter left', async () => {
    const waiters = new RunWaiters()
    const gone = new AbortController()
    const waiting = failure(waiters.wait('r', gone.signal))
    expect(waiters.has('r')).toBe(true)
    gone.abort(left)
    expect(waiters.has('r')).toBe(false)
    expect(await waiting).toBe(left)
  })

  it('has gone before, and never is among them', async () => {
    const waiters = new RunWaiters()
    expect(await failure(waiters.wait('r', AbortSignal.abort(left)))).toBe(left)
    expect(waiters.has('r')).toBe(false)
  })

  it('stays where another goes, and is answered', async () => {
    const waiters = new RunWaiters()
    const gone = new AbortController()
    const going = failure(waiters.wait('r', gone.signal))
    const staying = [waiters.wait('r', new AbortController().signal), waiters.wait('r')]
    gone.abort(left)
    expect(waiters.has('r')).toBe(true)
    waiters.answer('r', Promise.resolve('{}'))
    expect(await Promise.all(staying)).toEqual(['{}', '{}'])
    expect(await going).toBe(left)
  })

  it('and goes after the answer takes nobody with him who waits anew', async () => {
    const waiters = new RunWaiters()
    const gone = new AbortController()
    const answered = waiters.wait('r', gone.signal)
    waiters.answer('r', Promise.resolve('{}'))
    void waiters.wait('r')
    gone.abort(left)
    expect(await answered).toBe('{}')
    expect(waiters.has('r')).toBe(true)
  })
})

describe('a run of this member', () => {
  it('is waited for no longer than somebody is there, and goes on', async () => {
    const house = new ThreadHouse()
    const run = house.run()
    await house.client.startRun('t', 'x', run)
    const timers = house.env.timers()
    const gone = new AbortController()
    const going = failure(house.client.joinRun('t', 'x', run.runId, { gone: gone.signal }))
    const staying = house.client.joinRun('t', 'x', run.runId)
    gone.abort(left)
    expect(await going).toBe(left)
    expect(house.env.timers()).toBe(timers)
    house.host.end(house.host.only)
    expect(await staying).toBe('{}')
  })
})
