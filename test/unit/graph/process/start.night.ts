/** Starts of graph processes: what fails says why, and what takes too long ends. */

import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { describe, expect, it, onTestFinished } from 'vitest'

import { startGraphProcess } from '../../../../src/graph/index.ts'
import type { GraphProcessOptions } from '../../../../src/graph/index.ts'
import { useGates } from '../../../support/gate.ts'
import { writeProject } from '../project/project-files.ts'
import { processOf, startProcess } from './process-host.ts'

const gate = useGates()

const good = `
import { Annotation, END, START, StateGraph } from '@langchain/langgraph'
export const graph = new StateGraph(Annotation.Root({ log: Annotation() }))
  .addNode('node', () => ({ log: 'done' })).addEdge(START, 'node').addEdge('node', END).compile()
`

/** Starts a project with a good graph, and one whose file has this text. */
async function startWith(text: string, request: Partial<GraphProcessOptions> = {}) {
  const folder = await writeProject({
    'langgraph.json': { graphs: { good: './good.js:graph', odd: './odd.ts:graph' } },
    'package.json': { type: 'module' },
    'good.js': good,
    'odd.ts': text,
  })
  const options = processOf(folder, request)
  const { env } = options
  const starting = startGraphProcess(options).then((host) => {
    onTestFinished(() => host.close())
    return host
  })
  starting.catch(() => {})
  return { env, starting }
}

describe('a graph that cannot be loaded', () => {
  it.each([
    ['has a mistake', 'export const graph = {', 'odd.ts:1'],
    ['throws while it is imported', `throw new Error('no key'); export const graph = 1`, 'no key'],
    ['is no graph', 'export const graph = 1', 'graph'],
  ])('leaves the others to be served if it %s', async (_, text, failure) => {
    const host = await (await startWith(text)).starting
    expect(host.describe('good')).toMatchObject({ nodes: ['node'] })
    expect(host.describe('odd')).toMatchObject({ failed: true,
      failure: expect.stringContaining(failure) as string })
  })
})

describe('a start', () => {
  it.each([
    ['ends its thread', 'graph_failed', 'process.exit(7); export const graph = 1', 'graph "odd"'],
    ['ends its process', 'unavailable',
      `process.kill(process.pid, 'SIGKILL'); for (;;); export const graph = 1`,
      'SIGKILL while it imported the file of graph'],
    ['lacks file descriptors', 'unavailable',
      `throw Object.assign(new Error('EMFILE: too many open files'), { code: 'EMFILE' })`,
      'too many open files'],
  ])('fails if a file %s, with the code %s', async (_, code, text, message) => {
    const { starting } = await startWith(text)
    await expect(starting).rejects.toMatchObject({ code,
      message: expect.stringContaining(message) as string })
  })

  it('ends if a file spins', async () => {
    const held = gate()
    const { starting, env } = await startWith(`
      await fetch('${held.url}')
      for (;;);
      export const graph = 1`)
    await held.arrived()
    held.open()
    env.advance(59_999)
    const late = expect(starting).rejects.toMatchObject({ code: 'unavailable',
      message: 'The process of the graphs could not start. ' +
        'It did not load within 60 seconds while it imported the file of graph "odd".' })
    env.advance(1)
    await late
  })

  it('ends if a file fills the memory', async () => {
    const { starting, env } = await startWith(`
      const kept = []
      for (;;) kept.push(Buffer.alloc(2 ** 24, 1))
      export const graph = 1`, { memoryMb: 300, startMs: 1e9 })
    let reason = ''
    starting.catch((error: Error) => (reason = error.message))
    // The clock of the test goes on each time that is looked.
    await expect.poll(() => {
      env.advance(1_000)
      return reason
    }, { timeout: 60_000 })
      .toContain('used more than 300 MiB of memory while it imported the file of graph "odd"')
  })

  it('fails if there is no project, or one that is not valid', async () => {
    const folder = await writeProject({ 'langgraph.json': { graphs: {} } })
    for (const name of ['langgraph.json', 'other.json']) {
      const options = { ...processOf(folder), configFile: join(folder, name) }
      await expect(startGraphProcess(options)).rejects.toMatchObject({ code: 'graph_failed' })
    }
  })

  it('fails if a file outside of the folder would be compiled', async () => {
    const outside = await mkdtemp(join(tmpdir(), 'heddle-outside-'))
    onTestFinished(() => rm(outside, { recursive: true }))
    await writeFile(join(outside, 'secret.json'), '{"secret":1}')
    const { starting } = await startWith(`
      import secret from '${outside}/secret.json'
      export const graph = secret`)
    await expect(starting).rejects.toMatchObject({ code: 'graph_failed',
      message: expect.stringContaining('outside of the folder') as string })
  })

  it('leaves compiled code to the next one', async () => {
    const compileCache = await mkdtemp(join(tmpdir(), 'heddle-cache-'))
    onTestFinished(() => rm(compileCache, { recursive: true }))
    const test = await startProcess({ compileCache })
    await test.run('where', {}).end
    const files = (await readdir(compileCache, { recursive: true })).length
    expect(files).toBeGreaterThan(100)
  })

  it('takes lines that are printed outside of runs, and gives those of runs apart', async () => {
    const printed: string[] = []
    const wrote: string[] = []
    const test = await startProcess({
      extra: `console.log('while loading')
        export const says = one(() => { console.log('in a run') })`,
      printed: (line, level) => void printed.push(`${level} ${line}`),
      wrote: ({ runId }, { lines }) =>
        void wrote.push(...lines.map(({ text }) => `${runId} ${text}`)),
    })
    await test.run('says', {}, { runId: 'r' }).end
    expect(wrote).toEqual(['r in a run'])
    await expect.poll(() => printed).toContain('info while loading')
    expect(printed.join()).not.toContain('in a run')
  })
})

it('The schemas of a graph have the types of its sources.', async () => {
  const host = await (await startWith(`
    import { Annotation, END, START, StateGraph } from '@langchain/langgraph'
    const State = Annotation.Root({ count: Annotation<number> })
    export const graph = new StateGraph(State).addNode('node', () => ({ count: 1 }))
      .addEdge(START, 'node').addEdge('node', END).compile()`)).starting
  expect(await host.schemas('odd'))
    .toMatchObject({ state_schema: { properties: { count: { type: 'number' } } } })
})
