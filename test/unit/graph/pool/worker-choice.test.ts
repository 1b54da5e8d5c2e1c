/** Which worker gets the next execution, and which execution is suspected of blocking one. */

import { describe, expect, it } from 'vitest'

import { CrashBlame } from '../../../../src/graph/pool/crash-blame.ts'
import { choose } from '../../../../src/graph/pool/worker-choice.ts'

const worker = (name: string, executions = 0, silentMs = 0) => ({ name, executions, silentMs })

describe('choose', () => {
  it('takes the first idle worker, so that few stay warm', () => {
    expect(choose([worker('a', 1), worker('b'), worker('c')])?.name).toBe('b')
  })

  it('takes the least busy one if none is idle, the first of several', () => {
    expect(choose([worker('a', 3), worker('b', 2), worker('c', 2)])?.name).toBe('b')
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
