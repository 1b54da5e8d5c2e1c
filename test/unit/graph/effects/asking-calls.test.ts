/** HTTP calls of which nobody knows whether they happened: the step waits for a person. */

import { AsyncLocalStorageProviderSingleton } from '@langchain/core/singletons'
import { RunnableLambda } from '@langchain/core/runnables'
import { Annotation, entrypoint, interrupt, START, StateGraph, task } from '@langchain/langgraph'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

import type { CallAnswer } from '../../../../src/graph/calls/call.ts'
import { callScope } from '../../../../src/graph/calls/call-scope.ts'
import { followTasks } from '../../../../src/graph/calls/task-scopes.ts'
import type { NodeBase } from '../../../../src/graph/calls/task-scopes.ts'
import { effectRulesOf } from '../../../../src/graph/effect-rule.ts'
import { GraphBench } from '../../../support/graph-bench.ts'
import type { Ran } from '../../../support/graph-bench.ts'

const url = 'https://mail.example.org/send'
const rules = effectRulesOf([{ match: `POST ${url}`, once: 'ask' }])
const State = Annotation.Root({
  out: Annotation<unknown[]>({ reducer: (kept, more) => kept.concat(more), default: () => [] }),
})

let unfollow: () => void
beforeAll(() => {
  const { nodes } = new StateGraph(State).addNode('any', () => ({})).addEdge(START, 'any').compile()
  unfollow = followTasks(AsyncLocalStorageProviderSingleton,
    Object.getPrototypeOf(nodes.any) as NodeBase)
})
afterAll(() => unfollow())

let sent: string[] = []
/** What happens when a mail has been sent: it is answered, or its run is cut off. */
let arrived: () => string | Promise<never> = () => 'Ok.'

/** A client that tries three times, behind a door that is played. */
async function mail(body = '{"to":"a"}', tries = 3): Promise<string> {
  const { gate, site } = callScope()!
  // A client may call where the engine finds no task.
  const decision = await AsyncLocalStorageProviderSingleton.runWithConfig(undefined,
    () =>
      gate.decide({ id: 1, client: 'fetch', method: 'POST', url, headers: [], site,
        body: { length: body.length, read: async () => Buffer.from(body) } }))
  if (decision.kind === 'hold') return await new Promise<never>(() => {})
  if (decision.kind === 'answer') return textOf(decision.answer)
  if (decision.kind === 'pass') {
    sent.push(body)
    const answer = await arrived()
    decision.watcher?.head?.({ status: 200, statusText: '', headers: [] })
    decision.watcher?.chunk?.(Buffer.from(answer))
    await decision.watcher?.ended?.({ kind: 'done' })
    return answer
  }
  if (tries === 1) throw new Error('The mail server cannot be reached.')
  return mail(body, tries - 1)
}

const textOf = ({ head, body }: CallAnswer) =>
  `${head.status} ${Buffer.concat([...body as Iterable<Uint8Array>]).toString()}`

const cutOff = new Error('The run is cut off.')

/** A node that goes on without its call. */
function otherwise(error: unknown): string {
  if (error === cutOff) throw error
  return 'sent by another way'
}

type Node = () => Promise<unknown>

const acting = (act: Node) => async () => ({ out: [await act()] })

/** The ways in which a node may have its code. */
const forms: Readonly<Record<string, (act: Node) => unknown>> = {
  'a function': (act) =>
    new StateGraph(State).addNode('acts', acting(act)).addEdge(START, 'acts').compile(),
  'a runnable': (act) =>
    new StateGraph(State).addNode('acts', RunnableLambda.from(acting(act)).pipe((made) => made))
      .addEdge(START, 'acts').compile(),
  'a function of a subgraph': (act) => {
    const inner = new StateGraph(State).addNode('acts', acting(act)).addEdge(START, 'acts')
      .compile()
    return new StateGraph(State).addNode('team', inner).addEdge(START, 'team').compile()
  },
  'a task of an entrypoint': (act) => entrypoint('errand', () => task('acts', act)()),
  'a task of a task': (act) =>
    entrypoint('errand', () => task('outer', () => task('acts', act)())()),
  'an entrypoint in a node': (act) =>
    new StateGraph(State).addNode('go', async () => ({
      out: [await entrypoint('errand', () => task('acts', act)()).invoke({})],
    })).addEdge(START, 'go').compile(),
}

/** Does it another way where it fails, by a call that no rule names. */
async function orElse<Made>(made: Promise<Made>): Promise<Made | string> {
  try {
    return await made
  } catch (error) {
    const way = otherwise(error)
    const { gate, site } = callScope()!
    const decision = await gate.decide({ id: 2, client: 'fetch', method: 'POST', headers: [], site,
      url: 'https://other.example.org', body: { length: 0, read: async () => Buffer.of() } })
    if (decision.kind === 'hold') return await new Promise<never>(() => {})
    sent.push(way)
    return way
  }
}

