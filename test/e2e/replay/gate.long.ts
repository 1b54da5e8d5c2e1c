/**
 * A deployment says which of its runs are recorded, and a replay of these keeps a revision out that
 * differs.
 */

import { afterAll, beforeAll, expect, it } from 'vitest'

import type { RunCalls } from '../../../src/api/index.ts'
import { heddleProcessIn } from '../../support/command.ts'
import { eventually } from '../../support/eventually.ts'
import { openModel } from '../../support/model-server.ts'
import type { ModelServer } from '../../support/model-server.ts'
import { oneWorker, startServer } from '../../support/server-process.ts'
import type { ServerProcess } from '../../support/server-process.ts'
import { deployedProject } from '../deploy/deployed-project.ts'
import type { DeployedProject } from '../deploy/deployed-project.ts'
import { DeployTarget } from '../deploy/deploy-target.ts'

/** Processes load the engine several times, which takes minutes on a busy machine. */
const patienceMs = 240_000

let project: DeployedProject
let server: ServerProcess
let model: ModelServer
let shop: DeployTarget

beforeAll(async () => {
  ;[project, server, model] = await Promise.all([deployedProject(),
    startServer({ args: oneWorker }), openModel(['Sunny'])])
  shop = new DeployTarget(server.url, 'shop')
  await project.write({ 'agent.ts': agents('Answer in short.'), 'langgraph.json': JSON.stringify({
    graphs: { agent: './agent.ts:agent', where: './agent.ts:where' },
  }) })
}, patienceMs)
afterAll(async () => {
  await server?.close()
  await project?.remove()
  model?.close()
})

/** A graph that asks its model once, and one whose runs say which process they were in. */
function agents(prompt: string, comment = ''): string {
  return `import { Annotation, StateGraph } from '@langchain/langgraph'
const State = Annotation.Root({ url: Annotation, answer: Annotation, pid: Annotation })
async function ask({ url }) {
  const answer = await fetch(url + '/v1/chat/completions', { method: 'POST',
    body: JSON.stringify({ messages: [{ role: 'user', content: '${prompt}' }] }) })
  return { answer: (await answer.json()).choices[0].message.content }
}
export const agent = new StateGraph(State).addNode('ask', ask)
  .addEdge('__start__', 'ask').compile()
export const where = new StateGraph(State).addNode('ask', ask)
  .addNode('say', () => ({ pid: process.pid }))
  .addEdge('__start__', 'ask').addEdge('ask', 'say').compile()
// ${comment}
`
}

const heddle = (...args: readonly string[]) =>
  heddleProcessIn({ INIT_CWD: project.folder, npm_lifecycle_event: 'heddle',
    HEDDLE_URL: server.url }, ...args)

const gated = (...more: readonly string[]) =>
  heddle('deploy', 'shop', '--no-watch', '--yes', '--replay', '20', '--replay-max-diverged', '2%',
    ...more)

/** Lines of JSON, by their steps. */
function stepsIn(stdout: string): ReadonlyMap<unknown, Readonly<Record<string, unknown>>> {
  const lines = stdout.trim().split('\n')
    .map((line) => JSON.parse(line) as Readonly<Record<string, unknown>>)
  return new Map(lines.map((line) => [line['step'] ?? line['result'], line]))
}

/** Runs a graph. Resolves with the process that it says, and with a look at its calls. */
async function ran(graph: 'agent' | 'where') {
  const { threads, runs } = shop.client
  const { thread_id: threadId } = await threads.create()
  const { pid } = await runs.wait(threadId, graph, { input: { url: model.url } }) as {
    readonly pid: number
  }
  const [{ run_id: runId } = { run_id: '' }] = await runs.list(threadId)
  const isRecorded = async () => {
    const calls = await fetch(`${server.url}/d/shop/threads/${threadId}/runs/${runId}/calls`)
    return (await calls.json() as RunCalls).is_recorded
  }
  return { pid, isRecorded }
}

/** The first run in another process than this one. */
const ranElsewhere = (pid: number) =>
  eventually(async () => {
    const run = await ran('where')
    if (run.pid === pid) throw new Error('The process before goes on.')
    return run
  })

