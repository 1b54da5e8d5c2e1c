/** The process that reads types: when it is started, what is remembered, how it ends. */

import { expect, it, onTestFinished } from 'vitest'

import { compileProject } from '../../../../src/graph/project/project-compiler.ts'
import { readProject } from '../../../../src/graph/project/project.ts'
import { TypeReader } from '../../../../src/graph/typescript/project-types.ts'
import { virtualEnv } from '../../../support/env.ts'
import { isNight } from '../../../support/repeats.ts'
import { writeFiles, writeProject } from '../project/project-files.ts'

const graph = (type: string) => `
  import { Annotation, START, StateGraph } from '@langchain/langgraph'
  import type { Topic } from './topic.ts'
  export const graph = new StateGraph(Annotation.Root({ topic: Annotation<${type}>() }))
    .addNode('work', () => ({})).addEdge(START, 'work').compile()
`
const files = { 'langgraph.json': { graphs: { agent: './agent.ts:graph' } },
  'agent.ts': graph('Topic'), 'topic.ts': 'export type Topic = string' }

async function readerOf(content: object, isBusy = () => false) {
  const root = await writeProject({ ...content })
  const project = await compileProject(await readProject(root))
  const env = virtualEnv()
  const reader = new TypeReader(env, 512, undefined, isBusy)
  onTestFinished(() => reader.close())
  return { root, project, env, reader,
    topic: async () => (await reader.typesOf(project)).graphs.get('agent')?.state }
}

const topicOf = (type: string) => ({ type: 'object', properties: { topic: { type } },
  required: ['topic'] })

it.runIf(isNight)(
  'Types are read outside Heddle too, remembered, and read again when a file of them changes.',
  async () => {
    const { root, project, env, reader, topic } = await readerOf(files)
    const [first, second] = [reader.typesOf(project), reader.typesOf(project)]
    expect(await topic()).toEqual(topicOf('string'))
    expect(await first).toBe(await second)
    expect(await reader.typesOf(project)).toBe(await first)
    env.advance(1_000)
    expect(await reader.typesOf(project)).toBe(await first)
    // This file has types only, so that the project is not compiled again.
    await writeFiles(root, { 'topic.ts': 'export type Topic = number' })
    expect(await topic()).toEqual(topicOf('string'))
    env.advance(1_000)
    expect(await topic()).toEqual(topicOf('number'))
    expect([env.timers(), env.lines]).toEqual([0, []])
  },
)

it('A reading that takes too long is logged as a warning and tried again within seconds',
  async () => {
    const { project, env, reader } = await readerOf(files)
    expect((await reader.typesOf(project, 0)).isLoading).toBe(true)
    for (let tries = 1; tries <= 5; tries++) {
      await expect.poll(() => env.timers()).toBe(1)
      env.advance(120_000)
      await expect.poll(() => env.lines.length).toBe(tries)
      // The pause before the next try; there is none after the last.
      await expect.poll(() => env.timers()).toBe(tries < 5 ? 1 : 0)
      env.advance(30_000)
    }
    expect(env.lines).toMatchObject(
      Array.from({ length: 5 },
        () => ({ level: 'warn', details: { reason: expect.stringContaining('120 seconds') } })),
    )
    expect((await reader.typesOf(project, 0)).isLoading).toBe(false)
    env.advance(600_000)
    expect((await reader.typesOf(project, 0)).isLoading).toBe(true)
  })

it('Types are read from the load on, and a caller waits no longer than it chooses', async () => {
  const { project, env, reader } = await readerOf(files)
  reader.begin(project)
  env.advance(20_000)
  await expect.poll(() => env.timers()).toBe(1)
  const waiting = reader.typesOf(project, 1_000)
  env.advance(1_000)
  expect(await waiting).toMatchObject({ graphs: new Map(), isLoading: true })
  const all = await reader.typesOf(project, 1_000_000)
  expect(all).toMatchObject({ isLoading: false })
  expect(all.graphs.get('agent')?.state).toEqual(topicOf('string'))
  expect(env.timers()).toBe(0)
})

it('On a busy machine, types are not read in the background until it is idle', async () => {
  const looks: boolean[] = []
  const { project, env, reader } = await readerOf(files, () => looks.push(true) < 3)
  reader.begin(project)
  for (const [delayMs, count] of [[20_000, 1], [40_000, 2]] as const) {
    env.advance(delayMs - 1)
    expect(looks).toHaveLength(count - 1)
    env.advance(1)
    // The only timer is that of the next look.
    expect([looks.length, env.timers()]).toEqual([count, 1])
  }
  env.advance(80_000)
  expect([looks.length, env.timers()]).toEqual([3, 0])
  // The process has started, and has a limit on its time.
  await expect.poll(() => env.timers()).toBe(1)
})

it('Nothing is started for a project without TypeScript.', async () => {
  const { project, env, reader, topic } = await readerOf({
    'agent.js': graph('x').replace(/<x>|import type.*/g, ''),
    'langgraph.json': { graphs: { agent: './agent.js:graph' } },
  })
  reader.begin(project)
  const types = topic()
  expect(env.timers()).toBe(0)
  expect(await types).toBeUndefined()
})

it('A closed reader ends its process.', async () => {
  const { root, project, env, reader, topic } = await readerOf(files)
  const types = reader.typesOf(project)
  reader.close()
  expect((await types).graphs.size).toBe(0)
  await writeFiles(root, { 'agent.ts': graph('number') })
  env.advance(1_000)
  expect(await topic()).toBeUndefined()
})
