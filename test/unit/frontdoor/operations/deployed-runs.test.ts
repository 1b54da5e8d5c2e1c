/** A deployment with two revisions of a project, each in a graph host: answers of humans. */

import { afterAll, beforeAll, describe, expect, it } from 'vitest'

import { operationsOver } from '../../../../src/frontdoor/index.ts'
import { compileProject, readProject, systemAssistantId } from '../../../../src/graph/index.ts'
import type { GraphHost } from '../../../../src/graph/index.ts'
import { ItemStore } from '../../../../src/items/index.ts'
import { noUse, Quotas, ReadQuota, unlimited } from '../../../../src/limits/index.ts'
import { openEgress } from '../../../../src/egress/index.ts'
import { readLongJson } from '../../../../src/json/index.ts'
import { FakeDeployments, shop } from '../../../support/fake-deployments.ts'
import { useGates } from '../../../support/gate.ts'
import { settled, ThreadHouse } from '../../../support/thread-house.ts'
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
const around = (name, node) => new StateGraph(State).addNode(name, node).addEdge(START, name)
const asking = around('${node}', () => ({ answer: interrupt('sure?') }))
const ending = (graph) => graph.addNode('end', () => ({ by: '${revision}' }))
  .addEdge('research', 'end').addEdge('end', END).compile()
export const desk = ending(around('research', around('deep', asking.compile()).compile()))
export const study = ending(around('research', asking.compile({ checkpointer: true })))
export const hold = new StateGraph(State)
  .addNode('first', async ({ url }) => { await fetch(url); return {} })
  .addNode('end', () => ({ by: '${revision}' }))
  .addEdge(START, 'first').addEdge('first', 'end').addEdge('end', END).compile()
const Steps = Annotation.Root({ first: Annotation(), second: Annotation(),
  said: Annotation({ reducer: (before, more) => before.concat(more), default: () => [] }) })
const at = (gate) => async (state) => {
  if (gate) await fetch(state[gate])
  return { said: ['${revision}'] }
}
export const steps = new StateGraph(Steps)
  .addNode('one', at('first')).addNode('two', at('second')).addNode('three', at())
  .addEdge(START, 'one').addEdge('one', 'two').addEdge('two', 'three').addEdge('three', END)
  .compile()
export const within = new StateGraph(Steps).addNode('inner', steps)
  .addEdge(START, 'inner').addEdge('inner', END).compile()
