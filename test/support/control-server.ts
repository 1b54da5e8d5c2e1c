/** A server with the control API alone, in memory: it does what a test says, and writes it down. */

import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'

import { onTestFinished } from 'vitest'

import type { ControlDeployment, ControlLine, ControlOutcome, ControlReplay, ControlReport,
  ControlRevision, ControlRollout } from '../../src/api/index.ts'
import type { RolloutPhase } from '../../src/deployment/index.ts'
import { readManifest, revisionHash } from '../../src/revision/index.ts'
import type { Manifest } from '../../src/revision/index.ts'

/** A request that came. */
export interface SeenRequest {
  readonly call: string
  readonly query: Readonly<Record<string, string>>
  readonly headers: IncomingMessage['headers']
  readonly body: unknown
  readonly bytes: number
}

/** When a connection is cut: before the request is done, or after it and before the answer. */
export type Cut = 'before' | 'after' | undefined

interface Replied {
  readonly status?: number
  readonly body?: unknown
}

const madeAt = '2026-11-27T12:00:00.000Z'

/** An answer that is an error; without a message, that of something before the server. */
export class Refusal extends Error {
  readonly status: number
  readonly body: object

  constructor(status: number, error: string, message: string, more: object = {}) {
    super(message)
    this.status = status
    this.body = { error, message, ...more }
  }
}

/** The control API of a cluster with three members, as its contract says. */
export class ControlServer {
  url = ''
  readonly seen: SeenRequest[] = []
  readonly deployments = new Map<string, ControlDeployment>()
  readonly revisions = new Map<string, ControlRevision[]>()
  readonly chunks = new Set<string>()
  readonly secrets = new Map<string, number>()
  /** Undefined if it asks for none. */
  key: string | undefined
  /** Says which requests are cut. */
  cut: (call: string) => Cut = () => undefined
  /** Answers a request instead, if it throws. */
  before: (call: string) => void = () => {}
  report: Partial<ControlReport> = {}
  /** How the next roll-outs end. */
  outcome: Pick<ControlOutcome, 'result' | 'reason' | 'failures'> = { result: 'done', reason: null,
    failures: [] }
  /** What the next replays find. */
  replayed: Partial<ControlReplay> = {}
  /** A phase that roll-outs do not leave. */
  staysIn: RolloutPhase | undefined
  watchSeconds = 60
  lines: ControlLine[] = []
  /** The name of its own project. */
  project = ''
  /** Lets nobody connect for so long. */
  restart: (ms: number) => void = () => {}
  readonly #manifests = new Map<string, Manifest>()
  #rollouts = 0
  /** The revision of the last replay. */
  #replayedOn = ''

  /** The requests, as `GET /deployments`. */
  get calls(): readonly string[] {
    return this.seen.map(({ call }) => call)
  }

  /** A deployment that is there. */
  add(name: string, more: Partial<ControlDeployment> = {}): ControlDeployment {
    const deployment: ControlDeployment = { name, tenant: 'acme', access: 'own',
      url: `${this.url}/d/${name}`, hosts: [], record: null, paused: false, active: null,
      previous: null, next: null, env_version: 0, kept_secrets: [], problems: [], rollout: null,
      last_rollout: null, preview: null,
      limits: { workers: 2, memory_mb: 512, concurrency: 100, run_timeout_s: 3_600, body_mb: 25,
        requests: null }, created_at: madeAt, updated_at: madeAt, ...more }
    this.deployments.set(name, deployment)
    this.revisions.set(name, this.revisions.get(name) ?? [])
    return deployment
  }

  /** A revision that is there. */
  addRevision(deployment: string, more: Partial<ControlRevision> = {}): ControlRevision {
    const all = this.revisions.get(deployment)!
    const revision: ControlRevision = { name: `r${all.length + 1}`, state: 'ready',
      hash: 'f'.repeat(64), message: '', by: 'local', bytes: 2_000_000, files: 40, platform: null,
      source: null, wants_env: [], graphs: [], reason: null, failures: [], created_at: madeAt,
      expires_at: null, active_at: null, running: 0, waiting_threads: 0, ...more }
    all.push(revision)
    return revision
  }

