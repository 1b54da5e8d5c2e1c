/** Effects of HTTP calls whose rules were changed or removed before their node runs again. */

import { interrupt } from '@langchain/langgraph'
import { describe, expect, it } from 'vitest'

import { effectRulesOf } from '../../../../src/graph/effect-rule.ts'
import { useTasks } from '../../../support/engine-thread.ts'
import { post } from '../../../support/node-effects.ts'
import { asked, threadOf } from './node-thread.ts'

useTasks()

const bank = 'https://bank.example.org'
const keyed = (path: string) => effectRulesOf([{ match: `POST ${bank}${path}`, once: 'key' }])
const before = keyed('/v1/charges')
const wider = keyed('/v1/*')
/** The pattern is about another host now. */
const elsewhere = effectRulesOf([{ match: 'POST https://other.example.org/**', once: 'key' }])
const namesOnly = effectRulesOf([{ name: 'charge', once: 'key' }])

/** A node that charges and then asks a person. With `fails`, the first response is lost. */
function charging({ fails = false, amounts = [30] } = {}) {
  const keys: (string | undefined)[] = []
  let attempts = 0
  const thread = threadOf(async () => {
    const amount = amounts[Math.min(attempts++, amounts.length - 1)]
    const paid = await post({ url: `${bank}/v1/charges`, body: { amount }, receive: async (key) => {
      keys.push(key)
      if (fails && keys.length === 1) throw new Error('reset')
      return [200, 'paid']
    } })
    return [paid, interrupt('Was it good?')]
  }, before)
  return { ...thread, keys }
}

describe('an HTTP call that was made under another rule', () => {
  it.each([['has a wider pattern', wider], ['is about another host', elsewhere]])(
    'has its response again if the rule %s now',
    async (_, rules) => {
      const { bench, start, answer, keys } = charging()
      await start({ forget: true })
      bench.effects = rules
      const { outcome } = await answer('yes')
      expect([outcome.status, outcome.waiting, keys.length]).toEqual(['success', false, 1])
      expect(bench.log.values()['out']).toEqual([['paid', 'yes']])
    },
  )

  it('has the same key again if its response was lost', async () => {
    const { bench, start, resume, keys } = charging({ fails: true })
    await start({ forget: true })
    bench.effects = wider
    expect(asked(await resume())).toEqual(['Was it good?'])
    expect(keys).toHaveLength(2)
    expect(keys[1]).toBe(keys[0])
  })

  it('waits for a person if its response was lost and no rule matches it any more', async () => {
    const { bench, start, resume, answer, keys } = charging({ fails: true })
    await start({ forget: true })
    bench.effects = elsewhere
    expect(asked(await resume())).toMatchObject([{ reason: 'effect', input: { method: 'POST' } }])
    expect(keys).toHaveLength(1)
    expect(asked(await answer('do'))).toEqual(['Was it good?'])
    await answer('yes')
    expect(keys).toHaveLength(2)
  })

  it.each([['has a wider pattern', wider], ['is about another host', elsewhere]])(
    'is refused with another body if the rule %s now',
    async (_, rules) => {
      const { bench, start, answer, keys } = charging({ amounts: [30, 20] })
      await start({ forget: true })
      bench.effects = rules
      const { outcome } = await answer('yes')
      expect(outcome.error?.message).toContain('has already done the effect')
      expect(keys).toHaveLength(1)
    },
  )

  it.each([['no rule is about calls', namesOnly], ['there are no rules', undefined]])(
    'fails its run if %s any more',
    async (_, rules) => {
      const { bench, start, answer, keys } = charging()
      await start({ forget: true })
      bench.effects = rules
      const { outcome } = await answer('yes')
      expect(outcome.error?.message).toContain('has no rule for HTTP calls any more')
      expect(keys).toHaveLength(1)
      bench.effects = before
      expect((await answer('yes')).outcome).toMatchObject({ status: 'success', waiting: false })
      expect(keys).toHaveLength(1)
    },
  )
})

it('a call of a removed rule passes if its task has made no such call', async () => {
  const { bench, start, keys } = charging()
  bench.effects = elsewhere
  await start()
  expect(keys).toEqual([undefined])
})
