/** Effects that failed, and that the code of the node begins again with another input. */

import { readFileSync } from 'node:fs'

import { interrupt } from '@langchain/langgraph'
import { describe, expect, it } from 'vitest'

import { effectRulesOf } from '../../../../src/graph/effect-rule.ts'
import { useTasks } from '../../../support/engine-thread.ts'
import { effect, isInterrupt, post } from '../../../support/node-effects.ts'
import { asked, threadOf } from './node-thread.ts'

useTasks()

const url = 'https://bank.example.org/charges'
const rules = effectRulesOf([{ name: 'charge', once: 'key' }, { name: 'mail', once: 'ask' }, {
  match: 'POST https://bank.example.org/**',
  once: 'key',
}])

/** A node that charges, and charges less if that fails. Its receiver fails the first time. */
function charging(name: string) {
  const received: { readonly amount: number; readonly key: string }[] = []
  const charge = (amount: number) =>
    effect(name, { amount }, ({ key }) => {
      received.push({ amount, key })
      if (received.length === 1) throw new Error('reset')
      return `paid ${amount}`
    })
  const thread = threadOf(() =>
    charge(30).catch((error: unknown) => {
      if (isInterrupt(error)) throw error
      return charge(20)
    }), rules)
  return { ...thread, received }
}

describe.each(['charge', 'mail'])('the retry of "%s" with another input', (name) => {
  it('waits for a decision about the effect that failed', async () => {
    const { start, received } = charging(name)
    expect(asked(await start())).toMatchObject([{ reason: 'effect', effect: name,
      input: { amount: 30 } }])
    expect(received).toHaveLength(1)
  })

  it('does not happen if the effect was done', async () => {
    const { start, answer, received, bench } = charging(name)
    await start({ forget: true })
    await answer({ decision: 'done', result: 'paid after all' })
    expect(bench.log.values()).toMatchObject({ out: ['paid after all'] })
    expect(received).toHaveLength(1)
  })

  it('does not happen if the effect is done again', async () => {
    const { start, answer, received, bench } = charging(name)
    await start({ forget: true })
    await answer('do')
    expect(bench.log.values()).toMatchObject({ out: ['paid 30'] })
    expect(received.map(({ amount }) => amount)).toEqual([30, 30])
    expect(new Set(received.map(({ key }) => key)).size).toBe(1)
  })

  it('has a key of its own once a person lets the effect fail', async () => {
    const { start, answer, received, bench } = charging(name)
    await start({ forget: true })
    await answer('fail')
    expect(bench.log.values()).toMatchObject({ out: ['paid 20'] })
    expect(received.map(({ amount }) => amount)).toEqual([30, 20])
    expect(new Set(received.map(({ key }) => key)).size).toBe(2)
  })
})

describe('an effect whose name has a part of its own', () => {
  it('has the rule before the "#", and does not wait for other effects', async () => {
    const received: string[] = []
    const keys = new Set<string>()
    const { start } = threadOf(async () => {
      const failed: string[] = []
      for (const order of ['a', 'b', 'c']) {
        await effect(`charge#${order}`, { order }, ({ key }) => {
          received.push(order)
          keys.add(key)
          if (order !== 'b') throw new Error('reset')
        }).catch(() => failed.push(order))
      }
      return failed
    }, rules)
    const { outcome } = await start()
    expect(outcome).toMatchObject({ status: 'success', waiting: false })
    expect(received).toEqual(['a', 'b', 'c'])
    expect(keys.size).toBe(3)
  })

  it('is charged once for each order by the loop of the documentation', async () => {
    const page = readFileSync('docs/operate/effects.md', 'utf8')
    const [, loop = ''] = /```ts\n(for \(const order of orders\)[^`]*`[^`]*`[^`]*)```/.exec(page) ??
      []
    const run = new Function('effect', 'orders', 'bank', 'report',
      `return (async () => { ${loop} })()`) as (...means: unknown[]) => Promise<void>
    const charged = new Map<string, Set<string>>()
    const bank = {
      charge: ({ id }: { readonly id: string },
        { idempotencyKey }: { readonly idempotencyKey: string }) => {
        const keys = charged.get(id) ?? new Set()
        charged.set(id, keys.add(idempotencyKey))
        if (id === 'b' && keys.size === 1) throw new Error('reset')
      },
    }
    const failed: unknown[] = []
    const { start, answer } = threadOf(async () => {
      await run(effect, [{ id: 'a' }, { id: 'b' }, { id: 'c' }], bank,
        (error: Error) => void failed.push(error.message))
      return interrupt('Was it good?')
    }, rules)
    expect(asked(await start({ forget: true }))).toEqual(['Was it good?'])
    await answer('yes')
    expect([...charged].map(([id, keys]) => [id, keys.size])).toEqual([['a', 1], ['b', 1], [
      'c',
      1,
    ]])
    expect(failed).toEqual(['reset', 'reset'])
  })

  it('is refused if that part is too long', async () => {
    const { start } = threadOf(() => effect(`charge#${'x'.repeat(129)}`, {}, () => 1), rules)
    expect((await start()).outcome.error?.message).toContain('more than 128 characters')
  })

  it('is refused if no rule has the part before it', async () => {
    const { start } = threadOf(() => effect('other#a', {}, () => 1), rules)
    expect((await start()).outcome.error?.message).toContain('does not name the effect "other"')
  })
})

describe('an HTTP call after one that failed', () => {
  const calling = (second: string, body: unknown) => {
    const keys: (string | undefined)[] = []
    const receive = async (key: string | undefined) => {
      keys.push(key)
      return keys.length === 1 ? [503, 'busy'] as const : [200, 'paid'] as const
    }
    const thread = threadOf(() =>
      post({ url, body: { amount: 30 }, receive })
        .catch(() => post({ url: second, body, receive })), rules)
    return { ...thread, keys }
  }

  it('waits for a decision if it has another body', async () => {
    const { start, answer, keys, bench } = calling(url, { amount: 20 })
    expect(asked(await start({ forget: true }))).toMatchObject([{ reason: 'effect',
      input: { url, body: { amount: 30 } } }])
    expect(keys).toHaveLength(1)
    await answer('fail')
    expect([keys.length, bench.log.values()['out']]).toEqual([1, []])
  })

  it('has the same key if it has the same body', async () => {
    const { start, keys } = calling(url, { amount: 30 })
    expect((await start()).outcome.waiting).toBe(false)
    expect(keys[0]).toBe(keys[1])
  })

  it('is another effect if it has another URL', async () => {
    const { start, keys } = calling('https://bank.example.org/notes', { amount: 20 })
    expect((await start()).outcome.waiting).toBe(false)
    expect(new Set(keys).size).toBe(2)
  })
})
