/** One lease and its questions to the counter: when a lease begins and ends. */

import { describe, expect, it } from 'vitest'

import type { Grant, LimitQuestion } from '../../../src/limits/index.ts'
import { TokenLease } from '../../../src/limits/token-lease.ts'
import { virtualEnv } from '../../support/env.ts'
import { aRow } from './limit-world.ts'

const leaseMs = 500

/** A lease whose counter leases ten tokens for each question, when the test calls `answer`. */
function askingLease() {
  const env = virtualEnv()
  const questions: LimitQuestion[] = []
  const answers: (() => void)[] = []
  const tokenLease = new TokenLease({
    env,
    limit: aRow,
    doors: () => 1,
    tally: { admitted: 0, near: 0, refused: 0, alone: 0, failed: 0 },
    ask: (question) =>
      new Promise<Grant>((answered) => {
        questions.push(question)
        const lease = { id: `${questions.length}`, tokens: 10, goodMs: leaseMs }
        const { waiting: admitted } = question
        answers.push(() => answered({ counter: 'one', admitted, lease, remaining: 50, waitMs: 0 }))
      }),
  })
  return { env, questions, lease: tokenLease, answer: async () => {
    answers.shift()!()
    await new Promise(setImmediate)
  } }
}

describe('a lease', () => {
  it('is used until its time since the question has ended, then given back', async () => {
    const { env, questions, lease, answer } = askingLease()
    const first = lease.charge()
    env.advance(leaseMs - 1)
    await answer()
    expect(await first).toMatchObject({ admitted: true })
    expect(lease.charge()).toMatchObject({ admitted: true, remaining: 59 })
    env.advance(1)
    expect(lease.charge()).toBeInstanceOf(Promise)
    await answer()
    env.advance(leaseMs)
    expect(lease.tidy()).toBe(true)
    expect(questions.at(-1)!.ended).toEqual([
      { id: '1', used: [[expect.any(Number), 1]] },
      { id: '2', used: [[expect.any(Number), 1]] },
    ])
    for (const { used: [use] } of questions.at(-1)!.ended) {
      expect(use![0]).toBeLessThanOrEqual(leaseMs)
      expect(use![0]).toBeGreaterThan(leaseMs / 2)
    }
  })

  it('that arrives too late is given back unused', async () => {
    const { env, questions, lease, answer } = askingLease()
    const first = lease.charge()
    env.advance(leaseMs)
    await answer()
    expect(await first).toMatchObject({ admitted: true })
    expect(lease.tidy()).toBe(true)
    expect(questions.map(({ ended, waiting }) => [ended.length, waiting])).toEqual([[0, 1], [1, 0]])
    expect(questions[1]!.ended).toEqual([{ id: '1', used: [] }])
    // No request came since: it gives back and asks for no more.
    expect(questions[1]!.perSecond).toBe(0)
  })

  it('is void once another counter asks what was admitted', async () => {
    const { lease, answer } = askingLease()
    const first = lease.charge()
    await answer()
    await first
    expect(lease.recent('two')).toEqual([[0, 1]])
    expect(lease.charge()).toBeInstanceOf(Promise)
  })

  it('is renewed before it is used up, without delaying a request', async () => {
    const { questions, lease, answer } = askingLease()
    void lease.charge()
    await answer()
    for (let used = 0; used < 10; used++) expect(lease.charge()).toMatchObject({ admitted: true })
    expect(questions).toHaveLength(2)
    await answer()
    expect(lease.charge()).toMatchObject({ admitted: true })
    for (let used = 0; used < 5; used++) void lease.charge()
    expect(questions[2]!.ended).toEqual([{ id: '1', used: [[0, 10]] }])
  })
})
