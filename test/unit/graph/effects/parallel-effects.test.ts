/** Effects of one name that a node has in progress at once. */

import { interrupt } from '@langchain/langgraph'
import { describe, expect, it } from 'vitest'

import { effectRulesOf } from '../../../../src/graph/effect-rule.ts'
import { useTasks } from '../../../support/engine-thread.ts'
import { effect, post } from '../../../support/node-effects.ts'
import { asked, threadOf } from './node-thread.ts'

useTasks()

const bank = 'https://bank.example.org'
const rules = effectRulesOf([{ name: 'charge', once: 'key' }, { name: 'model', keep: 'answer' }, {
  match: `POST ${bank}/**`,
  once: 'key',
}])

/** Resolves in the given order of calls. */
function inOrder(order: readonly string[]) {
  const turns = new Map(order.map((name) => [name, Promise.withResolvers<void>()]))
  const [first] = order
  turns.get(first!)!.resolve()
  return {
    turn: (name: string) => turns.get(name)!.promise,
    done: (name: string) => turns.get(order[order.indexOf(name) + 1]!)?.resolve(),
  }
}

describe('effects of one name in progress at once', () => {
  it('have their results after a question, whatever the order of their calls is then', async () => {
    const charged: string[] = []
    // The slower model comes first in the code, so its charge is the second one.
    const models = inOrder(['b', 'a'])
    const { start, answer, bench } = threadOf(async () => {
      const paid = await Promise.all(['a', 'b'].map(async (order) => {
        await effect('model', { order }, () => models.turn(order))
        return await effect('charge', { order }, () => {
          charged.push(order)
          models.done(order)
          return `paid ${order}`
        })
      }))
      return [...paid, interrupt('Was it good?')]
    }, rules)
    expect(asked(await start({ forget: true }))).toEqual(['Was it good?'])
    expect(charged).toEqual(['b', 'a'])
    await answer('yes')
    expect(bench.log.values()['out']).toEqual([['paid a', 'paid b', 'yes']])
    expect(charged).toHaveLength(2)
  })

  it('are new if an earlier attempt has not reached them, although they come first now',
    async () => {
      const charged: string[] = []
      const abort = new AbortController()
      const slow = Promise.withResolvers<void>()
      const branch = (order: string, steps: number) => async () => {
        for (let step = 0; step < steps; step++) {
          await effect('model', { order, step }, () => order === 'b' ? slow.promise : 'fine')
        }
        return await effect('charge', { order }, () => {
          charged.push(order)
          setImmediate(() => abort.abort())
          return `paid ${order}`
        })
      }
      const { start, resume, bench } = threadOf(
        () => Promise.all([branch('a', 3)(), branch('b', 1)()]),
        rules,
      )
      await start({ forget: true, signal: abort.signal })
      expect(charged).toEqual(['a'])
      slow.resolve()
      const { outcome } = await resume()
      expect(outcome).toMatchObject({ status: 'success', waiting: false })
      expect(bench.log.values()['out']).toEqual([['paid a', 'paid b']])
      expect(charged).toEqual(['a', 'b'])
    })

  it('are new if they start first after a kill', async () => {
    const charged: string[] = []
    const abort = new AbortController()
    const again = inOrder(['b', 'a'])
    let order = inOrder(['a', 'b'])
    const { start, resume, bench } = threadOf(() =>
      Promise.all(['a', 'b'].map(async (name) => {
        await order.turn(name)
        const paid = effect('charge', { name }, () => {
          charged.push(name)
          setImmediate(() => abort.abort())
          return `paid ${name}`
        })
        // In the first attempt, the second branch is killed before it charges.
        if (order === again) setImmediate(() => order.done(name))
        return await paid
      })), rules)
    await start({ forget: true, signal: abort.signal })
    expect(charged).toEqual(['a'])
    order = again
    const { outcome } = await resume()
    expect(outcome).toMatchObject({ status: 'success', waiting: false })
    expect(bench.log.values()['out']).toEqual([['paid a', 'paid b']])
    expect(charged).toEqual(['a', 'b'])
  })

  it('have two places if they have the same input', async () => {
    const keys: string[] = []
    const { start, answer } = threadOf(async () => {
      const charge = () => effect('charge', {}, ({ key }) => keys.push(key))
      return [await Promise.all([charge(), charge()]), interrupt('sure?')]
    }, rules)
    await start({ forget: true })
    await answer('yes')
    expect(keys).toHaveLength(2)
    expect(new Set(keys).size).toBe(2)
  })
})

describe('HTTP calls of one rule in progress at once', () => {
  it('have their responses again if their bodies are read in another order', async () => {
    const received: string[] = []
    const bodies = inOrder(['a', 'b'])
    const later = inOrder(['b', 'a'])
    let order = bodies
    const { start, answer, bench } = threadOf(async () => {
      const paid = await Promise.all(['a', 'b'].map(async (path) => {
        await order.turn(path)
        const response = post({ url: `${bank}/${path}`, body: {}, receive: async () => {
          received.push(path)
          return [200, `paid ${path}`]
        } })
        order.done(path)
        return await response
      }))
      return [...paid, interrupt('Was it good?')]
    }, rules)
    await start({ forget: true })
    order = later
    const { outcome } = await answer('yes')
    expect(outcome.error).toBe(null)
    expect(bench.log.values()['out']).toEqual([['paid a', 'paid b', 'yes']])
    expect(received).toHaveLength(2)
  })
})
