/**
 * The control API of deployments over memory, before a real server that has none: everything else
 * is passed on to that, the paths of a deployment without their prefix.
 */

import { createServer, request as ask } from 'node:http'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

import type { ControlDeployment, ControlLine, ControlReport, ControlRevision, ControlSecret,
  DeploymentBody } from '../../src/api/index.ts'
import { lineCondition } from '../../src/deployment/index.ts'
import { answerFault } from './contract-answer.ts'
import type { FakeReplays } from './fake-replays.ts'

type Record = { [field: string]: unknown }

/** What it has of one deployment. */
export interface FakeDeployment {
  readonly record: ControlDeployment
  readonly revisions: readonly ControlRevision[]
  readonly secrets: readonly ControlSecret[]
  /** What a check of a revision finds. */
  readonly report?: ControlReport
  /** Without them nothing of it is replayed. */
  readonly replays?: FakeReplays
}

/** A call that it got. */
export interface FakeCall {
  readonly method: string
  readonly path: string
  readonly search: URLSearchParams
  readonly headers: IncomingMessage['headers']
  readonly body: unknown
}

/** A refusal that it answers to everything below `/control/`. */
export interface FakeRefusal {
  readonly status: number
  readonly code: string
  readonly message: string
  readonly [field: string]: unknown
}

/** The API. An answer that is not as the contract has it ends the test. */
export class FakeControl {
  readonly deployments = new Map<string, FakeDeployment>()
  readonly calls: FakeCall[] = []
  refusal: FakeRefusal | undefined
  readonly #events: { readonly seq: number; readonly text: string }[] = []
  readonly #lines: ControlLine[] = []
  /** What each stream has of what comes. */
  readonly #followers = new Map<ServerResponse, Followed>()
  readonly #server = createServer((request, response) => void this.#receive(request, response))
  readonly #behind: string

