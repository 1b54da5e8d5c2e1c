/** Effects of nodes, on a thread whose runs are cut off, fail, ask and are resumed. */

import { Annotation, interrupt, START, StateGraph } from '@langchain/langgraph'
import { AsyncLocalStorageProviderSingleton } from '@langchain/core/singletons'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

import { followTasks } from '../../../../src/graph/calls/task-scopes.ts'
import { effectRulesOf } from '../../../../src/graph/effect-rule.ts'
import { GraphBench } from '../../../support/graph-bench.ts'
import type { RunOptions } from '../../../support/graph-bench.ts'

type Work = (means: { readonly key: string; readonly signal: AbortSignal }) => unknown
type Effect = (name: string, input: unknown, work: Work) => Promise<unknown>

const effect: Effect = (...asked) =>
  (globalThis as unknown as Record<symbol, Effect>)[Symbol.for('heddle.effect')]!(...asked)

const State = Annotation.Root({
  out: Annotation<unknown[]>({ reducer: (kept, more) => kept.concat(more), default: () => [] }),
})

let unfollow: () => void
beforeAll(() => {
  unfollow = followTasks(AsyncLocalStorageProviderSingleton as never)
})
afterAll(() => unfollow())

const rules = effectRulesOf([
  { name: 'charge', once: 'key' },
  { name: 'mail', once: 'ask' },
  { name: 'model', keep: 'answer' },
  { name: 'firm', keep: 'answer', on_error: 'keep' },
])

/** A thread whose graph has this one node. */
function threadOf(node: () => Promise<unknown>, retries = 1) {
  const graph = new StateGraph(State)
    .addNode('acts', async () => ({ out: [await node()] }), {
      retryPolicy: { maxAttempts: retries, initialInterval: 1, jitter: false, logWarning: false },
    })
    .addEdge(START, 'acts').compile()
  const bench = new GraphBench(graph)
  bench.effects = rules
  return {
    bench,
    start: (options: RunOptions = {}) => bench.run({ input: { out: [] }, ...options }),
    resume: (options: RunOptions = {}) => bench.run({ forget: true, ...options }),
    answer: (resume: unknown) => bench.run({ command: { resume }, forget: true }),
    /** The notes in the log: what became of which effect. */
    notes: () => bench.log.writes.flatMap(({ effect: noted }) => noted?.note?.$case ?? []),
  }
}

