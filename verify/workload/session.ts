/** One round of the workload: the threads that exist, and calls that are recorded. */

import type { Chance } from '../../test/simulation/chance.ts'
import type { History } from '../history/history.ts'
import { PairTable } from '../pairs.ts'
import type { Target } from '../targets/target.ts'
import { DeletionGuard } from './deletion-guard.ts'
import { parseEvents } from './event-text.ts'

/** A thread as the clients know it. They may be behind the server, as real clients are. */
export interface KnownThread {
  readonly id: string
  /** Path before `/threads`: empty, or `/d/<name>` for a deployment. */
  readonly base: string
  /** Ids of the newest runs. */
  readonly runs: string[]
  /** Open interrupts that a client has seen, by id: the token of the task that asks. */
  interrupts: ReadonlyMap<string, string>
  /** The newest tasks of A2A. */
  readonly tasks: KnownTask[]
}

/** A task of A2A, as its last response has it. */
export interface KnownTask {
  readonly id: string
  readonly state: string
  /** Token of its message. */
  readonly token: string
}

/** The newest span of a client. */
export interface Span {
  readonly id: string
  readonly project: string
  readonly startMs: number
}

export interface Request {
  readonly operation: string
  readonly threadId?: string
  readonly projectId?: string
  readonly spanId?: string
  readonly assistantId?: string
  readonly documentId?: string
  /** Sends the key of another tenant. */
  readonly tenant?: 'foreign'
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: unknown
}

/** A front door, and the headers of its caller. */
export interface Door {
  readonly url: string
  readonly credentials: Readonly<Record<string, string>>
}

export interface Reply {
  /** Undefined if the connection broke. */
  readonly status?: number
  readonly runId?: string
  readonly response?: unknown
  readonly retryAfter?: string
}

/** An assistant of a client. Only this client changes it; all clients run it. */
export interface KnownAssistant {
  readonly id: string
  /** Versions that responses have named. */
  readonly versions: number[]
}

/** A document of a client, which no other client writes. */
export interface KnownDocument {
  /** Id of the example or of the span, or the name of the prompt. */
  readonly id: string
  /** Its dataset, queue or link. */
  readonly parent: string
}

/** A cron of a client. */
export interface KnownCron {
  readonly id: string
  /** Token of the request that created it. */
  readonly token: string
}

/** Number of the client that reads, and then deletes, everything at the end. */
export const lastReader = -1
/** Number of threads that clients share. Few, so that operations meet. */
const sharedThreads = 6
const recentRuns = 4

export interface SessionOptions
  extends Pick<Target, 'urls' | 'missing' | 'healthPath' | 'keys' | 'deployment' | 'guarded'> {
  readonly receiverUrl: string
  readonly name: string
  readonly history: History
  /** Sends requests. Default: the network. */
  readonly fetch?: typeof fetch
  /** Pairs of operations that met in earlier rounds. Default: none. */
  readonly pairs?: PairTable
}

export class Session {
  readonly threads: KnownThread[] = []
  /** Ids of the projects that clients share. */
  readonly projects: string[] = []
  /** The newest span of each client, by its number. */
  readonly spans = new Map<number, Span>()
  /** The assistant of each client, by its number. */
  readonly assistants = new Map<number, KnownAssistant>()
  /** Documents by their kind and the number of their client. */
  readonly documents = new Map<string, KnownDocument>()
  /** The cron of each client, by its number. */
  readonly crons = new Map<number, KnownCron>()
  /** Id of the newest thread of each client that has a time to live, by the client's number. */
  readonly mortals = new Map<number, string>()
  /** Ids of the replays of the deployment. */
  readonly replays: string[] = []
  /** Keeps requests that create a missing thread apart from its deletion. */
  readonly deletions = new DeletionGuard()
  readonly history: History
  readonly pairs: PairTable
  /** Metadata value that all threads of this session have. */
  readonly name: string
  /** URL that gets the webhooks of runs. */
  readonly webhookUrl: string
  /** URL that gets the webhooks of runs of crons. */
  readonly tickUrl: string
  readonly deployment: Target['deployment']
  /** Paths before `/threads`: of the server's own project, and of the deployment. */
  readonly bases: readonly string[]
  readonly #keys: Target['keys']
  readonly #guarded: Target['guarded']
  readonly #missing: RegExp | undefined
  readonly #healthPath: string
  readonly #urls: readonly string[]
  readonly #fetch: typeof fetch
  /** Index of the front door of each client: its number, and one more after each failure. */
  readonly #doors = new Map<number, number>()
  #tokens = 0

  constructor(options: SessionOptions) {
    this.#missing = options.missing
    this.#healthPath = options.healthPath ?? '/ok'
    this.#urls = options.urls
    this.#keys = options.keys
    this.deployment = options.deployment
    this.#guarded = options.guarded
    this.bases = ['',
      ...[options.deployment, options.guarded].flatMap((deployment) =>
        deployment ? [`/d/${deployment.name}`] : []
      )]
    this.tickUrl = `${options.receiverUrl}/tick`
    this.#fetch = options.fetch ?? fetch
    this.webhookUrl = `${options.receiverUrl}/webhook`
    this.name = options.name
    this.history = options.history
    this.pairs = options.pairs ?? new PairTable()
  }