it('The first revision passes, as nothing has run, and its runs are recorded.', async () => {
  const { status, stdout, stderr } = await gated('--record', 'all', '--json')
  expect([status, stderr]).toEqual([0, ''])
  expect(stepsIn(stdout).get('replay')).toMatchObject({ runs: 0 })
  expect(await shop.show()).toMatchObject({ active: 'r1', record: 'all' })
  const runs = await Promise.all(Array.from({ length: 3 }, () => ran('agent')))
  for (const { isRecorded } of runs) {
    await eventually(async () => expect(await isRecorded()).toBe(true))
  }
}, patienceMs)

it('A revision with another prompt is kept out, and what differs is named.', async () => {
  await project.write({ 'agent.ts': agents('Answer in detail.') })
  const asked = model.received.length
  const refused = await gated()
  expect(refused.status).toBe(3)
  expect(refused.stdout).toMatch(/\nreplay +3 diverged/)
  expect(refused.stdout).toMatch(/3 at step 1, ask: Other call: POST .*\/v1\/chat\/completions/)
  expect(refused.stderr).toContain('100.0 % of the runs that could be compared differ on r2; 2 % ' +
    'may.\nheddle: r2 stays as it is: it is not activated.')
  expect(await shop.show()).toMatchObject({ active: 'r1', rollout: null })
  const again = await gated('--json')
  expect(again.status).toBe(3)
  expect(stepsIn(again.stdout).get('replay')).toMatchObject({ diverged_percent: 100, done: 3,
    verdicts: { diverged: 3, same: 0 },
    groups: [{ verdict: 'diverged', step: 1, node: 'ask', runs: 3 }] })
  expect(await shop.show()).toMatchObject({ active: 'r1' })
  expect(model.received.length).toBe(asked)
}, patienceMs)

it('A revision on which nothing differs is activated.', async () => {
  await project.write({ 'agent.ts': agents('Answer in short.', 'It says the same.') })
  const { status, stdout, stderr } = await gated('--json')
  expect([status, stderr]).toEqual([0, ''])
  expect(stepsIn(stdout).get('replay')).toMatchObject({ diverged_percent: 0,
    verdicts: { same: 3 } })
  expect(await shop.show()).toMatchObject({ active: 'r3' })
}, patienceMs)

it('What is recorded changes without a new revision, and no run waits for it.', async () => {
  const before = await ran('where')
  await eventually(async () => expect(await before.isRecorded()).toBe(true))
  expect(await heddle('deployments', 'set', 'shop', 'record=off')).toMatchObject({ status: 0,
    stdout: expect.stringContaining('record    off') as string })
  const off = await ranElsewhere(before.pid)
  expect(await heddle('deployments', 'set', 'shop', 'record=all')).toMatchObject({ status: 0 })
  const on = await ranElsewhere(off.pid)
  await eventually(async () => expect(await on.isRecorded()).toBe(true))
  expect(await off.isRecorded()).toBe(false)
  expect(await heddle('deployments', 'set', 'shop', 'record=project')).toMatchObject({ status: 0 })
  expect(await (await ranElsewhere(on.pid)).isRecorded()).toBe(false)
  expect(await shop.show()).toMatchObject({ active: 'r3', record: null })
}, patienceMs)

it('A share that is none is refused in a sentence, and changes nothing.', async () => {
  const says = /^(?:heddle: )?(?:record|--record) must be off, all, a share of runs like 10%.*\n?$/
  expect(await heddle('deployments', 'set', 'shop', 'record=110%')).toMatchObject({ status: 2,
    stderr: expect.stringMatching(says) as string })
  expect(await heddle('deploy', 'shop', '--record', 'some')).toMatchObject({ status: 2,
    stderr: expect.stringMatching(says) as string })
  expect(await shop.own('PATCH', '', { record: '110%' })).toMatchObject({ status: 422,
    body: { message: expect.stringMatching(/^record: it is off, all or a share/) as string } })
  expect(await shop.show()).toMatchObject({ record: null })
}, patienceMs)
