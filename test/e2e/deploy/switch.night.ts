/** Clients notice nothing of a deploy, a change of secrets and a rollback. */

import { readFileSync } from 'node:fs'

import { afterAll, beforeAll, expect, it } from 'vitest'

import { useGates } from '../../support/gate.ts'
import { say, texts } from '../../support/run-events.ts'
import { startServer } from '../../support/server-process.ts'
import type { ServerProcess } from '../../support/server-process.ts'
import { deployedProject, replying } from './deployed-project.ts'
import type { Built, DeployedProject } from './deployed-project.ts'
import { DeployTarget } from './deploy-target.ts'

const newGate = useGates()
let project: DeployedProject
let server: ServerProcess
let shop: DeployTarget

beforeAll(async () => {
  ;[project, server] = await Promise.all([deployedProject(),
    startServer({ args: ['--workers', '1'] })])
  shop = new DeployTarget(server.url, 'shop')
  expect(await shop.create()).toMatchObject({ status: 201 })
})

afterAll(async () => {
  await server?.close()
  await project?.remove()
})

/** Says which revision it is, with a secret; `wait` takes some seconds. */
const version = (name: string) =>
  project.built(replying(`const text = state.messages.at(-1).content
    if (text === 'wait') await new Promise((end) => setTimeout(end, 6_000))
    return say('${name} ' + process.env.TOKEN)`))

/** A run as it ended. */
interface Ended {
  readonly atMs: number
  readonly ms: number
  /** What it answered, or the error. */
  readonly answer: string
}

/** Sends runs at a steady pace, whatever happens to them, until it is stopped. */
function load(pauseMs: number) {
  const ended: Ended[] = []
  const open = new Set<Promise<void>>()
  const one = async () => {
    const atMs = performance.now()
    const answer = await shop.client.runs.wait(null, 'agent', { input: say('hello') })
      .then((values) => texts(values).at(-1) ?? 'nothing', (error: Error) => `failed: ${error}`)
    ended.push({ atMs, ms: performance.now() - atMs, answer })
  }
  const timer = setInterval(() => {
    const sent = one()
    open.add(sent)
    void sent.finally(() => open.delete(sent))
  }, pauseMs)
  return { ended, stop: async () => {
    clearInterval(timer)
    await Promise.all(open)
  } }
}

function percentile(runs: readonly Ended[], share: number): number {
  const sorted = runs.map(({ ms }) => ms).toSorted((one, other) => one - other)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0
}

const within = (runs: readonly Ended[], fromMs: number, toMs: number) =>
  runs.filter(({ atMs }) => atMs >= fromMs && atMs < toMs)

/** Two cores do about this many runs a second, beside the load that sends them. */
const pauseMs = 25

it('No run fails or changes its revision in a deploy, a change of secrets and a rollback.',
  async () => {
    await shop.deploy(await version('one'))
    await shop.own('PUT', '/secrets/TOKEN', { value: 'first', restart: true })
    const isQuiet = () => expect.poll(() => shop.show()).toMatchObject({ rollout: null })
    await isQuiet()
    expect(await shop.answer()).toBe('one first')
    const second = await version('two')
    const { client: { runs, threads } } = shop
    const straddling = await Promise.all(Array.from({ length: 10 }, async () => {
      const { thread_id: id } = await threads.create()
      return { id, end: runs.wait(id, 'agent', { input: say('wait') }) }
    }))
    const sender = load(pauseMs)
    const switches: number[] = []
    const settled = async (count: number) => {
      const from = sender.ended.length
      await expect.poll(() => sender.ended.length).toBeGreaterThan(from + count)
    }
    await settled(150)
    const quietEndMs = performance.now()
    await shop.deploy(second, { watch_s: 0 })
    switches.push(performance.now())
    for (const { end } of straddling) expect(texts(await end).at(-1)).toBe('one first')
    await settled(200)
    expect(await shop.own('PUT', '/secrets/TOKEN', { value: 'other' }))
      .toMatchObject({ status: 200 })
    await isQuiet()
    switches.push(performance.now())
    await settled(200)
    const rollbacks: number[] = []
    for (let tries = 0; tries < 10; tries++) {
      const atMs = performance.now()
      expect(await shop.own('POST', '/rollback', {})).toMatchObject({ status: 200 })
      if (tries > 0) rollbacks.push(performance.now() - atMs)
    }
    switches.push(performance.now())
    await settled(100)
    await sender.stop()

    const failed = sender.ended.filter(({ answer }) => !/^(one|two) (first|other)$/.test(answer))
    expect(failed).toEqual([])
    const before = percentile(within(sender.ended, 0, quietEndMs), 0.99)
    const around = switches.slice(0, 1).map((atMs) =>
      percentile(within(sender.ended, atMs - 2_500, atMs + 2_500), 0.99)
    )
    console.log({ runs: sender.ended.length, p99Before: Math.round(before),
      p99Around: around.map(Math.round), load: readFileSync('/proc/loadavg', 'utf8').trim(),
      rollbacks: rollbacks.map(Math.round) })
    for (const p99 of around) expect(p99).toBeLessThan(4 * before + 1_000)
    // Once a switch is confirmed, new runs take it.
    const last = within(sender.ended, switches[1]!, Infinity)
    expect(last.map(({ answer }) => answer)).not.toContain('one first')
  })

