/** A front door on a free port, with fake threads and graphs and in-memory assistants. */

import { request } from 'node:http'
import { onTestFinished } from 'vitest'

import { systemEnv } from '../../../cluster/index.ts'
import { openEgress } from '../../../src/egress/index.ts'
import { buildFrontDoor } from '../../../src/frontdoor/index.ts'
import type { FrontDoor, FrontDoorOptions } from '../../../src/frontdoor/index.ts'
import type { GraphDescription, GraphHost } from '../../../src/graph/index.ts'
import { ItemStore } from '../../../src/items/index.ts'
import { readLongJson } from '../../../src/json/index.ts'
import { ReadQuota } from '../../../src/limits/read-quota.ts'
import { virtualEnv } from '../../support/env.ts'
import type { VirtualEnv } from '../../support/env.ts'
import { assistantHouse } from '../assistants/assistant-house.ts'
import type { AssistantHouse } from '../assistants/assistant-house.ts'
import { FakeThreads } from './fake-threads.ts'
import { noCrons } from './no-crons.ts'

export interface OpenDoor extends FrontDoor {
  readonly threads: FakeThreads
  readonly house: AssistantHouse
  readonly reads: ReadQuota
  /** Its clock is moved by the test; its ids are random. */
  readonly env: VirtualEnv
}

const self = { id: 'm', address: 'here' }

/** The door is closed after the test. */
export async function openDoor(options: Partial<FrontDoorOptions> = {}): Promise<OpenDoor> {
  const { built, ...parts } = await buildDoor(options)
  const door = await built.open()
  onTestFinished(() => door.close(AbortSignal.abort()))
  return { ...door, ...parts }
}

/** Builds a door without opening it. It is closed after the test. */
export async function buildDoor(options: Partial<FrontDoorOptions> = {}) {
  const { uuid, uuid7 } = systemEnv({ level: 'silent' })
  const env: VirtualEnv = { ...virtualEnv(), uuid, uuid7 }
  const threads = new FakeThreads()
  const reads = new ReadQuota(env)
  const house = assistantHouse(env)
  const json = readLongJson(env.log)
  const built = await buildFrontDoor({
    host: '127.0.0.1',
    port: 0,
    version: '0.0.1',
    env,
    threads,
    assistants: house.assistants,
    assistantIndex: house.index,
    ...noCrons,
    items: new ItemStore({
      env,
      reads,
      router: { ask: nowhere },
      search: { search: nowhere, namespaces: nowhere },
      settings: () => ({ ttlMs: 0, refreshOnRead: true }),
    }),
    graphs: graphHost('agent', 'other'),
    egress: openEgress({ env, version: '0.0.1' }),
    json,
    reads,
    dependencies: [],
    placeOf: async () => ({ member: self.id, address: self.address, shard: 0, epoch: 1,
      active: false }),
    cluster: { embedded: true, shards: 2, ask: nowhere,
      status: () => ({ member: self, view: [self], leaving: [], shards: [] }) },
    ...options,
  })
  onTestFinished(async () => {
    await built.close()
    await json.close()
  })
  return { built, threads, house, env, reads }
}

const nowhere = () => Promise.reject(new Error('no graph is run here'))

/** A host of graphs that are not executed. */
export function graphHost(...graphIds: string[]): GraphHost {
  const descriptions = graphIds.map((graphId): GraphDescription => ({ graphId, description: null,
    stateChannels: ['messages'], plain: true, nodes: ['a'] })
  )
  const schema = { input_schema: { type: 'object' }, output_schema: null, state_schema: null,
    config_schema: null, context_schema: null }
  return {
    graphs: () => descriptions,
    describe: (graphId) => descriptions.find((each) => each.graphId === graphId),
    execute: () => {
      throw new Error('no graph is run here')
    },
    pause: () => {},
    abort: () => {},
    stop: () => {},
    logs: () => ({ lines: [], dropped: 0, truncated: false }),
    ask: nowhere,
    schemas: async () => schema,
    subgraphSchemas: async (_graphId, namespace) => ({ [namespace ?? 'inner']: schema }),
    drawable: async (_graphId, xray) => ({ nodes: [{ id: String(xray) }], edges: [] }),
  }
}

export interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  /** Empty if the answer is no JSON. */
  readonly json: Record<string, unknown>
}

/** Sends one request; a body that is no string is sent as JSON. */
export async function call(door: { readonly url: string }, method: string, path: string,
  body?: unknown, headers: Record<string, string> = {}): Promise<Answer> {
  const text = body === undefined || typeof body === 'string' ? body : JSON.stringify(body)
  const json = text === undefined ? {} : { 'content-type': 'application/json' }
  const response = await fetch(door.url + path, { method, headers: { ...json, ...headers },
    ...(text !== undefined && { body: text }) })
  const answered = await response.text()
  const isJson = answered !== '' &&
    /json$|json;/.test(response.headers.get('content-type') ?? '') &&
    !response.headers.get('content-type')!.includes('ndjson')
  return {
    status: response.status,
    headers: response.headers,
    text: answered,
    json: isJson ? JSON.parse(answered) as Record<string, unknown> : {},
  }
}

/** The status of a request whose path and headers are sent as they are: fetch changes some. */
export function plainStatus(url: string, path: string, headers: Record<string, string> = {},
  method = 'GET'): Promise<number> {
  const { hostname, port } = new URL(url)
  return new Promise((resolve, reject) => {
    request({ hostname, port, path, headers, method }, (response) => {
      response.destroy()
      resolve(response.statusCode!)
    }).on('error', reject).end()
  })
}
