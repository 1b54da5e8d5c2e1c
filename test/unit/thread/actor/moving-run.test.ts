/** Runs of real graphs whose owner changes while they run. */

import fc from 'fast-check'
import { expect, it } from 'vitest'

import type { FeedEvent } from '../../../../src/thread/index.ts'
import { expectAlways } from '../../../support/expect-always.ts'
import { aRun, settled } from '../../../support/thread-house.ts'
import { ThreadChain } from '../../../support/thread-pair.ts'
import { hostProject, TestHost } from '../../graph/project/host-project.ts'

const supersteps = 12

/** Each step takes a while, like one that calls a model. */
const project = `
  export const agent = (() => {
    const graph = new StateGraph(State)
    for (let i = 1; i <= ${supersteps}; i++) {
      graph.addNode('n' + i, async (_, config) => {
        config.writer?.('token ' + i)
        await new Promise((done) => setTimeout(done, 5))
        return { log: [i] }
      })
      graph.addEdge(i === 1 ? START : 'n' + (i - 1), 'n' + i)
    }
    return graph.addEdge('n${supersteps}', END).compile()
  })()`

const everyStep = Array.from({ length: supersteps }, (_, i) => i + 1)

/** After how many updates the owner goes, and how. At most two deaths: a run has three attempts. */
const moves = fc.array(fc.record({
  after: fc.integer({ min: 1, max: 4 }),
  how: fc.constantFrom('handed over', 'killed'),
}), { maxLength: 4 }).filter((all) => all.filter(({ how }) => how === 'killed').length <= 2)

it('A run reaches its end and every update is sent once, however its owners change.', async () => {
  const { host } = await TestHost.start(2, await hostProject(project))
  await expectAlways(fc.asyncProperty(moves, async (moves) => {
    const chain = new ThreadChain(() => host)
    // The clock runs ahead of workers on a busy machine: the run's time limit must not end it.
    const plan = { ...aRun('r').plan, timeoutMs: 1e12 }
    await chain.client.startRun('t', 'x',
      aRun('r', { plan, kwargs: { input: {}, stream_mode: ['updates', 'custom'] } }))
    const seen: FeedEvent[] = []
    let ending: string | undefined
    await chain.client.followRun('t', 'x', 'r', { after: null, modes: null }, {
      events: (batch) => void seen.push(...batch),
      ended: (how) => {
        ending = how
      },
    })
    /** A follower asks again after a pause: the test moves the clock. */
    const passing = async (done: () => boolean) => {
      while (!done()) {
        await settled()
        chain.env.advance(50)
      }
    }
    const noted = (name: string) =>
      seen.filter((event) => event.name === name).map(({ json }) => JSON.parse(json) as object)
    const result = chain.client.joinRun('t', 'x', 'r')
    let until = 0
    for (const { after, how } of moves) {
      until = Math.min(until + after, supersteps - 1)
      await passing(() => noted('updates').length >= until)
      if (how === 'killed') chain.kill()
      else await chain.handOver()
    }
    await passing(() => ending !== undefined)
    expect(ending).toBe('over')
    expect(noted('updates')).toEqual(everyStep.map((n) => ({ [`n${n}`]: { log: [n] } })))
    expect(new Set(seen.map(({ id }) => id)).size).toBe(seen.length)
    while ((await Promise.race([result.then(() => true), settled()])) !== true) {
      chain.env.advance(250)
    }
    expect(JSON.parse(await result)).toMatchObject({ log: everyStep })
    const killed = moves.filter(({ how }) => how === 'killed').length
    const { status, attempt } = await chain.client.getRun('t', 'x', 'r')
    // A death before the run has begun, or after its end, costs no attempt.
    expect([status, attempt <= 1 + killed]).toEqual(['success', true])
    expect(noted('metadata').at(-1)).toMatchObject({ attempt })
    // Without a death nothing is sent twice; after one, a token may be.
    if (killed === 0) expect(noted('custom')).toHaveLength(supersteps)
  }), { share: 5 })
})