describe('An effect with a key', () => {
  it.each([true, false])('is done once by a node that asks after it (forget: %s).',
    async (forget) => {
      const keys: string[] = []
      const { start, answer, notes, bench } = threadOf(async () => {
        const id = await effect('charge', { amount: 20 }, ({ key }) => keys.push(key))
        return `${String(id)} ${interrupt<string, string>('sure?')}`
      })
      const { outcome } = await start({ forget })
      expect(outcome.waiting).toBe(true)
      await answer('yes')
      expect(keys).toHaveLength(1)
      expect(notes()).toEqual(['intended', 'settled'])
      const [snapshot] = await bench.ask({ kind: 'state' })
      expect(JSON.parse(snapshot!.json)).toMatchObject({ next: [] })
    })

  it('has its intent and its base in the log before it is done.', async () => {
    let seen: unknown
    const { start, bench } = threadOf(() =>
      effect('charge', {}, () => {
        seen = { head: bench.log.headId, notes: bench.log.writes.at(-1) }
      })
    )
    await start()
    expect(seen).toMatchObject({ head: expect.any(String),
      notes: { writes: [], effect: { rule: 'charge', ordinal: 0, note: { $case: 'intended' } } } })
    const { head, notes } = seen as { head: string; notes: { checkpointId: string } }
    expect(notes.checkpointId).toBe(head)
  })

  it('keeps its key in a retry of its node, and in a run after a failure.', async () => {
    const keys: string[] = []
    const { start, resume, notes } = threadOf(() =>
      effect('charge', {}, ({ key }) => {
        keys.push(key)
        if (keys.length < 4) throw new Error('reset')
        return 'paid'
      }), 2)
    expect((await start({ forget: true })).outcome.status).toBe('error')
    const { outcome } = await resume()
    expect(outcome).toMatchObject({ status: 'success', waiting: false })
    expect(keys).toHaveLength(4)
    expect(new Set(keys).size).toBe(1)
    expect(notes()).toEqual(['intended', 'settled'])
  })

  it('has one key for the code that retries it, and another for each further one.', async () => {
    const keys: string[] = []
    const { start } = threadOf(async () => {
      const charge = (fails: boolean) =>
        effect('charge', {}, ({ key }) => {
          keys.push(key)
          if (fails) throw new Error('reset')
        })
      await charge(true).catch(() => {})
      await charge(false)
      await Promise.all([charge(false), charge(false)])
    })
    expect((await start()).outcome.status).toBe('success')
    expect(keys[0]).toBe(keys[1])
    expect(new Set(keys).size).toBe(3)
  })

  it('is refused with another input, whatever a model says now.', async () => {
    let amount = 10
    let done = 0
    const { start, resume } = threadOf(() =>
      effect('charge', { amount: amount++ }, () => {
        done++
        throw new Error('reset')
      })
    )
    await start({ forget: true })
    const { outcome } = await resume()
    expect(outcome.error?.message).toContain('has already done the effect "charge" with another')
    expect(done).toBe(1)
  })

  it('is done once under durability exit as well.', async () => {
    const keys: string[] = []
    const { start, answer } = threadOf(async () => {
      await effect('charge', {}, ({ key }) => keys.push(key))
      return interrupt('sure?')
    })
    await start({ forget: true, durability: 'exit' })
    await answer('yes')
    expect(keys).toHaveLength(1)
  })

  it('has another key in another turn.', async () => {
    const keys: string[] = []
    const { start } = threadOf(() => effect('charge', {}, ({ key }) => keys.push(key)))
    await start()
    await start()
    expect(new Set(keys).size).toBe(2)
  })
})

