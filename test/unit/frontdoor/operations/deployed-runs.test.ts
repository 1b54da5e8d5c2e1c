/** A deployment with two revisions of a project, each in a graph host: answers of humans. */

import { afterAll, beforeAll, describe, expect, it } from 'vitest'

import { operationsOver } from '../../../../src/frontdoor/index.ts'
import { compileProject, readProject, systemAssistantId } from '../../../../src/graph/index.ts'
import { ItemStore } from '../../../../src/items/index.ts'
import { noUse, Quotas, ReadQuota, unlimited } from '../../../../src/limits/index.ts'
import { openEgress } from '../../../../src/egress/index.ts'
import { readLongJson } from '../../../../src/json/index.ts'
import { FakeDeployments, shop } from '../../../support/fake-deployments.ts'
import { ThreadHouse } from '../../../support/thread-house.ts'
import { assistantHouse } from '../../assistants/assistant-house.ts'
import { TestHost } from '../../graph/project/host-project.ts'
import { writeProject } from '../../graph/project/project-files.ts'
import { noCrons } from '../no-crons.ts'

/** A project whose graphs ask at a node, and say in which revision they went on. */
const source = (node: string, revision: string) => `
import { Annotation, END, START, StateGraph, interrupt } from '@langchain/langgraph'
const State = Annotation.Root({ answer: Annotation(), by: Annotation(), url: Annotation() })
export const agent = new StateGraph(State)
  .addNode('${node}', () => ({ answer: interrupt('sure?') }))
  .addNode('end', () => ({ by: '${revision}' }))
  .addEdge(START, '${node}').addEdge('${node}', 'end').addEdge('end', END).compile()
const research = new StateGraph(State)
  .addNode('${node}', () => ({ answer: interrupt('sure?') })).addEdge(START, '${node}').compile()
export const desk = new StateGraph(State)
  .addNode('research', research)
  .addNode('end', () => ({ by: '${revision}' }))
  .addEdge(START, 'research').addEdge('research', 'end').addEdge('end', END).compile()
export const hold = new StateGraph(State)
  .addNode('first', async ({ url }) => { await fetch(url); return {} })
  .addNode('end', () => ({ by: '${revision}' }))
  .addEdge(START, 'first').addEdge('first', 'end').addEdge('end', END).compile()
${revision === 'r2' ? 'export const added = hold' : ''}
`

const hosts = new Map<string, TestHost>()
const removals: (() => Promise<void>)[] = []

beforeAll(async () => {
  for (const [revision, node] of [['r1', 'ask'], ['r2', 'confirm']] as const) {
    const text = source(node, revision)
    const names = [...text.matchAll(/export const (\w+)/g)].map(([, name]) => name!)
    const root = await writeProject({
      'langgraph.json': {
        graphs: Object.fromEntries(names.map((name) => [name, `./graphs.js:${name}`])),
      },
      'graphs.js': text,
      'package.json': { type: 'module' },
    }, (remove) => removals.push(remove))
    hosts.set(revision, await TestHost.open(1, await compileProject(await readProject(root))))
  }
})

afterAll(async () => {
  for (const { host } of hosts.values()) await host.close()
  for (const remove of removals) await remove()
})

/** The operations of a front door over a member with the deployment. */
function openShop() {
  const deployed = new FakeDeployments()
  for (const [revision, { host }] of hosts) deployed.hosts.set(revision, host)
  const house = new ThreadHouse({}, undefined, deployed)
  const { env, reads } = house
  const { assistants, index } = assistantHouse(env)
  const nowhere = () => Promise.reject(new Error('nobody is asked'))
  const operations = operationsOver({
    ...noCrons,
    threads: house.client,
    assistants,
    assistantIndex: index,
    items: new ItemStore({ env, reads: new ReadQuota(env), router: { ask: nowhere },
      search: { search: nowhere, namespaces: nowhere },
      settings: () => ({ ttlMs: 0, refreshOnRead: true }) }),
    graphs: house.host,
    deployed,
    egress: openEgress({ env, version: '0.0.1' }),
    reads,
    json: readLongJson(env.log),
    env,
    assistantDefaults: new Map([['agent', { config: { tags: ['own'] }, context: {} }]]),
    quotas: new Quotas({ limits: unlimited, use: async () => noUse }, env),
  })
  const wait = async (threadId: string, body: object, revision?: string) => {
    const { row, result } = await operations.runs.createAndWait(shop, threadId,
      { assistant_id: 'agent', if_not_exists: 'create', ...body } as never, { commandId: '',
      headers: {}, ...revision !== undefined && { revision } })
    return { runId: row.runId, values: JSON.parse(await result()) as Record<string, unknown> }
  }
  return { deployed, house, operations, wait }
}