  /** Changes what is there. */
  change(name: string, change: Partial<ControlDeployment>): ControlDeployment {
    return this.add(name, { ...this.deployments.get(name)!, ...change })
  }

  /** Answers a request. */
  async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, searchParams } = new URL(request.url!, this.url)
    const path = pathname.replace('/control/v1', '')
    const call = `${request.method} ${path}`
    const data = await buffer(request)
    const isJson = request.headers['content-type'] === 'application/json'
    const body = isJson ? JSON.parse(`${data}`) as Body : undefined
    this.seen.push({ call, query: Object.fromEntries(searchParams), headers: request.headers, body,
      bytes: data.length })
    if (path === '/internal/project')
      return void response.end(JSON.stringify({ project: this.project }))
    const cut = this.cut(call)
    if (cut === 'before') return void request.socket.destroy()
    try {
      if (this.key !== undefined && request.headers['x-api-key'] !== this.key) {
        throw new Refusal(401, 'unauthenticated', 'Say who you are.')
      }
      this.before(call)
      if (path.endsWith('/logs')) return this.#sendLines(response, searchParams)
      const isAsync = request.headers['prefer'] === 'respond-async'
      const { status = 200, body: answer } = this.#done(request.method!, path, { body: body ?? {},
        data, isAsync, query: searchParams })
      if (cut === 'after') return void request.socket.destroy()
      response.writeHead(status, { 'content-type': 'application/json' })
        .end(answer === undefined ? '' : JSON.stringify(answer))
    } catch (error) {
      if (!(error instanceof Refusal)) throw error
      response.writeHead(error.status, { 'content-type': 'application/json' })
        .end(error.message === '' ? '<html>' : JSON.stringify(error.body))
    }
  }

  #sendLines(response: ServerResponse, query: URLSearchParams): void {
    const since = query.get('since') ?? ''
    response.writeHead(200, { 'content-type': 'application/x-ndjson' })
    for (const line of this.lines) {
      if (!(line.at < since)) response.write(`${JSON.stringify(line)}\n`)
    }
    response.end()
  }

  #done(method: string, path: string, asked: Asked): Replied {
    const [, , name, part, item, deed, chunk] = path.split('/')
    if (name === undefined) return this.#all(method, asked)
    const deployment = this.deployments.get(name)
    if (deployment === undefined) {
      throw new Refusal(404, 'not_found', `There is no deployment ${name}.`)
    }
    switch (part) {
      case undefined:
        return this.#one(method, deployment, asked)
      case 'secrets':
        return this.#secrets(method, deployment, item, asked)
      case 'replays':
        return this.#replay(method, deployment, deed, asked)
      case 'rollback':
        return { body: this.#move(deployment, asked.body.to ?? deployment.previous!) }
      default:
        return this.#revision(method, deployment, { item, deed, chunk }, asked)
    }
  }

  /** A replay is done at its first look. */
  #replay(method: string, { name }: ControlDeployment, deed: string | undefined,
    { body }: Asked): Replied {
    const revision = this.#replayedOn = body.revision ?? this.#replayedOn
    if (deed === 'runs') return { body: { runs: [] } }
    const replay: ControlReplay['replay'] = { id: '0a1b2c3d-0000-4000-8000-000000000001',
      deployment: name, revision, by: 'local', phase: method === 'GET' ? 'done' : 'running',
      reason: null, started_at: madeAt, ended_at: null, controlled: true, runs: 2, passed: 0,
      experiment: null, ...method === 'GET' && this.replayed.replay }
    return { status: method === 'GET' ? 200 : 202,
      body: { done: 2, diverged_percent: 0, groups: [], usage: noUsage,
        verdicts: { same: 2, same_result: 0, diverged: 0, fixed: 0, failed: 0, unstable: 0,
          not_replayable: 0 }, ...this.replayed, replay } }
  }

  #all(method: string, { body }: Asked): Replied {
    if (method === 'GET') return { body: { deployments: [...this.deployments.values()] } }
    const { name = '', access = 'own', hosts = [], preview = null, record = null } = body
    if (this.deployments.has(name)) throw new Refusal(409, 'exists', 'It exists already.')
    return { status: 201, body: this.add(name, { access, hosts, preview, record }) }
  }

  #one(method: string, deployment: ControlDeployment, { body, query }: Asked): Replied {
    const { name, limits } = deployment
    if (method === 'GET') return { body: this.#moveOn(deployment) }
    if (method === 'PATCH') {
      const { hosts = deployment.hosts, paused = deployment.paused, record = deployment.record } =
        body
      return {
        body: this.change(name, { hosts, paused, record, limits: { ...limits, ...body.limits } }),
      }
    }
    if (deployment.active !== null && query.get('data') !== 'remove') {
      throw new Refusal(422, 'invalid', `${name} has an active revision: add data=remove.`)
    }
    this.deployments.delete(name)
    return { status: 202, body: { removing: true } }
  }

  /** Each look moves the roll-out on. */
  #moveOn(deployment: ControlDeployment): ControlDeployment {
    const { rollout, name } = deployment
    if (rollout === null || rollout.phase === this.staysIn) return deployment
    if (rollout.phase === 'preparing' && this.outcome.result !== 'refused') {
      this.change(name, { rollout: { ...rollout, phase: 'confirming' } })
    } else if (rollout.phase === 'confirming') {
      const { percent, revision } = rollout
      this.change(name, { ...percent === 100
        ? { active: revision, previous: deployment.active, next: null, kept_secrets: [] }
        : { next: { revision, percent } }, rollout: { ...rollout, phase: 'watching' } })
    } else {
      const { id, kind, revision, from, percent, members, by } = rollout
      this.change(name, { rollout: null,
        last_rollout: { id, kind, revision, from, percent, members, by, started_at: madeAt,
          ended_at: madeAt, ...this.outcome },
        ...this.outcome.result === 'rolled_back' && { active: from } })
    }
    return deployment
  }

  #secrets(method: string, { name, active }: ControlDeployment, secret: string | undefined,
    { body, query }: Asked): Replied {
    if (method === 'GET') {
      return {
        body: { env_version: 1,
          secrets: [...this.secrets].map(([each, version]) => ({ name: each, version,
            updated_at: madeAt, state: 'in_use' })
          ) },
      }
    }
    for (const each of [...body.remove ?? [], ...secret === undefined ? [] : [secret]]) {
      this.secrets.delete(each)
    }
    for (const each of Object.keys(body.values ?? {})) {
      this.secrets.set(each, (this.secrets.get(each) ?? 0) + 1)
    }
    const names = [...Object.keys(body.values ?? {}), ...body.remove ?? []]
    const starts = active !== null && body.restart !== false && query.get('restart') !== 'false'
    if (!starts) this.change(name, { kept_secrets: names })
    return { body: { rollout: starts ? this.#rollout(name, active, 'secrets', 100) : null } }
  }

  #revision(method: string, deployment: ControlDeployment, { item, deed, chunk }: Readonly<
    Record<'item' | 'deed' | 'chunk', string | undefined>
  >, asked: Asked): Replied {
    const all = this.revisions.get(deployment.name)!
    if (item === undefined) {
      return method === 'GET'
        ? { body: { revisions: all.toReversed().slice(0, Number(asked.query.get('limit'))) } }
        : this.#begun(deployment, asked.body)
    }
    const index = all.findIndex(({ name }) => name === item)
    const revision = all[index]
    if (revision === undefined) throw new Refusal(404, 'not_found', `There is no revision ${item}.`)
    if (method === 'PUT') {
      const hash = createHash('sha256').update(asked.data).digest('hex')
      if (hash !== chunk) throw new Refusal(422, 'invalid', 'The bytes do not have that hash.')
      this.chunks.add(hash)
      return { status: 204 }
    }
    if (method === 'DELETE') {
      if ([deployment.active, deployment.previous].includes(item) && !asked.query.has('force')) {
        throw new Refusal(409, 'in_use', `${item} is active.`)
      }
      all[index] = { ...revision, state: 'removed' }
      return { status: 204 }
    }
    if (deed === 'check') return this.#checked(revision, (next) => void (all[index] = next))
    if (deed !== 'activate') return { body: revision }
    if (asked.body.expect !== undefined && asked.body.expect !== deployment.active) {
      throw new Refusal(409, 'stale', `${deployment.active} is active.`)
    }
    if (!asked.isAsync) return { body: this.#move(deployment, item) }
    const percent = asked.body.percent ?? 100
    const rollout = this.#rollout(deployment.name, item, 'activate', percent)
    return { status: 202, body: { rollout } }
  }

  #begun({ name }: ControlDeployment, { manifest: sent, message }: Body): Replied {
    const manifest = readManifest(sent)
    const hash = revisionHash(manifest)
    const known = this.revisions.get(name)!.find((each) =>
      each.hash === hash && !['removed', 'refused'].includes(each.state)
    )
    const revision = known ??
      this.addRevision(name, { hash, state: 'uploading', message: message ?? '',
        wants_env: manifest.wants_env })
    this.#manifests.set(hash, manifest)
    return { status: known ? 200 : 201,
      body: { revision, missing: this.#missing(hash), expires_at: madeAt } }
  }

  #missing(hash: string): string[] {
    const archives = this.#manifests.get(hash)?.archives ?? []
    const named = archives.flatMap(({ chunks }) => chunks.map(({ sha256 }) => sha256))
    return [...new Set(named)].filter((each) => !this.chunks.has(each))
  }

  #checked(revision: ControlRevision, change: (next: ControlRevision) => void): Replied {
    if (this.#missing(revision.hash).length > 0) {
      throw new Refusal(409, 'not_ready', 'It is not ready for this.')
    }
    const next = { ...revision, state: 'ready' as const,
      graphs: [{ graph_id: 'agent', nodes: ['ask', 'reply'] }] }
    change(next)
    return {
      body: { revision: next,
        report: { graphs_added: [], graphs_removed: [], nodes_removed: [], nodes_added: [],
          channels_removed: [], wants_env_missing: [], ...this.report } },
    }
  }

  #rollout(name: string, revision: string, kind: ControlRollout['kind'],
    percent: number): ControlRollout {
    const members = ['one', 'two', 'three'].map((id) => ({ id, state: 'ready' as const, ms: 900 }))
    const rollout: ControlRollout = { id: `roll-out-${++this.#rollouts}`, kind, revision,
      from: this.deployments.get(name)!.active, percent, phase: 'preparing', members,
      started_at: madeAt, watch_s: this.watchSeconds, by: 'local', message: '' }
    this.change(name, { rollout })
    return rollout
  }

  #move({ name, active: previous }: ControlDeployment, active: string): object {
    const members = ['one', 'two', 'three'].map((id) => ({ id, state: 'confirmed', ms: 90 }))
    this.change(name, { active, previous })
    return { active, previous, next: null, env_version: 7, kept_secrets: ['A'], pointer_ms: 300,
      members, unconfirmed: [], still_running: [{ revision: previous, runs: 14 }],
      rollout_id: `roll-out-${++this.#rollouts}` }
  }
}

/** What bodies have, all requests together. */
interface Body extends Partial<
  Pick<ControlDeployment, 'name' | 'access' | 'hosts' | 'preview' | 'paused' | 'record'>
> {
  readonly limits?: Partial<ControlDeployment['limits']>
  readonly to?: string
  readonly revision?: string
  readonly values?: Readonly<Record<string, string>>
  readonly remove?: readonly string[]
  readonly restart?: boolean
  readonly expect?: string
  readonly percent?: number
  readonly manifest?: unknown
  readonly message?: string
}

interface Asked {
  readonly body: Body
  readonly data: Buffer
  readonly isAsync: boolean
  readonly query: URLSearchParams
}

/** Starts one for a test. */
export async function startControlServer(): Promise<ControlServer> {
  const control = new ControlServer()
  const server = createServer((request, response) => void control.answer(request, response))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  control.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const { port } = server.address() as AddressInfo
  control.restart = (ms) => {
    server.close()
    server.closeAllConnections()
    setTimeout(() => server.listen(port, '127.0.0.1'), ms)
  }
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return control
}

const noUsage: ControlReplay['usage'] = { recorded: { tokens: null, cost: null },
  replayed: { tokens: null, cost: null }, is_at_least: false }
