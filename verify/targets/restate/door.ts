/**
 * A front door to Restate: translates requests about threads and runs into calls of a virtual
 * object. It keeps the ids of threads and invocations, and nothing that a rule is about.
 */

import { randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import type { IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'

interface Thread {
  readonly id: string
  readonly metadata: unknown
  /** Ids of invocations. */
  readonly runs: Set<string>
}

interface Reply {
  readonly status: number
  readonly body: unknown
  readonly location?: string
}

export interface Door {
  readonly url: string
  close(): Promise<void>
}

/** Starts the door on a loopback port. Responds with 503 while Restate cannot be reached. */
export async function startDoor(ingressUrl: string): Promise<Door> {
  const door = new RestateDoor(ingressUrl)
  const server = createServer(async (request, response) => {
    const { status, body, location } = await door.reply(request).catch(() => unavailable)
    response.writeHead(status, {
      'content-type': 'application/json',
      ...location ? { 'content-location': location } : {},
    })
    response.end(JSON.stringify(body))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections()
        server.close(() => resolve())
      }),
  }
}

const unavailable: Reply = { status: 503, body: { message: 'Restate cannot be reached.' } }
const unknown: Reply = { status: 404, body: { message: 'Unknown.' } }
/** Restate's status of an invocation that has not completed. */
const notReady = 470

class RestateDoor {
  readonly #ingressUrl: string
  readonly #threads = new Map<string, Thread>()

  constructor(ingressUrl: string) {
    this.#ingressUrl = ingressUrl
  }

  async reply(request: IncomingMessage): Promise<Reply> {
    const [path = ''] = request.url!.split('?')
    const body = request.method === 'POST' ? await json(request) as Record<string, unknown> : {}
    if (path === '/ok') return { status: 200, body: {} }
    if (path === '/threads') return this.#create(body['metadata'])
    if (path === '/threads/search') return await this.#search(body)
    const [, threads, id = '', resource = '', run = '', operation = ''] = path.split('/')
    const thread = this.#threads.get(id)
    if (threads !== 'threads' || !thread) return unknown
    if (resource === 'state') return await this.#replyState(thread, request.method!, body)
    if (resource === '') {
      const { body: state } = await this.#replyState(thread, 'GET', {})
      return { status: 200, body: { ...toBody(thread), ...state as object, interrupts: {} } }
    }
    if (request.method === 'POST') {
      const key = String(request.headers['idempotency-key'] ?? randomUUID())
      return await this.#start(thread, { key, body, waits: run === 'wait' })
    }
    if (run === '') return await this.#list(thread)
    if (operation === 'join') return await this.#join(run)
    return { status: 200, body: { run_id: run, status: await this.#readStatus(run) } }
  }

  #create(metadata: unknown): Reply {
    const thread = { id: randomUUID(), metadata, runs: new Set<string>() }
    this.#threads.set(thread.id, thread)
    return { status: 200, body: toBody(thread) }
  }

  /** Threads with the metadata; with `status` only busy ones. */
  async #search({ metadata, status, offset }: Record<string, unknown>): Promise<Reply> {
    const found: Thread[] = []
    for (const thread of this.#threads.values()) {
      if (JSON.stringify(thread.metadata) !== JSON.stringify(metadata)) continue
      const isWanted = status === undefined || await this.#isBusy(thread)
      if (isWanted) found.push(thread)
    }
    return { status: 200, body: found.slice(Number(offset ?? 0)).map(toBody) }
  }

  async #isBusy({ runs }: Thread): Promise<boolean> {
    const statuses = await Promise.all([...runs].map((run) => this.#readStatus(run)))
    return statuses.includes('running')
  }

  async #replyState({ id }: Thread, method: string, body: Record<string, unknown>): Promise<Reply> {
    if (method === 'GET') {
      const { log } = await this.#call(`/thread/${id}/read`, {}) as { log: readonly string[] }
      return { status: 200, body: { values: { log } } }
    }
    const { log: [entry] } = body['values'] as { log: readonly string[] }
    await this.#call(`/thread/${id}/update`, { body: entry, key: randomUUID() })
    return { status: 200, body: {} }
  }

  async #start(thread: Thread, { key, body, waits }: {
    readonly key: string
    readonly body: Record<string, unknown>
    readonly waits: boolean
  }): Promise<Reply> {
    const { task } = body['input'] as { task: unknown }
    const { invocationId: run } = await this.#call(`/thread/${thread.id}/run/send`, { body: task,
      key }) as { invocationId: string }
    thread.runs.add(run)
    const reply = waits
      ? await this.#join(run)
      : { status: 200, body: { run_id: run, status: 'pending' } }
    return { ...reply, location: `/threads/${thread.id}/runs/${run}` }
  }

  async #list({ runs }: Thread): Promise<Reply> {
    const listed = await Promise.all(
      [...runs].map(async (run) => ({ run_id: run, status: await this.#readStatus(run) })),
    )
    return { status: 200, body: listed }
  }

  /** Waits for the result of an invocation. That of a task that failed is its error. */
  async #join(run: string): Promise<Reply> {
    const response = await fetch(`${this.#ingressUrl}/restate/invocation/${run}/attach`)
    const result = await response.json() as { source?: string }
    if (response.ok) return { status: 200, body: result }
    return result.source === 'invocation'
      ? { status: 200, body: { __error__: result } }
      : { status: 503, body: result }
  }

  async #readStatus(run: string): Promise<'success' | 'error' | 'running'> {
    const response = await fetch(`${this.#ingressUrl}/restate/invocation/${run}/output`)
    const { source } = await response.json() as { source?: string }
    if (response.ok) return 'success'
    if (response.status === notReady) return 'running'
    if (source === 'invocation') return 'error'
    throw new Error(`Restate returned ${response.status}.`)
  }

  /** Calls a handler. Throws unless Restate returns 2xx. */
  async #call(path: string, { body, key }: { readonly body?: unknown; readonly key?: string }) {
    const response = await fetch(this.#ingressUrl + path, {
      method: 'POST',
      headers: {
        ...body === undefined ? {} : { 'content-type': 'application/json' },
        ...key === undefined ? {} : { 'idempotency-key': key },
      },
      body: body === undefined ? undefined : JSON.stringify(body),
    })
    if (!response.ok) throw new Error(`Restate returned ${response.status}.`)
    const text = await response.text()
    return text === '' ? undefined : JSON.parse(text) as unknown
  }
}

function toBody({ id, metadata }: Thread) {
  return { thread_id: id, status: 'idle', metadata }
}