describe('An effect that asks', () => {
  /** A mail that is sent without an answer the first time. */
  function mailed() {
    let sent = 0
    const thread = threadOf(async () => {
      const result = await effect('mail', { to: 'a' }, () => {
        if (++sent === 1) throw new Error('reset')
        return 'sent'
      })
      return `${JSON.stringify(result)} ${interrupt<string, string>('and now?')}`
    })
    return { ...thread, sent: () => sent }
  }

  const asked = ({ outcome }: { readonly outcome: { readonly interrupts: string } }) =>
    Object.values(JSON.parse(outcome.interrupts) as Record<string, { value: unknown }[]>)
      .flat().map(({ value }) => value)

  it.each([
    ['done', { decision: 'done', result: 7 }, '7 fine', 1],
    ['done without a result', 'done', 'null fine', 1],
    ['to be done', 'do', '"sent" fine', 2],
  ])('is %s, as a person says', async (_, said, result, times) => {
    const { start, resume, answer, sent, bench } = mailed()
    await start({ forget: true })
    const question = await resume()
    expect(asked(question)).toMatchObject([{ reason: 'effect', effect: 'mail',
      choices: [{ value: 'done' }, { value: 'do' }, { value: 'fail' }], input: { to: 'a' } }])
    expect(sent()).toBe(1)
    expect(asked(await answer(said))).toEqual(['and now?'])
    await answer('fine')
    expect(sent()).toBe(times)
    const states = await bench.ask({ kind: 'state' })
    expect(bench.log.values()).toMatchObject({ out: [result] })
    expect(JSON.parse(states[0]!.json)).toMatchObject({ next: [] })
  })

  it('fails its step if a person says so, and is never done again.', async () => {
    const { start, resume, answer, sent } = mailed()
    await start({ forget: true })
    await resume()
    expect((await answer('fail')).outcome.error?.message).toContain('let fail by a person')
    expect((await resume()).outcome.error?.message).toContain('let fail by a person')
    expect(sent()).toBe(1)
  })

  it('takes no answer for the question of its node from a run that goes on.', async () => {
    const { bench, start, resume, sent } = mailed()
    await start({ forget: true })
    await resume()
    const run = { runId: '00000000-0000-4000-8000-00000000aaaa', command: { resume: 'do' },
      forget: true }
    const abort = new AbortController()
    await bench.run({ ...run, signal: abort.signal, onBatch: ({ steps }) => {
      if (JSON.stringify(steps).includes('settled')) abort.abort()
    } })
    expect(asked(await bench.run({ ...run, attempt: 2, asked: null }))).toEqual(['and now?'])
    expect(sent()).toBe(2)
  })

  it('waits for another decision if the run with the decision is cancelled during the work',
    async () => {
      const abort = new AbortController()
      let sent = 0
      const { bench, start, resume } = threadOf(() =>
        effect('mail', {}, () => {
          if (++sent === 1) throw new Error('reset')
          setImmediate(() => abort.abort())
          return new Promise(() => {})
        })
      )
      await start({ forget: true })
      await resume()
      await bench.run({ command: { resume: 'do' }, forget: true, signal: abort.signal })
      expect(asked(await resume())).toMatchObject([{ reason: 'effect' }])
      expect(sent).toBe(2)
    })

  it('does not decide by the resume value of an interrupt of its node', async () => {
    let isLater = false
    const { start, answer } = threadOf(async () => {
      if (isLater) await effect('charge', {}, () => 'paid')
      if (isLater)
        await effect('mail', {}, () => Promise.reject(new Error('reset'))).catch(() => {})
      if (isLater) await effect('mail', { to: 'b' }, () => 'sent')
      return interrupt('and now?')
    })
    await start({ forget: true })
    isLater = true
    expect(asked(await answer('do'))).toMatchObject([{ reason: 'effect', effect: 'mail' }])
    expect(asked(await answer('fail'))).toEqual(['and now?'])
  })

  it('is decided by an answer that names its question.', async () => {
    const { start, resume, answer, sent, bench } = mailed()
    await start({ forget: true })
    const { outcome } = await resume()
    const [{ id }] = Object.values(
      JSON.parse(outcome.interrupts) as Record<string, [{ id: string }]>,
    )[0]!
    expect(asked(await answer({ [id]: { decision: 'done', result: 1 } }))).toEqual(['and now?'])
    await answer({ [id]: 'fine' })
    expect(sent()).toBe(1)
    expect(bench.log.values()).toMatchObject({ out: ['1 fine'] })
  })

  it('asks again after an answer that decides nothing.', async () => {
    const { start, resume, answer, sent } = mailed()
    await start({ forget: true })
    await resume()
    expect(asked(await answer('perhaps'))).toMatchObject([{ reason: 'effect' }])
    expect(asked(await answer('do'))).toEqual(['and now?'])
    expect(sent()).toBe(2)
  })
})

describe('A kept answer', () => {
  it.each([['model', 2], ['firm', 1]])(
    'of "%s" is asked for %i times if its node threw after it',
    async (name, times) => {
      let asks = 0
      let throws = true
      const { start, resume } = threadOf(async () => {
        const answer = await effect(name, {}, () => ++asks)
        if (throws) throw new Error('no good')
        return answer
      })
      await start({ forget: true })
      throws = false
      expect((await resume()).outcome.status).toBe('success')
      expect(asks).toBe(times)
    },
  )

  it('counts for a node that asked a person, and has no intent.', async () => {
    let asks = 0
    const { start, answer, notes } = threadOf(async () => {
      await effect('model', { at: 1 }, () => ++asks)
      return interrupt('good?')
    })
    await start({ forget: true })
    await answer('yes')
    expect(asks).toBe(1)
    expect(notes()).toEqual(['settled'])
  })
})

it('An effect that no rule names is refused, and so is one outside of a node.', async () => {
  const { start } = threadOf(() => effect('other', {}, () => 1))
  expect((await start()).outcome.error?.message).toContain('{"name": "other", "once": "key"}')
  await expect(effect('charge', {}, () => 1)).rejects.toThrow('belongs into a node of a run')
})
