/** Runs that kill the server, and a check that only they lose by it. */

import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, onTestFinished } from 'vitest'
import type { Gate } from '../../support/gate.ts'
import { startServer } from '../../support/server-process.ts'
import { clientOf } from '../../support/server.ts'
import { writeProject } from '../../unit/graph/project/project-files.ts'

const graphs = `
import { appendFileSync } from 'node:fs'
import { Annotation, END, START, StateGraph } from '@langchain/langgraph'

const State = Annotation.Root({ url: Annotation(), file: Annotation(), done: Annotation() })
const one = (work) => new StateGraph(State)
  .addNode('node', async (state) => ({ done: await work(state) }))
  .addEdge(START, 'node').addEdge('node', END).compile()

export const long = one(async ({ url }) => { await fetch(url); return 'long' })
export const quick = one(() => 'quick')
export const poison = one(async ({ file, url }) => {
  await fetch(url)
  appendFileSync(file, process.pid + '\\n')
  process.kill(process.pid, 'SIGKILL')
  return new Promise(() => {})
})
/** One object that is far beyond the limit ends the process, not only the worker. */
export const grow = one(async ({ file, url }) => {
  await fetch(url)
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

export interface Killer {
  readonly graph: 'poison' | 'grow'
  /** How often it kills what it runs in, the server once. */
  readonly kills: number
  /** The error with which it ends. */
  readonly error: string
}

/** Fails unless the killer ends with its error, and a long run beside it with success. */
export async function onlyTheKillerLoses({ graph, kills, error }: Killer,
  gate: () => Gate): Promise<void> {
  const { server, file, pids, client } = await serverWith()
  const [held, trigger] = [gate(), gate()]
  const { thread_id: innocent } = await client.threads.create()
  const long = await client.runs.create(innocent, 'long', { input: { url: held.url } })
  await held.arrived()
  const { thread_id: thread } = await client.threads.create()
  const first = server.pid
  const killer = await client.runs.create(thread, graph, { input: { file, url: trigger.url } })
  await trigger.arrived()
  trigger.open()
  await server.exited()
  await server.restart()
  // From here on the server answers, and is not ended again.
  const { pid } = server
  const result = await client.runs.join(thread, killer.run_id) as { __error__: { error: string } }
  expect(result.__error__.error).toBe(error)
  expect(await client.runs.get(thread, killer.run_id)).toMatchObject({ status: 'error' })
  const seen = await pids()
  expect(seen).toHaveLength(kills)
  expect(seen[0]).toBe(String(first))
  expect(seen).not.toContain(String(pid))
  expect(await client.runs.wait(null, 'quick', { input: {} })).toMatchObject({ done: 'quick' })
  await held.arrived(2)
  held.open()
  await client.runs.join(innocent, long.run_id)
  expect(await client.runs.get(innocent, long.run_id)).toMatchObject({ status: 'success' })
}