/** Asks at a node, or at one of a subgraph if it is sent `deep`, and then says the answer. */
const asking = (node: string) =>
  project.built(`import { MessagesAnnotation, StateGraph, interrupt } from '@langchain/langgraph'
const ask = () => ({ messages: [{ role: 'ai', content: interrupt('well?') }] })
const research = new StateGraph(MessagesAnnotation)
  .addNode('${node}', ask).addEdge('__start__', '${node}').compile()
export const agent = new StateGraph(MessagesAnnotation)
  .addNode('${node}', ask).addNode('research', research)
  .addConditionalEdges('__start__', ({ messages }) =>
    messages.at(-1).content === 'deep' ? 'research' : '${node}', ['${node}', 'research'])
  .compile()
`)

it('Answers to threads that wait at a node that is gone reach the revision that has it.',
  async () => {
    const { client: { runs, threads } } = shop
    const before: Built = await asking('ask')
    const old = await shop.deploy(before)
    const waiting = await Promise.all(['flat', 'deep', 'flat', 'deep'].map(async (text) => {
      const { thread_id: id } = await threads.create()
      await runs.wait(id, 'agent', { input: say(text) })
      return id
    }))
    const { name } = await shop.upload(await asking('inquire'))
    expect(await shop.own('POST', `/revisions/${name}/check`)).toMatchObject({ status: 200, body: {
      report: { nodes_removed: [{ graph_id: 'agent', node: 'ask', waiting_threads: 2 }, {
        graph_id: 'agent',
        node: 'research:ask',
        waiting_threads: 2,
      }] },
    } })
    expect(await shop.activate(name)).toMatchObject({ status: 200 })
    const resume = (id: string) => runs.wait(id, 'agent', { command: { resume: `yes, ${id}` } })
    for (const id of waiting.slice(0, 3)) expect(texts(await resume(id)).at(-1)).toBe(`yes, ${id}`)
    const [, , , left] = waiting
    // It is not the one before any more, and a thread needs it.
    await shop.deploy(await asking('wonder'))
    expect(await shop.own('DELETE', `/revisions/${old}`)).toMatchObject({ status: 409,
      body: { error: 'in_use', message: expect.stringContaining('1 threads') as string } })
    expect(await shop.own('DELETE', `/revisions/${old}?force=true`)).toMatchObject({ status: 200 })
    await expect(resume(left!)).rejects.toThrow(/^HTTP 409: .*waits at .*research:ask/s)
    expect(await threads.get(left!)).toMatchObject({ status: 'interrupted' })
    // With the node back, the answer is not lost.
    await shop.deploy(before)
    expect(texts(await resume(left!)).at(-1)).toBe(`yes, ${left}`)
  })

/** Three steps that say which revision they are of; the first two wait where they are asked to. */
const steps = (name: string, ...nodes: readonly [string, string, string]) =>
  project.built(`import { MessagesAnnotation, StateGraph } from '@langchain/langgraph'
const step = (no) => async ({ messages }) => {
  if (no < 2) await fetch(messages[no].content)
  return { messages: [{ role: 'ai', content: '${name}' }] }
}
const [one, two, three] = ${JSON.stringify(nodes)}
export const agent = new StateGraph(MessagesAnnotation)
  .addNode(one, step(0)).addNode(two, step(1)).addNode(three, step(2))
  .addEdge('__start__', one).addEdge(one, two).addEdge(two, three).compile()
`)

it('With now, a run goes on with the new code, or ends on its own if its nodes are gone.',
  async () => {
    const { client: { runs, threads } } = shop
    const straddle = async (next: Built) => {
      const { thread_id: id } = await threads.create()
      const [first, second] = [newGate(), newGate()]
      const { run_id: run } = await runs.create(id, 'agent', { input: say(first.url, second.url) })
      await first.arrived()
      const name = await shop.deploy(next, { watch_s: 0, now: true })
      first.open()
      await second.arrived()
      second.open()
      await runs.join(id, run)
      const { values } = await threads.getState(id)
      return { name, said: texts(values).slice(2), run: await runs.get(id, run) }
    }
    await shop.deploy(await steps('a', 'one', 'two', 'three'))
    const moved = await straddle(await steps('b', 'one', 'two', 'three'))
    expect([moved.said[0], moved.said[2]]).toEqual(['a', 'b'])
    expect(moved.run).toMatchObject({ status: 'success', revision: moved.name })
    const stayed = await straddle(await steps('c', 'one', 'else', 'last'))
    expect([stayed.said, stayed.run.status]).toEqual([['b', 'b', 'b'], 'success'])
    expect(stayed.run).toMatchObject({ revision: moved.name })
  })
