/** A project under development: a file changes, and the next run uses the new graph. */

import { mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { isNight } from '../support/repeats.ts'
import { oneWorker, startServer } from '../support/server-process.ts'
import type { ServerProcess } from '../support/server-process.ts'
import { clientOf } from '../support/server.ts'

let folder: string
let server: ServerProcess

const write = (source: string) => writeFile(join(folder, 'graph.ts'), source)

/** A graph that says the word. */
const saying = (word: string) => `
  import { Annotation, END, START, StateGraph } from '@langchain/langgraph'
  export const graph = new StateGraph(Annotation.Root({ said: Annotation<string>() }))
    .addNode('say', () => ({ said: '${word}' }))
    .addEdge(START, 'say').addEdge('say', END).compile()`

async function said(): Promise<unknown> {
  const values = await clientOf(server.url).runs.wait(null, 'graph', { input: { said: '' } })
  return (values as { said: unknown }).said
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'heddle-reload-'))
  await symlink(resolve(import.meta.dirname, '../../node_modules'), join(folder, 'node_modules'))
  await writeFile(join(folder, 'langgraph.json'),
    JSON.stringify({ graphs: { graph: './graph.ts:graph' } }))
  await write(saying('one'))
  server = await startServer({ project: folder, args: oneWorker })
})
afterAll(async () => {
  await server?.close()
  await rm(folder, { recursive: true, force: true })
})

it('A changed graph is the one that runs, without a restart, and threads survive it', async () => {
  const { runs, threads } = clientOf(server.url)
  const { thread_id: id } = await threads.create()
  const run = () => runs.wait(id, 'graph', { input: { said: '' } })
  expect(await run()).toEqual({ said: 'one' })
  await write(saying('two'))
  await expect.poll(said).toBe('two')
  expect((await threads.get(id)).values).toEqual({ said: 'one' })
  expect(await run()).toEqual({ said: 'two' })
  expect(await threads.getHistory(id)).toHaveLength(6)
})

it('A change that does not load fails every run with its error, until it is fixed', async () => {
  await write('export const graph = new Nonsense()')
  const seen = () => said().catch((caught: unknown) => String(caught))
  await expect.poll(seen).toContain('Nonsense')
  await write(saying('three'))
  await expect.poll(said).toBe('three')
})

/** A graph that waits at a node with this name, or at that of a subgraph if it gets `deep`. */
const asking = (name: string) => `
  import { Annotation, START, StateGraph, interrupt } from '@langchain/langgraph'
  const State = Annotation.Root({ said: Annotation<string>() })
  const ask = () => ({ said: interrupt('sure?') as string })
  const research = new StateGraph(State).addNode('${name}', ask).addEdge(START, '${name}').compile()
  export const graph = new StateGraph(State).addNode('${name}', ask).addNode('research', research)
    .addConditionalEdges(START, ({ said }) => said === 'deep' ? 'research' : '${name}',
      ['${name}', 'research']).compile()`

it.runIf(isNight)('An answer to a node that was renamed is refused, and the question stays',
  async () => {
    const { assistants, runs, threads } = clientOf(server.url)
    const serves = async (name: string) => {
      await write(asking(name))
      await expect.poll(async () => JSON.stringify(await assistants.getGraph('graph')))
        .toContain(`"${name}"`)
    }
    await serves('ask')
    const waiting = async (said: string, node: string) => {
      const { thread_id: id } = await threads.create()
      await runs.wait(id, 'graph', { input: { said } })
      return { id, node, interrupts: (await threads.get(id)).interrupts }
    }
    const places = [await waiting('', 'ask'), await waiting('deep', 'research:ask')]
    await serves('question')
    const continuing = [{ command: { resume: 'yes' } }, { input: null }, {
      command: { resume: { ['0'.repeat(32)]: 'yes' }, update: { said: 'x' } },
    }]
    const copies: string[] = []
    for (const { id, node, interrupts } of places) {
      for (const payload of continuing) {
        const refused = await runs.wait(id, 'graph', payload).catch((caught: unknown) => caught)
        expect(refused).toMatchObject({ status: 409,
          message: expect.stringMatching(`waits at \\W*${node}\\W`) })
      }
      const { thread_id: copy } = await threads.copy(id) as unknown as { thread_id: string }
      copies.push(copy)
      await expect(runs.wait(copy, 'graph', { command: { resume: 'yes' } }))
        .rejects.toMatchObject({ status: 409 })
      expect(await threads.get(id)).toMatchObject({ status: 'interrupted', interrupts })
      expect(await runs.list(id)).toHaveLength(1)
    }
    await serves('ask')
    for (const { id } of places) {
      expect(await runs.wait(id, 'graph', { command: { resume: 'yes' } })).toEqual({ said: 'yes' })
    }
    // With other input, or a jump, nothing is lost that anybody still wants.
    await serves('question')
    for (const [i, node] of ['question', 'research'].entries()) {
      await runs.wait(copies[i]!, 'graph', { command: { goto: node } })
      expect(await runs.wait(copies[i]!, 'graph', { command: { resume: 'no' } }))
        .toEqual({ said: 'no' })
    }
    await write(saying('four'))
    await expect.poll(said).toBe('four')
  })

it.runIf(isNight)('A changed graph is the one that runs also where the compiler was killed',
  async () => {
    const children = await readFile(`/proc/${server.pid}/task/${server.pid}/children`, 'utf8')
    for (const pid of children.trim().split(' ')) process.kill(Number(pid), 'SIGKILL')
    await write(saying('five'))
    await expect.poll(said).toBe('five')
  })

it('A graph that is added to the project gets an assistant, as the others did', async () => {
  const { assistants } = clientOf(server.url)
  const shown = async () => (await assistants.search()).map(({ graph_id }) => graph_id).sort()
  expect(await shown()).toEqual(['graph'])
  await writeFile(join(folder, 'langgraph.json'),
    JSON.stringify({ graphs: { graph: './graph.ts:graph', second: './graph.ts:graph' } }))
  await expect.poll(shown).toEqual(['graph', 'second'])
})

it.runIf(isNight)('Changed rules for webhooks apply without a restart', async () => {
  const refusal = () =>
    clientOf(server.url).runs.wait(null, 'graph', { input: { said: '' },
      webhook: 'https://nowhere.invalid/told' })
      .then(() => '', (caught: unknown) => String(caught))
  expect(await refusal()).toBe('')
  const graphs = { graph: './graph.ts:graph' }
  await writeFile(join(folder, 'langgraph.json'),
    JSON.stringify({ graphs, http: { disable_webhooks: true } }))
  await expect.poll(refusal).toContain('it is not offered')
  await writeFile(join(folder, 'langgraph.json'), JSON.stringify({ graphs }))
  await expect.poll(refusal).toBe('')
})
