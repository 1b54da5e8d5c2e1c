/** Which worker gets the next execution, and which execution is suspected of blocking one. */

import { describe, expect, it } from 'vitest'

import { CrashBlame } from '../../../../../src/graph/pool/crash-blame.ts'
import { LoopLoad } from '../../../../../src/graph/pool/turns/loop-load.ts'
import { choose, chooseFor } from '../../../../../src/graph/pool/turns/worker-choice.ts'

/** A worker whose loop `aheadMs` may be held. */
function worker(name: string, executions = 0, silentMs = 0, aheadMs = 0) {
  const load = new LoopLoad(() => 0)
  if (aheadMs > 0) load.add(1, { ms: aheadMs, lane: 'a' })
  return { name, executions, silentMs, load }
}

describe('choose', () => {
  it('takes the first idle worker, so that few stay warm', () => {
    expect(choose([worker('a', 1), worker('b'), worker('c')])?.name).toBe('b')
  })

  it('takes the least busy one if none is idle, the first of several', () => {
    expect(choose([worker('a', 3), worker('b', 2), worker('c', 2)])?.name).toBe('b')
  })

  it('takes the one whose loop is held for the shortest time, before the least busy one', () => {
    expect(choose([worker('a', 1, 0, 150), worker('b', 9)])?.name).toBe('b')
  })

  it('takes nobody whose loop cannot begin the run soon, not even a preferred one', () => {
    const held = worker('a', 1, 0, 150)
    const run = { ms: 10, lane: 'a' }
    expect(chooseFor(run, [held, worker('b', 9)], held)?.name).toBe('b')
    expect(chooseFor(run, [held], held)).toBeUndefined()
    expect(chooseFor({ ...run, lane: 'b' }, [held])).toBe(held)
  })

  it('prefers the worker that remembers the thread, busy or not', () => {
    const remembers = worker('b', 5)
    expect(choose([worker('a'), remembers], remembers)).toBe(remembers)
  })

  it('passes over silent workers, even preferred ones, and full ones', () => {
    const silent = worker('a', 0, 1000)
    expect(choose([silent, worker('b', 1000), worker('c', 9)], silent)?.name).toBe('c')
    expect(choose([silent, worker('b', 1000)], silent)).toBeUndefined()
    expect(choose([silent])).toBeUndefined()
    expect(choose([])).toBeUndefined()
  })

  it('passes over a preferred worker that is gone', () => {
    expect(choose([worker('a')], worker('gone'))?.name).toBe('a')
  })
})

describe('CrashBlame', () => {
  it('falls on the execution whose code was entered last', () => {
    const crashBlame = new CrashBlame()
    crashBlame.blame(['a', 'b', 'c'], 'b')
    expect(['a', 'b', 'c'].filter((key) => crashBlame.isSuspect(key))).toEqual(['b'])
  })

  it('falls on the execution that was there both times if the first guess was wrong', () => {
    const crashBlame = new CrashBlame()
    crashBlame.blame(['spinner', 'innocent'], 'innocent')
    expect(crashBlame.isSuspect('spinner')).toBe(false)
    crashBlame.blame(['spinner', 'newcomer'], 'newcomer')
    expect(crashBlame.isSuspect('spinner')).toBe(true)
    expect(crashBlame.isSuspect('newcomer')).toBe(false)
  })

  it('ends with the execution', () => {
    const crashBlame = new CrashBlame()
    crashBlame.blame(['a'], undefined)
    expect(crashBlame.isSuspect('a')).toBe(true)
    crashBlame.clear('a')
    expect(crashBlame.isSuspect('a')).toBe(false)
  })

  it('forgets the oldest if there are many', () => {
    const crashBlame = new CrashBlame()
    crashBlame.blame(['old'], 'old')
    for (let i = 0; i < 1000; i++) crashBlame.blame([`${i}`], undefined)
    expect(crashBlame.isSuspect('old')).toBe(false)
  })
})
