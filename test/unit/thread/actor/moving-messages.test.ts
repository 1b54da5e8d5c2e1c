/** Messages for runs of real graphs whose owners change, and die around the acknowledgement. */

import fc from 'fast-check'
import { expect, it } from 'vitest'

import { HeddleError } from '../../../../src/errors.ts'
import { expectAlways } from '../../../support/expect-always.ts'
import { aRun, settled } from '../../../support/thread-house.ts'
import { ThreadChain } from '../../../support/thread-pair.ts'
import type { Fate } from '../../../support/thread-pair.ts'
import { hostProject, TestHost } from '../../graph/project/host-project.ts'

/**
 * Each step takes a while, like one that calls a model. Its reducer keeps what is added twice, as
 * that of messages would not.
 */
const project = `
  const Messages = Annotation.Root({
    messages: Annotation({ reducer: (a, b) => [...a, ...b], default: () => [] }),
  })
  export const agent = (() => {
    const graph = new StateGraph(Messages)
    for (let i = 1; i <= 8; i++) {
      graph.addNode('n' + i, async () => {
        await new Promise((done) => setTimeout(done, 4))
        return { messages: [] }
      })
      graph.addEdge(i === 1 ? START : 'n' + (i - 1), 'n' + i)
    }
    return graph.addEdge('n8', END).compile()
  })()`

/** What happens: a message, and the fate of the owner that gets it, or a change of owners. */
type Act = { readonly fate: Fate } | 'wait' | 'kill' | 'hand over'

const act: fc.Arbitrary<Act> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ fate: fc.constantFrom<Fate>('none', 'unheard', 'silent') }) },
  { weight: 4, arbitrary: fc.constant('wait') },
  { weight: 1, arbitrary: fc.constantFrom('kill', 'hand over') },
)

const isDeath = (each: Act) => typeof each === 'object' ? each.fate !== 'none' : each === 'kill'

/** At most two deaths: a run has three attempts. */
const acts = fc.array(act, { minLength: 3, maxLength: 14 })
  .filter((all) => all.filter(isDeath).length <= 2)

/** Only what never ends takes so long, on any machine. */
const endlessMs = 30_000

const input = (id: string) => ({ input: { messages: [{ role: 'user', content: id, id }] } })

it('Each message is taken once and in order, whoever owns the thread meanwhile.', async () => {
  const { host } = await TestHost.start(2, await hostProject(project))
  const counts = { sent: 0, deaths: 0, joined: 0 }
  await expectAlways(fc.asyncProperty(acts, async (all) => {
    const chain = new ThreadChain(() => host)
    // The clock runs ahead of workers on a busy machine: the run's time limit must not end it.
    const plan = { ...aRun('r').plan, timeoutMs: 1e12 }
    await chain.client.startRun('t', 'x', aRun('r', { plan, kwargs: input('begin') }))
    /** Waits for work of the graph, while the clock of the members goes on. */
    const began = performance.now()
    const passing = async (done: () => boolean) => {
      while (!done()) {
        await settled()
        chain.env.advance(50)
        if (performance.now() - began > endlessMs) throw new Error('It goes on without an end.')
      }
    }
    const rows = () => chain.log.rows.length
    await passing(() => rows() > 1)
    const sent = ['begin']
    for (const each of all) {
      if (isDeath(each)) counts.deaths++
      if (each === 'kill') chain.kill()
      else if (each === 'hand over') await chain.handOver()
      else if (each === 'wait') {
        const before = rows()
        let tries = 0
        await passing(() => rows() > before || ++tries > 20)
      } else {
        chain.fate = each.fate
        const id = `m${sent.length}`
        const message = aRun(id, { ifMissing: 'reject', kwargs: input(id),
          plan: { ...plan, injects: true } })
        let answer: string | undefined
        chain.client.startRun('t', 'x', message).then(() => 'taken', (error: unknown) =>
          HeddleError.from(error).code).then((said) => {
            answer = said
          })
        await passing(() => answer !== undefined)
        // Nobody executes any more: it is refused, and nothing of it may stay.
        expect(answer).toBeOneOf(['taken', 'not_found'])
        if (answer === 'taken') sent.push(id)
      }
    }
    const unfinished = async () =>
      (await chain.client.listRuns({ tenant: 't', threadId: 'x', limit: 99, offset: 0 }))
        .some(({ status }) => status === 'pending' || status === 'running')
    let goesOn = true
    while (goesOn) {
      let looked: boolean | undefined
      void unfinished().then((still) => {
        looked = still
      })
      await passing(() => looked !== undefined)
      goesOn = looked!
    }
    const { values } = await chain.client.get('t', 'x')
    const { messages } = JSON.parse(values) as { readonly messages: readonly { id: string }[] }
    expect(messages.map(({ id }) => id)).toEqual(sent)
    const left = await chain.client.listRuns({ tenant: 't', threadId: 'x', limit: 99, offset: 0 })
    counts.sent += sent.length - 1
    counts.joined += sent.length - left.length
  }), { share: 5 })
  // Otherwise it would prove nothing of messages that join a run.
  expect(counts.joined).toBeGreaterThan(counts.sent / 4)
  expect(counts.deaths).toBeGreaterThan(0)
})
