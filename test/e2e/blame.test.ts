/** A run that kills the server: it ends with an error, and the runs beside it lose nothing. */

import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { useGates } from '../support/gate.ts'
import { startServer } from '../support/server-process.ts'
import { clientOf } from '../support/server.ts'
import { writeProject } from '../unit/graph/project-files.ts'

const gate = useGates()

const graphs = `
import { appendFileSync } from 'node:fs'
import { Annotation, END, START, StateGraph } from '@langchain/langgraph'

const State = Annotation.Root({ url: Annotation(), file: Annotation(), done: Annotation() })
const one = (work) => new StateGraph(State)
  .addNode('node', async (state) => ({ done: await work(state) }))
  .addEdge(START, 'node').addEdge('node', END).compile()

export const long = one(async ({ url }) => { await fetch(url); return 'long' })
export const quick = one(() => 'quick')
export const poison = one(({ file }) => {
  appendFileSync(file, process.pid + '\\n')
  process.kill(process.pid, 'SIGKILL')
  return new Promise(() => {})
})
/** One object that is far beyond the limit ends the process, not only the worker. */
export const grow = one(({ file }) => {
  appendFileSync(file, process.pid + '\\n')
  return new Array(2 ** 25).fill(file.length / 7)
})
`

async function serverWith() {
  const project = await writeProject({
    'langgraph.json': { graphs: Object.fromEntries(['long', 'quick', 'poison', 'grow']
      .map((name) => [name, `./graphs.js:${name}`])) },
    'graphs.js': graphs,
    'package.json': { type: 'module' },
  })
  const args = ['--workers', '2', '--worker-heap-mb', '64']
  const server = await startServer({ project, args })
  onTestFinished(() => server.close())
  const file = join(server.dataDir, '..', `${server.pid}.pids`)
  await writeFile(file, '')
  onTestFinished(() => rm(file, { force: true }))
  const pids = async () => (await readFile(file, 'utf8')).trim().split('\n')
  return { server, file, pids, client: clientOf(server.url) }
}

describe('a run that kills the server', () => {
  it.each([
    ['poison', 3, 'WorkerCrashed'], ['grow', 2, 'OutOfMemory'],
  ])('(%s) ends with an error, and a run beside it with success', async (graph, times, name) => {
    const { server, file, pids, client } = await serverWith()
    const held = gate()
    const long = await client.runs.create((await client.threads.create()).thread_id, 'long',
      { input: { url: held.url } })
    await held.arrived()
    const { thread_id: thread } = await client.threads.create()
    const serverPid = server.pid
    const { run_id: guilty } = await client.runs.create(thread, graph, { input: { file } })
    await server.exited()
    await server.restart()
    // The server answers, and is not ended again.
    const { pid } = server
    const result = await client.runs.join(thread, guilty) as { __error__: { error: string } }
    expect(result.__error__.error).toBe(name)
    expect(await client.runs.get(thread, guilty)).toMatchObject({ status: 'error' })
    const seen = await pids()
    expect(seen).toHaveLength(times)
    expect(seen[0]).toBe(String(serverPid))
    expect(seen).not.toContain(String(pid))
    const quick = await client.runs.wait(null, 'quick', { input: {} }) as { done: string }
    expect(quick.done).toBe('quick')
    await held.arrived(2)
    held.open()
    await client.runs.join(long.thread_id, long.run_id)
    expect(await client.runs.get(long.thread_id, long.run_id)).toMatchObject({ status: 'success' })
  })
})
