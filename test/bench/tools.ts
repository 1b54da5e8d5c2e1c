/** Calls of a tool beside runs that are waited for, on one server: in turns. */

import { startServer } from '../support/server-process.ts'
import { BareClient } from './bare-client.ts'
import { progress } from './progress.ts'
import type { Bench, Line } from './report.ts'
import { graphId, turn } from './target.ts'
import { quantile, ratios, spreadOf } from './statistics.ts'

const own = 'io.modelcontextprotocol/'
const modern = '2026-07-28'
const forms = { elicitation: { form: {} } }

/** A way to have the same graph run once. */
interface Way {
  readonly name: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  body(call: number): object
}

const runs: Way = { name: 'runs/wait', path: '/runs/wait', headers: {},
  body: () => ({ assistant_id: graphId, input: turn('hi') }) }

type Timed = readonly (readonly [name: string, ms: number])[]
type Took = ReadonlyMap<string, number[]>

/** Measures one client, and 32 at once. */
export async function benchTools({ quick }: { readonly quick: boolean }): Promise<Bench> {
  const [rounds, calls] = quick ? [3, 32] : [15, 96]
  const server = await startServer({ project: 'conformance' })
  try {
    const ways = [runs, plainCall(), await sessionCall(server.url), modernCall()]
    const lines: Line[] = []
    for (const clients of [1, 32]) {
      const took: Took = new Map(ways.map(({ name }) => [name, []]))
      for (let round = -2; round < rounds; round += 1) {
        progress(`${clients} clients, round ${round}`)
        const timed = await (clients === 1
          ? oneByOne(server.url, ways, calls / 4)
          : atOnce(server.url, ways, { round: round + 2, clients, calls }))
        // The first rounds are a warm-up.
        if (round >= 0) { for (const [name, ms] of timed) took.get(name)!.push(ms) }
      }
      lines.push(...ways.slice(1).map(({ name }) => lineOf(name, clients, took)))
    }
    return { title: 'Calls of tools', file: '', lines,
      notes: `${rounds} rounds: ${
        calls / 4
      } calls of one client, ${calls} of 32, of each way in turns.` }
  } finally {
    await server.close()
  }
}

/** A client that shows no forms, without a session. */
function plainCall(): Way {
  return { name: 'call', path: '/mcp', headers: {}, body: (id) => callOf(id) }
}

/** A client of 2025-11-25 that shows forms: it gets a stream. */
async function sessionCall(url: string): Promise<Way> {
  const { headers } = await fetch(`${url}/mcp`, { method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 0, method: 'initialize',
      params: { protocolVersion: '2025-11-25', capabilities: forms } }) })
  return { name: 'call in a session with forms', path: '/mcp', body: (id) => callOf(id),
    headers: { 'mcp-session-id': headers.get('mcp-session-id')!,
      'mcp-protocol-version': '2025-11-25', accept: 'application/json, text/event-stream' } }
}

/** A client of 2026-07-28 that shows forms. */
function modernCall(): Way {
  const _meta = { [`${own}protocolVersion`]: modern, [`${own}clientCapabilities`]: forms }
  return { name: 'call with forms', path: '/mcp', body: (id) => callOf(id, { _meta }),
    headers: { 'mcp-protocol-version': modern, 'mcp-method': 'tools/call', 'mcp-name': graphId } }
}

function callOf(id: number, more: object = {}): object {
  return { jsonrpc: '2.0', id, method: 'tools/call',
    params: { name: graphId, arguments: turn('hi'), ...more } }
}

let asked = 0

/** Milliseconds of one call. */
async function timeOf(client: BareClient, { path, body }: Way): Promise<number> {
  const began = performance.now()
  const { status, body: answer } = await client.ask('POST', path, body(++asked))
  const isRight = status === 200 && answer.includes('echo: hi')
  if (!isRight) throw new Error(`${path} answered ${status}: ${String(answer)}`)
  return performance.now() - began
}

/** Medians of one client, which calls each way in turn: what else the machine does is the same. */
async function oneByOne(url: string, ways: readonly Way[], calls: number): Promise<Timed> {
  const clients = ways.map((way) => ({ way, ms: [] as number[],
    client: new BareClient(new URL(url), way.headers) })
  )
  for (let call = 0; call < calls; call += 1) {
    for (const each of inTurn(clients, call)) each.ms.push(await timeOf(each.client, each.way))
  }
  for (const { client } of clients) client.close()
  return clients.map(({ way, ms }) => [way.name, quantile(ms, 0.5)])
}

/** The time of many clients by the number of their calls, one way after another. */
async function atOnce(url: string, ways: readonly Way[],
  { round, clients, calls }: { readonly round: number; readonly clients: number;
    readonly calls: number }): Promise<Timed> {
  const timed: (readonly [string, number])[] = []
  for (const way of inTurn(ways, round)) {
    const began = performance.now()
    await Promise.all(Array.from({ length: clients }, async () => {
      const client = new BareClient(new URL(url), way.headers)
      for (let call = 0; call < calls / clients; call += 1) await timeOf(client, way)
      client.close()
    }))
    timed.push([way.name, (performance.now() - began) / calls])
  }
  return timed
}

function inTurn<Each>(all: readonly Each[], first: number): Each[] {
  return all.map((_, at) => all[(at + first) % all.length]!)
}

function lineOf(name: string, clients: number, took: ReadonlyMap<string, readonly number[]>): Line {
  const [calls, waits] = [took.get(name)!, took.get(runs.name)!]
  const shown = ([whose, ms]: readonly [string, readonly number[]]) =>
    `${whose} ${quantile(ms, 0.5).toFixed(2)} ms`
  return { measure: `${name}, ${clients} clients`, unit: 'times',
    figures: [shown([runs.name, waits]), shown([name, calls])],
    ratio: spreadOf(ratios(calls, waits)), aim: { sign: '≤', value: 1.2 } }
}