${revision === 'r2' ? 'export const added = hold' : ''}
`

const newGate = useGates()
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
  const headOf = async (threadId: string) => {
    const state = JSON.parse(await operations.threads.state(shop, threadId, null, {})) as {
      checkpoint: { checkpoint_id: string }
    }
    return state.checkpoint.checkpoint_id
  }
  return { deployed, headOf, house, operations, wait }
}

describe.each([['agent', 'ask'], ['desk', 'research:deep:ask'], ['study', 'research:ask']])(
  'a node of %s, %s, that is renamed',
  (
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
      const answer = { assistant_id, command: { resume: 'yes' } }
      await expect(wait('a', answer, 'r2')).rejects.toMatchObject({ code: 'missing_node' })
      deployed.active = 'r2'
      const r1 = deployed.hosts.get('r1')!
      deployed.hosts.delete('r1')
      await expect(wait('a', answer)).rejects.toMatchObject({
        code: 'missing_node',
        httpStatus: 409,
        message: expect.stringContaining(`"${path}" of revision r1`) as string,
      })
      deployed.hosts.set('r1', r1)
      expect((await wait('a', { assistant_id, command: { resume: 'yes' } })).values)
        .toEqual({ answer: 'yes', by: 'r1' })
    })

    it('refuses to go on from an earlier checkpoint at which it waits, or takes its revision',
      async () => {
        const { deployed, headOf, wait } = openShop()
        const asks = { assistant_id, input: { answer: '' } }
        await wait('a', asks)
        const again = { assistant_id, command: { resume: 'again' },
          checkpoint_id: await headOf('a') }
        await wait('a', asks)
        deployed.active = 'r2'
        const r1 = deployed.hosts.get('r1')!
        deployed.hosts.delete('r1')
        await expect(wait('a', again)).rejects.toMatchObject({ code: 'missing_node',
          message: expect.stringContaining(`"${path}" of revision r1`) as string })
        deployed.hosts.set('r1', r1)
        expect((await wait('a', again)).values).toEqual({ answer: 'again', by: 'r1' })
      })
  },
)

/** A host of a version of Heddle that knew nodes of the root only. */
function rootNodesOnly(host: GraphHost): GraphHost {
  const graphs = host.graphs().map(({ subgraphs: _, subgraphNodes: __, ...graph }) => graph)
  const execute: GraphHost['execute'] = (execution, source, listener) =>
    host.execute(execution, source, {
      steps: (batch) => listener.steps(batch),
      ended: ({ waitsAt = [], ...outcome }) =>
        listener.ended({ ...outcome, waitsAt: waitsAt.map((path) => path.split(':')[0]!) }),
      lost: (reason) => listener.lost(reason),
    })
  return Object.create(host, {
    graphs: { value: () => graphs },
    describe: { value: (id: string) => graphs.find(({ graphId }) => graphId === id) },
    execute: { value: execute },
  }) as GraphHost
}

describe('what an earlier version wrote, with root nodes only,', () => {
  const asks = { assistant_id: 'desk', input: { answer: '' } }
  const answers = { assistant_id: 'desk', command: { resume: 'yes' } }

  it.each([['a thread', 'r1'], ['a revision', 'r2']] as const)(
    'loses no answer either: one that its code would lose ends as an error: of %s',
    async (_, earlier) => {
      const { deployed, house, wait } = openShop()
      deployed.hosts.set(earlier, rootNodesOnly(deployed.hosts.get(earlier)!))
      await wait('a', asks)
      deployed.active = 'r2'
      expect((await wait('a', answers)).values).toMatchObject({
        __error__: { message: expect.stringContaining('"research:deep:ask"') as string },
      })
      expect((await house.client.get(shop, 'a')).row).toMatchObject({
        interruptsJson: expect.stringContaining('sure?') as string,
        waitingAt: { revision: 'r1' },
      })
      expect((await wait('a', answers, 'r1')).values).toEqual({ answer: 'yes', by: 'r1' })
    },
  )

  it('goes on where the root node is', async () => {
    const { deployed, wait } = openShop()
    deployed.hosts.set('r1', rootNodesOnly(deployed.hosts.get('r1')!))
    await wait('a', asks)
    expect((await wait('a', answers)).values).toEqual({ answer: 'yes', by: 'r1' })
  })
})

it('An earlier checkpoint whose question was answered goes on with the revision that asked.',
  async () => {
    const { deployed, headOf, wait } = openShop()
    await wait('a', { input: { answer: '' } })
    const again = { command: { resume: 'again' }, checkpoint_id: await headOf('a') }
    await wait('a', { command: { resume: 'yes' } })
    deployed.active = 'r2'
    expect((await wait('a', again)).values).toMatchObject({ by: 'r1' })
    deployed.hosts.delete('r1')
    await expect(wait('a', again)).rejects.toMatchObject({ code: 'missing_node' })
  })

it('What is done anew from an earlier checkpoint takes the active revision.', async () => {
  const { deployed, headOf, wait } = openShop()
  const asks = { assistant_id: 'desk', input: { answer: '' } }
  await wait('a', asks)
  const anew = { assistant_id: 'desk', input: null, checkpoint_id: await headOf('a') }
  await wait('a', asks)
  deployed.active = 'r2'
  expect((await wait('a', anew)).values).toHaveProperty('__interrupt__')
  expect((await wait('a', { assistant_id: 'desk', command: { resume: 'yes' } })).values)
    .toEqual({ answer: 'yes', by: 'r2' })
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

/** A run that is at its first step on r1. r3 is as r2, but lacks the nodes of later steps. */
async function atFirstStep(graph: 'steps' | 'within' = 'steps') {
  const { deployed, operations: { runs } } = openShop()
  const { host } = hosts.get('r2')!
  const lacking = host.graphs().map((each) => ({ ...each,
    nodes: each.nodes.filter((node) => node !== 'two' && node !== 'three') })
  )
  deployed.hosts.set('r3', new Proxy(host, { get: (real, name) => {
    if (name === 'graphs') return () => lacking
    const value: unknown = Reflect.get(real, name, real)
    return typeof value === 'function' ? value.bind(real) as unknown : value
  } }))
  const [first, second] = [newGate(), newGate()]
  const { row: { runId }, result } = await runs.createAndWait(shop, 'x',
    { assistant_id: graph, if_not_exists: 'create',
      input: { first: first.url, second: second.url } } as never, { commandId: '', headers: {} })
  await first.arrived()
  const ended = async () => {
    const { said } = JSON.parse(await result()) as { readonly said: readonly string[] }
    return { said, run: await runs.get(shop, { threadId: 'x', runId }) }
  }
  const move = async (active: string) => {
    deployed.change({ active, movesRuns: true })
    await settled()
  }
  const finish = async (between = async () => {}) => {
    first.open()
    await second.arrived()
    await between()
    second.open()
  }
  return { move, finish, ended }
}

describe('a run under way', () => {
  it('goes on with the new code from its next superstep, if the pointer moves runs', async () => {
    const { move, finish, ended } = await atFirstStep()
    await move('r2')
    await finish()
    const { said, run } = await ended()
    // The worker may have begun the second step before it was asked to stop.
    expect([said.length, said[0], said[2]]).toEqual([3, 'r1', 'r2'])
    expect(run).toMatchObject({ revision: 'r2', attempt: 1, starts: 2, status: 'success' })
  })

  it('ends on its own code if its next node is gone, and stops for that only once', async () => {
    const { move, finish, ended } = await atFirstStep()
    await move('r3')
    await finish(() => move('r3'))
    expect(await ended()).toMatchObject({ said: ['r1', 'r1', 'r1'],
      run: { revision: 'r1', attempt: 1, starts: 2 } })
  })

  it('stays on its own code within a subgraph: its inner nodes are not known', async () => {
    const { move, finish, ended } = await atFirstStep('within')
    await move('r3')
    await finish()
    expect(await ended()).toMatchObject({ said: ['r1', 'r1', 'r1'], run: { revision: 'r1' } })
  })
})

describe('the graphs of a deployment', () => {
  it('are those of the active revision, with assistants of their own', async () => {
    const { deployed, operations } = openShop()
    const names = async () =>
      (await operations.assistants.search(shop, {})).rows.map(({ graphId }) => graphId).sort()
    expect(await names()).toEqual(['agent', 'desk', 'hold', 'steps', 'study', 'within'])
    deployed.active = 'r2'
    expect(await names())
      .toEqual(['added', 'agent', 'desk', 'hold', 'steps', 'study', 'within'])
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