describe.each([['agent', 'ask'], ['desk', 'research:ask']])('a node of %s, %s, that is renamed', (
  assistant_id,
  path,
) => {
  it('loses no answer under interrupts: each goes to the revision that asked', async () => {
    const { deployed, operations, wait } = openShop()
    const threads = ['a', 'b', 'c']
    for (const id of threads) {
      expect((await wait(id, { assistant_id, input: { answer: '' } })).values).toMatchObject({
        __interrupt__: [{ value: 'sure?' }],
      })
    }
    deployed.active = 'r2'
    for (const id of threads) {
      const state = JSON.parse(await operations.threads.state(shop, id, null, {})) as object
      expect(state).toMatchObject({ next: [path.split(':')[0]] })
      const { runId, values } = await wait(id, { assistant_id, command: { resume: `yes ${id}` } })
      expect(values).toEqual({ answer: `yes ${id}`, by: 'r1' })
      expect(await operations.runs.get(shop, { threadId: id, runId }))
        .toMatchObject({ revision: 'r1' })
    }
    expect((await wait('a', { assistant_id, input: { answer: '' } })).values).toHaveProperty(
      '__interrupt__',
    )
    expect((await wait('a', { assistant_id, command: { resume: 'new' } })).values)
      .toMatchObject({ answer: 'new', by: 'r2' })
  })

  it('refuses the answer while the revision is gone, and takes it when it is back', async () => {
    const { deployed, wait } = openShop()
    await wait('a', { assistant_id, input: { answer: '' } })
    deployed.active = 'r2'
    const r1 = deployed.hosts.get('r1')!
    deployed.hosts.delete('r1')
    await expect(wait('a', { assistant_id, command: { resume: 'yes' } })).rejects.toMatchObject({
      code: 'missing_node',
      httpStatus: 409,
      message: expect.stringContaining(`"${path}" of revision r1`) as string,
    })
    deployed.hosts.set('r1', r1)
    expect((await wait('a', { assistant_id, command: { resume: 'yes' } })).values)
      .toEqual({ answer: 'yes', by: 'r1' })
  })

  it('refuses to go on from an old checkpoint at which it waited, or takes its revision',
    async () => {
      const { deployed, operations, wait } = openShop()
      await wait('a', { assistant_id, input: { answer: '' } })
      const { checkpoint } = JSON.parse(await operations.threads.state(shop, 'a', null, {})) as {
        checkpoint: { checkpoint_id: string }
      }
      await wait('a', { assistant_id, command: { resume: 'yes' } })
      const again = { assistant_id, command: { resume: 'again' },
        checkpoint_id: checkpoint.checkpoint_id }
      deployed.active = 'r2'
      expect((await wait('a', again)).values).toMatchObject({ by: 'r1' })
      deployed.hosts.delete('r1')
      await expect(wait('a', again)).rejects.toMatchObject({ code: 'missing_node' })
    })
})

it('A run that straddles an activation ends on the code that it began with.', async () => {
  const { deployed, wait } = openShop()
  const gate = Promise.withResolvers<void>()
  const { createServer } = await import('node:http')
  const arrived = Promise.withResolvers<void>()
  const server = createServer((_, response) => {
    arrived.resolve()
    void gate.promise.then(() => response.end())
  }).listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  const url = `http://127.0.0.1:${(server.address() as { port: number }).port}/`
  const straddling = wait('a', { assistant_id: 'hold', input: { url } })
  await arrived.promise
  deployed.active = 'r2'
  gate.resolve()
  expect((await straddling).values).toMatchObject({ by: 'r1' })
  expect((await wait('a', { assistant_id: 'hold', input: { url } })).values)
    .toMatchObject({ by: 'r2' })
  server.close()
})

describe('the graphs of a deployment', () => {
  it('are those of the active revision, with assistants of their own', async () => {
    const { deployed, operations } = openShop()
    const names = async () =>
      (await operations.assistants.search(shop, {})).rows.map(({ graphId }) => graphId).sort()
    expect(await names()).toEqual(['agent', 'desk', 'hold'])
    deployed.active = 'r2'
    expect(await names()).toEqual(['added', 'agent', 'desk', 'hold'])
    const { assistants: ofServer } = openShop().operations
    const [own, theirs] = await Promise.all([ofServer.get('t', 'agent'),
      operations.assistants.get(shop, systemAssistantId('agent'))])
    expect([own.configJson, theirs.configJson]).toEqual(['{"tags":["own"]}', '{}'])
  })

  it('are none, and not those of the server, before a revision is active', async () => {
    const { deployed, operations, wait } = openShop()
    deployed.active = null
    expect((await operations.assistants.search(shop, {})).rows).toEqual([])
    await expect(wait('a', { input: {} })).rejects.toMatchObject({ code: 'not_found' })
    expect((await wait('a', { input: { answer: '' } }, 'r2')).values)
      .toHaveProperty('__interrupt__')
  })

  it('may be those of a revision that the caller names, if it is there', async () => {
    const { wait } = openShop()
    await wait('a', { input: { answer: '' } }, 'r2')
    expect((await wait('a', { command: { resume: 1 } }, 'r2')).values)
      .toEqual({ answer: 1, by: 'r2' })
    await expect(wait('a', { input: {} }, 'r7')).rejects.toMatchObject({ code: 'invalid',
      message: expect.stringContaining('x-heddle-revision') as string })
  })
})
