/** A mailbox: one turn at a time, in order, bounded, and every envelope is answered. */

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'

import { Mailbox } from '../../../../cluster/actors/mailbox.ts'
import type { Actor, Turn } from '../../../../cluster/index.ts'
import { HeddleError } from '../../../../src/errors.ts'
import { expectAlways } from '../../../support/expect-always.ts'

const actor = {} as Actor

function openMailbox({ bound = 8, broken = () => {} }: {
  bound?: number
  broken?: (reason: unknown) => void
} = {}): Mailbox {
  const mailbox = new Mailbox({ bound, envelopes: [], broken, paid: () => {} })
  mailbox.open(actor)
  return mailbox
}

/** A turn that the test ends. */
function longTurn() {
  const { promise, resolve, reject } = Promise.withResolvers<Turn>()
  return { act: () => promise, resolve, reject }
}

describe('a mailbox', () => {
  it('takes the turn in the same tick if it is idle', () => {
    const mailbox = openMailbox()
    const received: string[] = []
    void mailbox.post(() => ({ reply: received.push('turn') }))
    received.push('after')
    expect(received).toEqual(['turn', 'after'])
  })

  it('waits for a long turn before the next, but not for a promised reply', async () => {
    const mailbox = openMailbox()
    const long = longTurn()
    const durable = Promise.withResolvers<string>()
    const first = mailbox.post(long.act)
    const second = mailbox.post(() => ({ reply: durable.promise }))
    const third = mailbox.post(() => ({ reply: 'third' }))
    long.resolve({ reply: 'first' })
    expect(await first).toBe('first')
    expect(await third).toBe('third')
    expect(mailbox.idle).toBe(false)
    durable.resolve('second')
    expect(await second).toBe('second')
    expect(mailbox.idle).toBe(true)
  })

  it('answers full at its bound, and still takes those that waited', async () => {
    const mailbox = openMailbox({ bound: 2 })
    const long = longTurn()
    const under = mailbox.post(long.act)
    const waiting = [1, 2].map((reply) => mailbox.post(() => ({ reply })))
    await expect(mailbox.post(() => ({ reply: 3 }))).rejects.toMatchObject({ code: 'full' })
    const own = mailbox.postUnbounded(() => ({ reply: 'own' }))
    long.resolve({ reply: 0 })
    expect(await Promise.all([under, ...waiting, own])).toEqual([0, 1, 2, 'own'])
  })

  it('lets the event loop continue between many short turns', async () => {
    const mailbox = openMailbox({ bound: 10_000 })
    const long = longTurn()
    void mailbox.post(long.act)
    let turns = 0
    const all = Array.from({ length: 2_000 }, () => mailbox.post(() => ({ reply: ++turns })))
    long.resolve({ reply: 0 })
    await new Promise((resolve) => setImmediate(resolve))
    expect(turns).toBeGreaterThan(0)
    expect(turns).toBeLessThan(2_000)
    await Promise.all(all)
    expect(mailbox.idle).toBe(true)
  })

  it('keeps the order of envelopes across its pauses between many short turns', async () => {
    const mailbox = openMailbox({ bound: 10_000 })
    const long = longTurn()
    void mailbox.post(long.act)
    const received: number[] = []
    const post = (number: number) => mailbox.post(() => ({ reply: received.push(number) }))
    const all = Array.from({ length: 300 }, (_, number) => post(number))
    long.resolve({ reply: 0 })
    // Now the mailbox pauses: some envelopes have had their turns, others have not.
    while (received.length === 0) await Promise.resolve()
    expect(received.length).toBeLessThan(300)
    await Promise.all([...all, post(300)])
    expect(received).toEqual(Array.from({ length: 301 }, (_, number) => number))
  })

  it('passes a refusal to its caller and continues', async () => {
    const mailbox = openMailbox({ broken: () => expect.unreachable() })
    await expect(mailbox.post(() => {
      throw new HeddleError('busy')
    }))
      .rejects.toMatchObject({ code: 'busy' })
    await expect(mailbox.post(() => Promise.reject(new HeddleError('exists'))))
      .rejects.toMatchObject({ code: 'exists' })
    expect(await mailbox.post(() => ({ reply: 'on' }))).toBe('on')
  })

  it('reports any other throw as broken, and the caller learns nothing of it', async () => {
    const reasons: unknown[] = []
    const mailbox = openMailbox({ broken: (reason) => reasons.push(reason) })
    const bug = new TypeError('secret')
    await expect(mailbox.post(() => {
      throw bug
    })).rejects.toMatchObject({ code: 'internal' })
    await expect(mailbox.post(() => Promise.reject(bug))).rejects.not.toThrow('secret')
    expect(reasons).toEqual([bug, bug])
  })

  it('rejects the current turn and all that wait if it fails', async () => {
    const mailbox = openMailbox()
    const long = longTurn()
    const under = mailbox.post(long.act)
    const waiting = mailbox.post(() => ({ reply: 'never' }))
    mailbox.fail(new Error('gone'))
    await expect(under).rejects.toMatchObject({ code: 'internal' })
    await expect(waiting).rejects.toMatchObject({ code: 'unavailable' })
    long.reject(new Error('late'))
    expect(mailbox.idle).toBe(true)
  })

  it('rejects a turn that failed its own actor', async () => {
    const mailbox = openMailbox()
    const asked = mailbox.post(() => {
      mailbox.fail(new HeddleError('stale_append'))
      return { reply: 'well' }
    })
    await expect(asked).rejects.toMatchObject({ code: 'stale_append' })
  })

  it('keeps envelopes while it is shut, for the next mailbox', async () => {
    const mailbox = openMailbox()
    const long = longTurn()
    const under = mailbox.post(long.act)
    const shut = mailbox.shut()
    const kept = mailbox.post(() => ({ reply: 'kept' }))
    long.resolve({ reply: 'under' })
    await shut
    expect(await under).toBe('under')
    const next = new Mailbox({ bound: 8, envelopes: mailbox.takeEnvelopes(), broken: () => {},
      paid: () => {} })
    next.open(actor)
    expect(await kept).toBe('kept')
  })

  it('takes turns one at a time and in order, however long each is', async () => {
    await expectAlways(
      fc.asyncProperty(fc.scheduler(), fc.array(fc.boolean(), { maxLength: 30 }),
        async (scheduler, longs) => {
          const mailbox = openMailbox({ bound: longs.length })
          const received: number[] = []
          let turning = false
          const replies = longs.map((long, number) =>
            mailbox.post(() => {
              expect(turning).toBe(false)
              received.push(number)
              if (!long) return { reply: number }
              turning = true
              return scheduler.schedule(Promise.resolve()).then(() => {
                turning = false
                return { reply: number }
              })
            })
          )
          await scheduler.waitFor(Promise.all(replies))
          expect(await Promise.all(replies)).toEqual(longs.map((_, number) => number))
          expect(received).toEqual(longs.map((_, number) => number))
          expect(mailbox.idle).toBe(true)
        }),
      { share: 3 },
    )
  })
})