/** The same where the code around the task goes on without it. */
const caught: Readonly<Record<string, (act: Node) => unknown>> = {
  'an entrypoint': (act) => entrypoint('errand', () => orElse(task('acts', act)())),
  'another task': (act) =>
    entrypoint('errand', () => task('outer', () => orElse(task('acts', act)()))()),
  'the node of another graph': (act) => {
    const inner = new StateGraph(State).addNode('acts', acting(act)).addEdge(START, 'acts')
      .compile()
    return new StateGraph(State).addNode('go', async () => ({
      out: [await orElse(inner.invoke({ out: [] }))],
    })).addEdge(START, 'go').compile()
  },
  'all of them': (act) =>
    new StateGraph(State).addNode('go', async () => ({
      out: [await orElse(entrypoint('errand', () => orElse(task('acts', act)())).invoke({}))],
    })).addEdge(START, 'go').compile(),
}

const questions = ({ outcome }: Ran) =>
  Object.values(JSON.parse(outcome.interrupts) as Record<string, { value: unknown }[]>)
    .flat().map(({ value }) => value)

/** A thread whose mail was sent, and never answered. */
async function unanswered(form: string, act: Node) {
  sent = []
  const bench = new GraphBench((forms[form] ?? caught[form])!(act))
  bench.effects = rules
  arrived = () => Promise.reject(cutOff)
  await bench.run({ input: { out: [] }, forget: true })
  arrived = () => 'Ok.'
  expect(sent).toHaveLength(1)
  return {
    bench,
    asks: () => bench.run({ forget: true }),
    says: (resume: unknown) => bench.run({ command: { resume }, forget: true }),
  }
}

describe.each(Object.keys(forms))('In %s, a call that may have happened', (form) => {
  it('ends its task with a question, whatever client waits for it.', async () => {
    const { asks } = await unanswered(form, () => mail().catch(otherwise))
    const ran = await asks()
    expect(questions(ran)).toMatchObject([{ reason: 'effect', effect: `POST ${url}`,
      choices: [{ value: 'done' }, { value: 'do' }, { value: 'fail' }],
      input: { method: 'POST', url, body: { to: 'a' } } }])
    expect(sent).toHaveLength(1)
  })

  it.each([
    ['was done', 'done', '200 ', 1],
    ['had an answer', { decision: 'done', result: { id: 7 } }, '200 {"id":7}', 1],
    ['is to be done', 'do', 'Ok.', 2],
  ])('%s, as a person says.', async (_, said, answer, times) => {
    const seen: unknown[] = []
    const { asks, says } = await unanswered(form, async () => {
      seen.push(await mail())
      return seen.at(-1)
    })
    await asks()
    expect((await says(said)).outcome).toMatchObject({ status: 'success', waiting: false })
    expect(seen).toEqual([answer])
    expect(sent).toHaveLength(times)
  })

  it('fails its step if a person says so, though its node would go on.', async () => {
    const { asks, says } = await unanswered(form, () => mail().catch(otherwise))
    await asks()
    // Where several tasks fail with it, the engine says only that.
    expect((await says('fail')).outcome.error?.message)
      .toMatch(/let fail by a person|^Multiple errors/)
    expect(sent).toHaveLength(1)
  })
})

describe.each(Object.keys(caught))('Where %s would go on without its task, a call', (form) => {
  it('ends it with the question as well, and is made again as a person says.', async () => {
    const { asks, says } = await unanswered(form, () => mail())
    const ran = await asks()
    expect(ran.outcome).toMatchObject({ status: 'success', waiting: true })
    expect(questions(ran)).toMatchObject([{ reason: 'effect' }])
    expect(sent).toHaveLength(1)
    expect((await says('do')).outcome).toMatchObject({ status: 'success', waiting: false })
    expect(sent).toEqual(['{"to":"a"}', '{"to":"a"}'])
  })
})

it('The answer about a call is no answer to a question of the node.', async () => {
  const { asks, says, bench } = await unanswered('a function',
    async () => `${await mail()} ${interrupt<string, string>('and now?')}`)
  await asks()
  expect(questions(await says('done'))).toEqual(['and now?'])
  expect((await says('fine')).outcome.waiting).toBe(false)
  expect(bench.log.values()).toMatchObject({ out: ['200  fine'] })
  expect(sent).toHaveLength(1)
})

it('A call fails, and is not made again, where its task cannot be ended.', async () => {
  const { asks } = await unanswered('a function', async () => {
    const { gate, site } = callScope()!
    // An engine that Heddle does not know enters no task.
    const decision = await gate.decide({ id: 1, client: 'fetch', method: 'POST', url, headers: [],
      site: { ...site! }, body: { length: 2, read: async () => Buffer.from('{}') } })
    if (decision.kind === 'fail') throw decision.error
    sent.push('')
    return await arrived()
  })
  const { outcome } = await asks()
  expect(outcome.error?.message).toContain('It is not known whether the effect')
  expect(sent).toHaveLength(1)
})
