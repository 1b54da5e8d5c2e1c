/** A library of graphs, in a worker thread as in production. */

import { describe, expect, it } from 'vitest'

import { toGraph } from '../../../../src/graph/project/graph-export.ts'
import type { AccessContext } from '../../../../src/graph/project/graph-export.ts'
import { openLibrary, sharedLibrary } from './open-library.ts'
import type { Ask } from './open-library.ts'
import { sharedProject, writeProject } from './project-files.ts'
import { isNight } from '../../../support/repeats.ts'

const forms = sharedProject('forms')

describe('a graph library', () => {
  const ask = sharedLibrary(forms)

  it('serves a graph in each form in which a project may export it', async () => {
    const say = (graphId: string) =>
      ask(async (library, id) => {
        const graph = await library.get(id, { access: 'threads.create_run' })
        return (await graph.invoke(id === 'functional' ? 'it' as never : {})) as unknown
      }, graphId)
    expect(await say('compiled')).toEqual({ said: 'from the project' })
    expect(await say('uncompiled')).toEqual({ said: 'uncompiled' })
    expect(await say('promised')).toEqual({ said: 'promised' })
    expect(await say('choosy')).toEqual({ said: 'chosen' })
    expect(await say('functional')).toBe('heard it')
    expect(await say('default')).toEqual({ said: 'default' })
    const { messages } = await ask(async (library) => {
      const graph = await library.get('agent', { access: 'threads.create_run' })
      const state = await graph.invoke({ messages: [new library.messages.HumanMessage('hi')] })
      return { messages: state.messages.map((message: { text: string }) => message.text) }
    })
    expect(messages).toEqual(['hi', 'agent'])
  })

  it.runIf(isNight)('describes its graphs in the order of langgraph.json', async () => {
    const said = { description: null, stateChannels: ['said'], plain: true, nodes: ['say'],
      channels: ['said'], subgraphs: [], subgraphNodes: [] }
    // A factory's graphs may differ.
    const made = { ...said, channels: undefined, subgraphs: undefined, subgraphNodes: undefined }
    expect(await ask((library) => library.describe())).toEqual([
      { ...said, graphId: 'compiled', description: 'Compiled by its author.' },
      { ...said, graphId: 'uncompiled' },
      { ...said, graphId: 'promised' },
      { ...said, graphId: 'agent', stateChannels: ['messages', 'jumpTo'], nodes: ['model_request'],
        channels: expect.arrayContaining(['messages', 'jumpTo']) },
      { ...made, graphId: 'factory' },
      { ...made, graphId: 'choosy', stateChannels: null, nodes: [] },
      { ...said, graphId: 'functional', stateChannels: '__end__', nodes: ['functional'],
        channels: [] },
      { ...said, graphId: 'default' },
    ])
  })

  it.runIf(isNight)('knows which graphs have a state that differs from their checkpoints',
    async () => {
      const described = await (await openLibrary(sharedProject('schemas')))((library) =>
        library.describe()
      )
      expect(described.filter(({ plain }) => !plain).map(({ graphId }) => graphId))
        .toEqual(['passing', 'delta'])
    })

  it('always returns the same compiled graph, but a fresh one from a factory', async () => {
    expect(
      await ask((library) =>
        Promise.all(
          ['uncompiled', 'factory'].map(async (id) =>
            await library.get(id, { access: 'threads.read' })
              === await library.get(id, { access: 'threads.read' })
          ),
        )
      ),
    ).toEqual([true, false])
  })

  it('calls a factory for each use, with the purpose of that use', async () => {
    const emitted = (access: AccessContext) =>
      ask(async (library, wanted) => {
        const use = { access: wanted, config: { configurable: { a: 1 } }, context: { user: 'me' } }
        const graph = await library.get('factory', use)
        return JSON.parse((await graph.invoke({})).said) as unknown
      }, access)
    const config = { configurable: { a: 1 } }
    expect(await emitted('threads.create_run')).toEqual({ config, runtime: {
      accessContext: 'threads.create_run',
      executionRuntime: { context: { user: 'me' } },
    } })
    for (const access of ['threads.read', 'threads.update', 'assistants.read'] as const) {
      expect(await emitted(access))
        .toEqual({ config, runtime: { accessContext: access, executionRuntime: null } })
    }
  })

  it('refuses only the use for which a factory fails', async () => {
    await expect(ask((library) => library.get('choosy', { access: 'threads.read' }))).rejects
      .toMatchObject({ code: 'graph_failed',
        message: 'The factory of graph "choosy" failed: only for runs' })
    expect(await ask((library) => library.failures)).toEqual([])
  })

  it('prefers variables of the process to those of the project', async () => {
    const seen = (asked: Ask) =>
      asked(() => ({ word: process.env.FORMS_WORD, path: process.env.PATH }))
    expect(await seen(ask)).toEqual({ word: 'from the project', path: process.env.PATH })
    expect(await seen(await openLibrary(forms, { FORMS_WORD: '' }))).toMatchObject({ word: '' })
  })

  it.runIf(isNight)('answers graph_failed if the engine cannot draw a graph', async () => {
    const root = await writeProject({ 'langgraph.json': { graphs: { it: './graph.js:graph' } },
      'graph.js': `export const graph = { lg_is_pregel: true, nodes: {}, streamChannelsList: [],
        getGraphAsync() { throw new Error('End node x not found!') } }` })
    const ask = await openLibrary(root)
    await expect(ask((library) => library.drawable('it', true))).rejects.toMatchObject({
      code: 'graph_failed',
      message: 'Graph "it" cannot be shown: End node x not found!',
    })
  })

  it.runIf(isNight)('answers not_found for an unknown graph, and names those that exist',
    async () => {
      const ask = await openLibrary(sharedProject('schemas'))
      await expect(ask((library) => library.get('stranger', { access: 'threads.read' }))).rejects
        .toMatchObject({ code: 'not_found', message: expect.stringMatching(
          /^There is no graph "stranger"; there is annotated, zod,/,
        ) })
    })
})

