/** Decisions of persons about effects whose outcome is unknown: each is used once. */

import { Annotation, interrupt, START, StateGraph } from '@langchain/langgraph'
import { describe, expect, it } from 'vitest'

import { effectRulesOf } from '../../../../src/graph/effect-rule.ts'
import { EngineHost } from '../../../support/engine-host.ts'
import { EngineThread, useTasks } from '../../../support/engine-thread.ts'
import { effect } from '../../../support/node-effects.ts'
import { settled } from '../../../support/thread-house.ts'

useTasks()

const State = Annotation.Root({
  out: Annotation<unknown[]>({ reducer: (kept, more) => kept.concat(more), default: () => [] }),
})
const rules = effectRulesOf([{ name: 'mail', once: 'ask' }, { name: 'model', keep: 'answer' }])

/** A mail server that holds each mail until `release`. */
class MailServer {
  readonly sent: string[] = []
  #held: (() => void)[] = []
  #arrived = Promise.withResolvers<void>()
  /** False once mails get their response at once. */
  holds = true

  readonly mail = (to: string) =>
    effect('mail', { to }, async () => {
      this.sent.push(to)
      this.#arrived.resolve()
      if (this.holds) await new Promise<void>((resolve) => this.#held.push(resolve))
      return `sent to ${to}`
    })

  /** Resolves when a mail has been sent since the last call, and its intent is in the log. */
  async next(): Promise<void> {
    await this.#arrived.promise
    this.#arrived = Promise.withResolvers()
    await settled()
  }
}

type Nodes = Readonly<Record<string, () => Promise<unknown>>>

/** A graph whose nodes run in one superstep. */
function graphOf(nodes: Nodes) {
  const graph = new StateGraph(State) as StateGraph<never, never, object, string>
  for (const [name, node] of Object.entries(nodes)) {
    graph.addNode(name, async () => ({ out: [await node()] })).addEdge(START, name)
  }
  return graph.compile()
}

/** A graph whose nodes are graphs. */
function teams(...graphs: readonly ReturnType<typeof graphOf>[]) {
  const graph = new StateGraph(State) as StateGraph<never, never, object, string>
  for (const [at, team] of graphs.entries()) {
    graph.addNode(`team${at}`, team as never).addEdge(START, `team${at}`)
  }
  return graph.compile()
}

/** A thread whose first run was killed after it had sent its mails. */
async function killedThread(graph: unknown, server: MailServer, mails = 1) {
  let host = new EngineHost(graph, { rules })
  const thread = new EngineThread(() => host)
  const kill = () => {
    host.kill()
    host = new EngineHost(graph, { rules })
    thread.chain.kill()
  }
  const run = await thread.start({ input: { out: [] } })
  await server.next()
  expect(server.sent).toHaveLength(mails)
  kill()
  const { asks } = await thread.ended(run)
  return {
    thread,
    kill,
    asks,
    /** Starts a run and cancels it after its next mail. */
    cutOff: async (kwargs: object, action: 'interrupt' | 'rollback' = 'interrupt') => {
      const cut = await thread.start(kwargs)
      await server.next()
      await thread.chain.client.cancelRun('t', 'x', cut, { action })
    },
  }
}

const question = { reason: 'effect', effect: 'mail' }

describe.each([false, true])('a decision (in a subgraph: %s)', (isNested) => {
  const place = (nodes: Nodes) => isNested ? teams(graphOf(nodes)) : graphOf(nodes)

  it('is used for one execution, although its run was cancelled in that', async () => {
    const server = new MailServer()
    const { thread, cutOff } = await killedThread(place({ mails: () => server.mail('a') }), server)
    await cutOff({ command: { resume: 'do' } })
    expect((await thread.run({ input: null })).asks).toMatchObject([question])
    expect(server.sent).toHaveLength(2)
  })

  it('is used once, although an earlier one was unused and a run was rolled back', async () => {
    const server = new MailServer()
    let fails = false
    const { thread, cutOff } = await killedThread(place({ mails: async () => {
      await effect('model', {}, () => 'fine')
      if (fails) throw new Error('reset')
      return await server.mail('a')
    } }), server)
    fails = true
    expect((await thread.answer('do')).status).toBe('error')
    fails = false
    await cutOff({ command: { resume: 'do' } })
    expect((await thread.run({ input: null })).asks).toMatchObject([question])
    await cutOff({ command: { resume: 'do' } }, 'rollback')
    expect((await thread.run({ input: null })).asks).toMatchObject([question])
    expect(server.sent).toHaveLength(3)
  })

  it('does not allow another execution if it is given during the execution', async () => {
    const server = new MailServer()
    const { thread } = await killedThread(place({ mails: () => server.mail('a') }), server)
    await thread.start({ command: { resume: 'do' } })
    await server.next()
    server.holds = false
    const again = await thread.start({ command: { resume: 'do' } }, { strategy: 'interrupt' })
    expect((await thread.ended(again)).asks).toMatchObject([question])
    expect(server.sent).toHaveLength(2)
  })

  it('is not used by a copy of the thread if it was given before the copy', async () => {
    const server = new MailServer()
    let fails = false
    const { thread } = await killedThread(place({ mails: async () => {
      await effect('model', {}, () => 'fine')
      if (fails) throw new Error('reset')
      return await server.mail('a')
    } }), server)
    fails = true
    expect((await thread.answer('do')).status).toBe('error')
    const copy = await thread.copy()
    fails = false
    server.holds = false
    expect((await copy.run({ input: null })).asks).toMatchObject([question])
    expect(server.sent).toHaveLength(1)
    expect((await thread.run({ input: null })).asks).toEqual([])
    expect(server.sent).toHaveLength(2)
  })

  it('is used by a copy if it is the response to the question in the copied history', async () => {
    const server = new MailServer()
    const { thread } = await killedThread(place({ mails: () => server.mail('a') }), server)
    server.holds = false
    const copy = await thread.copy()
    expect((await copy.answer('do')).asks).toEqual([])
    expect(server.sent).toHaveLength(2)
    expect((await thread.run({ input: null })).asks).toMatchObject([question])
  })

  it.each([['do', 'done', { asks: [] }], ['fail', 'perhaps', { asks: [question] }], ['do',
    'perhaps', { asks: [question] }], ['fail', 'done', { asks: [] }]])(
      'replaces the unused decision "%s" by "%s"',
      async (first, second, expected) => {
        const server = new MailServer()
        let fails = false
        const { thread } = await killedThread(place({ mails: async () => {
          await effect('model', {}, () => 'fine')
          if (fails) throw new Error('reset')
          return await server.mail('a')
        } }), server)
        fails = true
        server.holds = false
        expect((await thread.answer(first)).status).toBe('error')
        fails = false
        expect(await thread.answer(second)).toMatchObject({ status: 'success', ...expected })
        expect(server.sent).toHaveLength(1)
      },
    )
})

describe('a decision that names no question', () => {
  it('is used for one of two effects in parallel nodes', async () => {
    const server = new MailServer()
    const { thread, asks } = await killedThread(
      graphOf({ a: () => server.mail('a'), b: () => server.mail('b') }),
      server,
      2,
    )
    expect(asks).toMatchObject([question, question])
    server.holds = false
    expect((await thread.answer('do')).asks).toMatchObject([question])
    expect((await thread.answer('do')).asks).toEqual([])
    expect(server.sent).toHaveLength(4)
  })

  it.each([false, true])('is used for one of two effects after a kill (in subgraphs: %s)',
    async (isNested) => {
      const server = new MailServer()
      let isSlow = false
      const nodes = { a: () => server.mail('a'), b: async () => {
        if (isSlow) await new Promise(() => {})
        return await server.mail('b')
      } }
      const { a, b } = nodes
      const graph = isNested ? teams(graphOf({ a }), graphOf({ b })) : graphOf(nodes)
      const { thread, kill } = await killedThread(graph, server, 2)
      isSlow = true
      const run = await thread.start({ command: { resume: 'do' } })
      await server.next()
      kill()
      isSlow = false
      expect((await thread.ended(run)).asks).toMatchObject([question, question])
      expect(server.sent).toEqual(['a', 'b', 'a'])
    })

  it('is no answer for the node around a subgraph', async () => {
    const server = new MailServer()
    const inner = graphOf({ mails: () => server.mail('a') })
    const { thread } = await killedThread(graphOf({ calls: async () => {
      await inner.invoke({ out: [] } as never)
      return interrupt<string, unknown>('Sure?')
    } }), server)
    server.holds = false
    expect((await thread.answer('do')).asks).toEqual(['Sure?'])
    expect((await thread.answer('yes')).asks).toEqual([])
    expect(await thread.values()).toMatchObject({ out: ['yes'] })
    expect(server.sent).toHaveLength(2)
  })
})

it('decisions that name their questions are used for their effects', async () => {
  const server = new MailServer()
  const { thread } = await killedThread(
    graphOf({ a: () => server.mail('a'), b: () => server.mail('b') }),
    server,
    2,
  )
  const { row: { interruptsJson } } = await thread.chain.client.get('t', 'x')
  const ids = Object.values(JSON.parse(interruptsJson) as Record<string, { id: string }[]>).flat()
    .map(({ id }) => id)
  server.holds = false
  await thread.answer(Object.fromEntries(ids.map((id, at) => [id, at === 0 ? 'do' : 'done'])))
  expect(await thread.asks()).toEqual([])
  expect(server.sent).toHaveLength(3)
})