  constructor(behind: string) {
    this.#behind = behind
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  async open(): Promise<this> {
    await new Promise<void>((done) => this.#server.listen(0, '127.0.0.1', done))
    return this
  }

  close(): void {
    this.#server.closeAllConnections()
    this.#server.close()
  }

  /** Changes a deployment, and tells its followers with an event of that kind. */
  change(name: string, change: Partial<ControlDeployment>, kind: string, data: Record = {}): void {
    const before = this.deployments.get(name)!
    this.deployments.set(name, { ...before, record: { ...before.record, ...change } })
    this.note(kind, data)
  }

  /** Adds an event. */
  note(kind: string, data: Record, by = 'mira', at = new Date().toISOString()): void {
    const seq = this.#events.length + 1
    const text = `event: ${kind}\nid: ${seq}\ndata: ${
      JSON.stringify({ seq, at, by, kind, ...data })
    }\n\n`
    this.#events.push({ seq, text })
    for (const [stream, { what }] of this.#followers) if (what === 'events') stream.write(text)
  }

  /** Adds lines of a log. */
  write(...lines: readonly ControlLine[]): void {
    this.#lines.push(...lines)
    for (const [stream, { what, fits }] of this.#followers) {
      if (what === 'logs') stream.write(linesText(lines.filter(fits)))
    }
  }

  /** Forgets all lines, as members that were started anew. */
  forgetLines(): void {
    this.#lines.length = 0
  }

  /** The number of the newest event. */
  get newest(): number {
    return this.#events.length
  }

  /** Breaks all streams, as a server that dies. */
  cut(): void {
    for (const stream of this.#followers.keys()) stream.destroy()
  }

  /** Ends all streams in peace, as a server that drains. */
  drain(): void {
    for (const stream of this.#followers.keys()) stream.end()
  }

  /** The calls of a method whose path ends so. */
  got(method: string, end: string): readonly FakeCall[] {
    return this.calls.filter((call) => call.method === method && call.path.endsWith(end))
  }

  async #receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, searchParams } = new URL(request.url!, this.url)
    if (!pathname.startsWith('/control/')) return this.#pass(request, response)
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const text = Buffer.concat(chunks).toString()
    const body = text === '' ? {} : JSON.parse(text) as Record
    this.calls.push({ method: request.method!, path: pathname, search: searchParams,
      headers: request.headers, body })
    const refused = this.refusal
    if (refused !== undefined) {
      const { status, code, message, ...more } = refused
      return reply(response, status, { detail: message, message, code, ...more })
    }
    const [, , , , name, part, id, act] = pathname.split('/')
    if (name !== undefined && !this.deployments.has(name)) {
      return reply(response, 404, { detail: `There is no deployment ${name}.`, code: 'not_found' })
    }
    if (part === 'events' || part === 'logs') return this.#follow(part, request, response)
    const { status, answer } = name === undefined
      ? this.#list(searchParams)
      : this.#answer({ name, part, id, act, body, method: request.method!, searchParams })
    reply(response, status, answer)
    if (status >= 400) return
    const fault = await answerFault(request.method!, pathname, status, async () => answer)
    if (fault !== undefined) throw new Error(fault)
  }

  #list(search: URLSearchParams): FakeAnswer {
    const records = [...this.deployments.values()].map(({ record }) => record)
    return { status: 200, answer: { deployments: pageOf(records, search) } }
  }

  #answer({ name, part, id, act, body, method, searchParams }: {
    readonly name: string
    readonly part: string | undefined
    readonly id: string | undefined
    readonly act: string | undefined
    readonly body: Record
    readonly method: string
    readonly searchParams: URLSearchParams
  }): FakeAnswer {
    const found = this.deployments.get(name)!
    const { record, revisions, secrets, report, replays } = found
    if (part === undefined && method === 'DELETE') {
      this.deployments.delete(name)
      return { status: 202, answer: { removing: true } }
    }
    if (part === undefined && method === 'PATCH') {
      const { limits, ...change }: DeploymentBody = body
      this.change(name, { ...change, limits: { ...record.limits, ...limits } }, 'deployment', body)
    }
    if (part === undefined) return { status: 200, answer: this.deployments.get(name)!.record }
    if (part === 'replays') return replays?.answer(method, id, act, body) ?? notReady
    if (act === 'check') return { status: 200, answer: { revision: revisions[0], report } }
    if (act === 'activate' || part === 'rollback') {
      return { status: 202, answer: { rollout: record.rollout } }
    }
    if (part === 'revisions' && id !== undefined) {
      return { status: 200, answer: revisions.find((revision) => revision.name === id) }
    }
    if (part === 'revisions') {
      return { status: 200, answer: { revisions: pageOf(revisions, searchParams) } }
    }
    if (id === undefined) return { status: 200, answer: { secrets, env_version: 1 } }
    const others = secrets.filter((secret) => secret.name !== id)
    const made = { name: id, version: secrets.length - others.length + 1,
      updated_at: new Date().toISOString(), state: 'in_use' } as const
    const isRemoval = method === 'DELETE'
    this.deployments.set(name, { ...found, secrets: isRemoval ? others : [...others, made] })
    this.note('secret', { name: id, change: isRemoval ? 'removed' : 'set' })
    return { status: 200, answer: { ...!isRemoval && made, rollout: null } }
  }

  #follow(what: 'events' | 'logs', request: IncomingMessage, response: ServerResponse): void {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    const last = Number(request.headers['last-event-id'] ?? 0)
    const fits = conditionOf(new URL(request.url!, this.url).searchParams)
    const known = what === 'logs'
      ? [linesText(this.#lines.filter(fits))]
      : this.#events.filter(({ seq }) => seq > last).map(({ text }) => text)
    response.write(`: here\n\n${known.join('')}`)
    const beat = setInterval(() => response.write(': still\n\n'), 4_000)
    this.#followers.set(response, { what, fits })
    response.once('close', () => {
      clearInterval(beat)
      this.#followers.delete(response)
    })
  }

  #pass(request: IncomingMessage, response: ServerResponse): void {
    const path = request.url!.replace(/^\/d\/[a-z0-9-]+(?=\/)/, '')
    const isInfo = path === '/info'
    const behind = ask(new URL(path, this.#behind), { method: request.method,
      headers: { ...request.headers, host: new URL(this.#behind).host,
        ...isInfo && { 'accept-encoding': 'identity' } } }, (answer) => {
      if (!isInfo) return void answer.pipe(response.writeHead(answer.statusCode!, answer.headers))
      void answer.toArray().then((parts) => {
        const info = JSON.parse(Buffer.concat(parts).toString()) as { readonly features: Record }
        reply(response, 200, { ...info, features: { ...info.features, deployments: true } })
      })
    })
    behind.on('error', () => response.destroy())
    response.once('close', () => behind.destroy())
    request.pipe(behind)
  }
}

const notReady: FakeAnswer = { status: 409,
  answer: { detail: 'Nothing is replayed here.', message: 'Nothing is replayed here.',
    code: 'not_ready' } }

/** A stream that is followed. */
interface Followed {
  readonly what: 'events' | 'logs'
  readonly fits: (line: ControlLine) => boolean
}

const linesText = (lines: readonly ControlLine[]): string =>
  lines.map((line) => `event: line\ndata: ${JSON.stringify(line)}\n\n`).join('')

/** The condition that the server has for lines. */
function conditionOf(search: URLSearchParams): Followed['fits'] {
  const { since, until, ...rest } = Object.fromEntries(search)
  const fits = lineCondition({ ...rest, ...since !== undefined && { sinceMs: Date.parse(since) },
    ...until !== undefined && { untilMs: Date.parse(until) } })
  return (line) => fits({ ...line, seq: 0, atMs: Date.parse(line.at) })
}

interface FakeAnswer {
  readonly status: number
  readonly answer: unknown
}

function pageOf<Each>(all: readonly Each[], search: URLSearchParams): readonly Each[] {
  const from = Number(search.get('offset') ?? 0)
  return all.slice(from, from + Number(search.get('limit') ?? 100))
}

function reply(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}
