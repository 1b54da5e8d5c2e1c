/** Waiting for a run across changes of its owner: which failures are retried, and how long. */

import { describe, expect, it } from 'vitest'

import { HeddleError } from '../../../../src/errors.ts'
import { joinSteadily } from '../../../../src/thread/client/join-across-owners.ts'
import { virtualEnv } from '../../../support/env.ts'
import { settled } from '../../../support/thread-house.ts'

type Answer = () => Promise<string>

const refused = (code: ConstructorParameters<typeof HeddleError>[0], details = {}): Answer => () =>
  Promise.reject(new HeddleError(code, undefined, details))

/** A join of owners that answer one after another as given; the last answer repeats. */
function joining(answers: readonly Answer[], { made = false, startAgain = async () => {} } = {}) {
  const env = virtualEnv()
  const cancelled = new AbortController()
  const seen = { joins: 0, starts: 0 }
  const outcome = joinSteadily({
    env,
    cancelled: cancelled.signal,
    join: () => answers[Math.min(seen.joins++, answers.length - 1)]!(),
    ...made && { made, startAgain: () => {
      seen.starts++
      return startAgain()
    } },
  }).catch((error: unknown) => error)
  const pass = async (ms: number) => {
    for (let passed = 0; passed < ms; passed += 250) {
      await settled()
      env.advance(250)
    }
    await settled()
  }
  return { env, cancelled, seen, outcome, pass }
}

const ended: Answer = async () => '{"a":1}'

describe('a caller that joins a run', () => {
  it('asks the next owner, and gives up if there is none for a minute', async () => {
    const found = joining([refused('unavailable'), refused('internal', { ambiguous: true }), ended])
    await found.pass(500)
    expect(await found.outcome).toBe('{"a":1}')
    const lost = joining([refused('unavailable')])
    await lost.pass(60_250)
    expect(await lost.outcome).toMatchObject({ code: 'unavailable' })
    expect(lost.env.timers()).toBe(0)
  })

  it('asks the next owner even if the first one failed only after long', async () => {
    const first = Promise.withResolvers<string>()
    const { outcome, pass } = joining([() => first.promise, ended])
    await pass(61_000)
    first.reject(new HeddleError('unavailable'))
    await pass(500)
    expect(await outcome).toBe('{"a":1}')
  })

  it.each(['full', 'not_found', 'internal'] as const)('gets the error %s at once', async (code) => {
    const { outcome, seen } = joining([refused(code)])
    expect(await outcome).toMatchObject({ code })
    expect(seen.joins).toBe(1)
  })
})

describe('the caller that made the run', () => {
  it('waits without a limit, whatever owners answer meanwhile', async () => {
    const owners = Array.from({ length: 400 }, (_, number) =>
      refused(
        (['unavailable', 'full', 'not_owner'] as const)[number % 3]!,
      ))
    const { outcome, pass, seen } = joining([...owners, ended], { made: true })
    await pass(400 * 250)
    expect(await outcome).toBe('{"a":1}')
    expect(seen).toEqual({ joins: 401, starts: 0 })
  })

  it('gets an error at once if the run was never written', async () => {
    const { outcome, seen } = joining([refused('unavailable', { unwritten: true })], { made: true })
    expect(await outcome).toMatchObject({ details: { unwritten: true } })
    expect(seen).toEqual({ joins: 1, starts: 0 })
  })

  it('starts the run once more if it turns out to have been lost', async () => {
    for (const before of [[refused('unavailable'), refused('not_found')], [
      refused('not_found', { again: true }),
    ]]) {
      const { outcome, pass, seen } = joining([...before, ended], { made: true })
      await pass(500)
      expect(await outcome).toBe('{"a":1}')
      expect(seen.starts).toBe(1)
    }
  })

  it('gets the error if the run cannot be started once more', async () => {
    const { outcome } = joining([refused('not_found', { again: true })], { made: true,
      startAgain: () => Promise.reject(new HeddleError('unavailable')) })
    expect(await outcome).toMatchObject({ code: 'unavailable' })
  })

  it('does not start it again if the run was on disk or was deleted', async () => {
    for (const before of [
      [refused('unavailable', { written: true }), refused('not_found')],
      [refused('unavailable'), refused('not_found', { deleted: true })],
      [refused('not_found', { again: true, deleted: true })],
    ]) {
      const { outcome, pass, seen } = joining(before, { made: true })
      await pass(500)
      expect(await outcome).toMatchObject({ code: 'not_found' })
      expect(seen.starts).toBe(0)
    }
  })

  it('gets not_found at once if the first owner asked no longer has the run', async () => {
    const { outcome, seen } = joining([refused('not_found')], { made: true })
    expect(await outcome).toMatchObject({ code: 'not_found' })
    expect(seen).toEqual({ joins: 1, starts: 0 })
  })
})

describe('a caller that goes', () => {
  it.each([false, true])('asks no more and starts nothing more (made: %s)', async (made) => {
    const { env, cancelled, outcome, pass, seen } = joining([refused('unavailable'),
      refused('not_found')], { made })
    await settled()
    cancelled.abort(new HeddleError('unavailable', 'The client went.'))
    await pass(1_000)
    await outcome
    expect(seen.starts).toBe(0)
    expect(seen.joins).toBeLessThanOrEqual(2)
    expect(env.timers()).toBe(0)
  })
})