  /** True if the target has the operation or the task. */
  offers(name: string): boolean {
    if (this.deployment === undefined && /^(wrong\.)?(deploy|replay)\.|^run\.calls$/.test(name))
      return false
    if (this.#keys === undefined && /^(foreign|usage)\./.test(name)) return false
    return this.#missing?.test(name) !== true
  }

  /** A token that no other task of this session has. */
  createToken(): string {
    return `${this.name}-${++this.#tokens}`
  }

  needsThread(): boolean {
    return this.threads.length < sharedThreads
  }

  addThread(id: string, base: string): void {
    this.threads.push({ id, base, runs: [], interrupts: new Map(), tasks: [] })
  }

  removeThread(id: string): void {
    const index = this.threads.findIndex((thread) => thread.id === id)
    if (index >= 0) this.threads.splice(index, 1)
  }

  addRun(threadId: string, runId: string): void {
    const runs = this.threads.find(({ id }) => id === threadId)?.runs
    if (runs === undefined || runs.includes(runId)) return
    runs.unshift(runId)
    runs.length = Math.min(runs.length, recentRuns)
  }

  /** True if the front door of the client responds. Not recorded. */
  async isServed(client: number): Promise<boolean> {
    const url = this.#url(client) + this.#healthPath
    return await this.#fetch(url).then(({ ok }) => ok, () => false)
  }

  /** The client continues at the next front door. */
  changeDoor(client: number): void {
    this.#doors.set(client, this.#door(client) + 1)
  }

  #door(client: number): number {
    return this.#doors.get(client) ?? Math.max(client, 0)
  }

  #url(client: number): string {
    return this.#urls[this.#door(client) % this.#urls.length]!
  }

  /** Sends a request and records it. Rejects only if the session is aborted. */
  call(client: number, request: Request, signal: AbortSignal): Promise<Reply> {
    return this.record(client, request, ({ url }) => this.#send(url, request, signal))
  }

  /** Records a request that the caller sends to a front door. */
  async record(client: number, request: Request,
    exchange: (door: Door) => Promise<Reply>): Promise<Reply> {
    const { threadId } = request
    this.pairs.note(request)
    const startMs = this.history.nowMs()
    const url = this.#url(client)
    const credentials = this.#listCredentials(request.path, request.tenant ?? 'own')
    const reply = await exchange({ url, credentials }).catch(() => ({} as Reply))
    this.history.add({ type: 'call', client, ...request, startMs, endMs: this.history.nowMs(), url,
      ...reply })
    if (threadId !== undefined && reply.runId !== undefined) this.addRun(threadId, reply.runId)
    return reply
  }

  /** Headers of the caller: a user of the guarded deployment, or a key of the tenant. */
  #listCredentials(path: string, tenant: 'own' | 'foreign'): Readonly<Record<string, string>> {
    const guarded = this.#guarded
    const isGuarded = guarded && path.startsWith(`/d/${guarded.name}/`) &&
      !path.includes('/api/v1/')
    if (isGuarded) return { authorization: guarded.users[tenant] }
    return this.#keys ? { 'x-api-key': this.#keys[tenant] } : {}
  }

  async #send(url: string, { method, path, headers, body, tenant }: Request,
    signal: AbortSignal): Promise<Reply> {
    try {
      const response = await this.#fetch(`${url}${path}`, {
        method,
        // Keys are not recorded.
        headers: {
          ...this.#listCredentials(path, tenant ?? 'own'),
          ...body !== undefined && { 'content-type': 'application/json' },
          ...headers,
        },
        body: typeof body === 'string' ? body : JSON.stringify(body),
        signal,
      })
      const text = await response.text()
      const parsed = parseBody(text, response.headers.get('content-type') ?? '')
      return {
        status: response.status,
        runId: runOf(response.headers.get('content-location')) ?? findRunId(parsed),
        response: parsed,
        retryAfter: response.headers.get('retry-after') ?? undefined,
      }
    } catch {
      return {}
    }
  }
}

function runOf(location: string | null): string | undefined {
  return /\/runs\/([^/?]+)/.exec(location ?? '')?.[1]
}

function fieldOf(value: unknown, name: string): string | undefined {
  const field = (value as Record<string, unknown> | null)?.[name]
  return typeof field === 'string' ? field : undefined
}

/** The run that a response names, also the response to a command, or the task of a message. */
function findRunId(response: unknown): string | undefined {
  const { result, results } = (response ?? {}) as RpcResponse
  const { task = results?.[0]?.task } = (result ?? {}) as RpcResult
  return fieldOf(response, 'run_id') ?? fieldOf(result, 'run_id') ?? fieldOf(task, 'id')
}

interface RpcResult {
  readonly task?: unknown
}

interface RpcResponse {
  readonly result?: unknown
  readonly results?: readonly RpcResult[]
}

/** Parses JSON, or the events of a stream. */
function parseBody(text: string, type: string): unknown {
  if (type.startsWith('text/event-stream')) return parseEvents(text)
  if (text === '') return undefined
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

/** A client: its own chance, and the abort of the round. */
export interface Client {
  readonly number: number
  readonly chance: Chance
  readonly signal: AbortSignal
}