describe('a graph that cannot be loaded', () => {
  const brokenProject = () =>
    writeProject({
      'langgraph.json': { graphs: {
        good: './good.ts:graph',
        unwritten: './syntax.ts:graph',
        throwing: './src/throwing.ts:graph',
        unexported: './good.ts:grpah',
        thing: './good.ts:thing',
        rejected: './good.ts:rejected',
        lost: './lost.ts:graph',
        number: './good.ts:number',
        misusing: './misusing.ts:graph',
      } },
      'good.ts': `import { START, StateGraph, Annotation } from '@langchain/langgraph'
      export const graph = new StateGraph(Annotation.Root({ a: Annotation<string>() }))
        .addNode('one', () => ({ a: 'good' })).addEdge(START, 'one')
      export const thing = {}
      export const number = 7
      export const rejected = Promise.reject(new Error('no database'))`,
      'syntax.ts': 'export const graph = 1\n\nexport const const = 2',
      'src/throwing.ts': 'const a: number = 1\nthrow new Error("no key for " + a)',
      'misusing.ts': `import { connect } from 'driver'\nexport const graph = connect()`,
      'node_modules/driver/package.json': { type: 'module', exports: './index.js' },
      'node_modules/driver/index.js': `export function connect() { throw new Error('no port') }`,
      'lost.ts': `import { gone } from './gone'\nexport const graph = gone`,
    })

  it('is described as null if its file exports null', () => {
    expect(() => toGraph(null)).toThrow('it must be a LangGraph.js graph, not null')
  })

  it('stays listed with an error and its place, and leaves other graphs alone', async () => {
    const ask = await openLibrary(await brokenProject())
    const failures = await ask((library) =>
      library.failures
        .map(({ graphId, error }) => [graphId, error.code, error.message] as const)
    )
    const message = (id: string,
      end: string) => [id, 'graph_failed', `Graph "${id}" could not be loaded${end}`]
    expect(failures).toEqual([
      message('unwritten', ': syntax.ts:3:14: Expected identifier but found "const"'),
      message('throwing', ' (src/throwing.ts:2:7): no key for 1'),
      message('unexported', ': its file does not export "grpah"; it exports graph, ' +
        'number, rejected, thing'),
      message('thing',
        ': it must be a LangGraph.js graph, or a function or promise that gives one'),
      message('rejected', ' (good.ts:6:46): no database'),
      message('lost', ': lost.ts:1:22: Could not resolve "./gone"'),
      message('number', ': it must be a LangGraph.js graph, not of type number'),
      message('misusing', ' (misusing.ts:2:22): no port'),
    ])
    const described = await ask((library) => library.describe())
    expect(described.flatMap(({ graphId, failed, failure }) => failed ? [[graphId, failure]] : []))
      .toEqual(failures.map(([graphId, , text]) => [graphId, text]))
    await expect(ask((library) => library.get('throwing', { access: 'threads.create_run' })))
      .rejects.toMatchObject({ code: 'graph_failed', message: failures[1]?.[2] })
    expect(await ask(async (library) => {
      const good = await library.get('good', { access: 'threads.create_run' })
      return [(await library.describe()).length, await good.invoke({}) as unknown]
    })).toEqual([9, { a: 'good' }])
  })
})
