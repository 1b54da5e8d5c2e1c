/** The login of a project: its cache, and one of its handlers, beside the same project without. */

import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'

import { oneWorker, startServer } from '../support/server-process.ts'
import { BareClient } from './bare-client.ts'
import { progress } from './progress.ts'
import type { Bench, Line } from './report.ts'
import { quantile, spreadOf } from './statistics.ts'

const root = resolve(import.meta.dirname, '../..')

const graph = `import { MessagesAnnotation, StateGraph } from '@langchain/langgraph'
export const graph = new StateGraph(MessagesAnnotation).addNode('a', () => ({}))
  .addEdge('__start__', 'a').compile()
`
const auth = `import { Auth } from '@langchain/langgraph-sdk/auth'
const known = () => new Auth().authenticate((request) => request.headers.get('authorization'))
export const cached = known()
export const handled = known().on('threads', ({ user, value }) => {
  if ('metadata' in value) value.metadata = { ...value.metadata, owner: user.identity }
  return { owner: user.identity }
})
`
const cache = { cache_keys: ['authorization'], ttl_seconds: 3_600, max_size: 100 }

/** Ways to serve the project: without a login, with one, and with one that has a handler. */
const ways = { open: {}, cached: { auth: { path: './auth.js:cached', cache } },
  handled: { auth: { path: './auth.js:handled', cache } } } as const

type Way = keyof typeof ways
const names = Object.keys(ways) as Way[]

/** Measures reads of one thread by one client. */
export async function benchLogin({ quick }: { readonly quick: boolean }): Promise<Bench> {
  const [rounds, calls] = quick ? [5, 50] : [60, 200]
  const folder = mkdtempSync(join(tmpdir(), 'heddle-bench-login-'))
  const servers: Awaited<ReturnType<typeof serve>>[] = []
  try {
    for (const name of names) servers.push(await serve(folder, name))
    const medians = names.map(() => [] as number[])
    for (let round = -2; round < rounds; round++) {
      progress(`round ${round}`)
      for (const place of names.map((_, place) => (place + round + 3) % names.length)) {
        const ms = await medianOf(servers[place]!, calls)
        // The first rounds are a warm-up.
        if (round >= 0) medians[place]!.push(ms)
      }
    }
    const lineOf = (measure: string, more: number, than: number, aim: number): Line => ({ measure,
      unit: 'ms', aim: { sign: '≤', value: aim }, figures: [than, more].map((place) =>
        `${names[place]} ${quantile(medians[place]!, 0.5).toFixed(3)} ms`
      ), ratio: spreadOf(medians[more]!.map((ms, round) =>
        ms - medians[than]![round]!
      )) })
    return { title: 'The login of a project', file: '',
      notes: `${rounds} rounds of ${calls} times GET /threads/{id} of one client, in turns.`,
      lines: [lineOf('what `authenticate` from the cache adds', 1, 0, 0.1),
        lineOf('what a handler adds', 2, 1, 0.3)] }
  } finally {
    for (const { server } of servers) await server.close()
    rmSync(folder, { recursive: true })
  }
}

/** A server of the project, and a thread there. */
async function serve(folder: string, name: Way) {
  const project = join(folder, name)
  mkdirSync(project)
  symlinkSync(join(root, 'node_modules'), join(project, 'node_modules'))
  writeFileSync(join(project, 'graph.js'), graph)
  writeFileSync(join(project, 'auth.js'), auth)
  writeFileSync(join(project, 'package.json'), '{"type": "module"}')
  writeFileSync(join(project, 'langgraph.json'),
    JSON.stringify({ graphs: { agent: './graph.js:graph' }, ...ways[name] }))
  const server = await startServer({ project, args: oneWorker })
  const client = new BareClient(new URL(server.url), { authorization: 'ann' })
  const { body } = await client.ask('POST', '/threads', {})
  const { thread_id: id } = JSON.parse(body.toString()) as { readonly thread_id: string }
  return { server, client, path: `/threads/${id}` }
}

async function medianOf({ client, path }: Awaited<ReturnType<typeof serve>>,
  calls: number): Promise<number> {
  const took: number[] = []
  for (let call = 0; call < calls; call++) {
    const began = performance.now()
    const { status } = await client.ask('GET', path)
    if (status !== 200) throw new Error(`GET ${path} was answered ${status}`)
    took.push(performance.now() - began)
  }
  return quantile(took, 0.5)
}
