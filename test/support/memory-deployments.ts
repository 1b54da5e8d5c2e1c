/** Deployments in memory, and what serves them: the twins behind the control API in tests. */

import { createHash, randomUUID } from 'node:crypto'

import { defaultDeploymentLimits, namespaceParts } from '../../src/deployment/index.ts'
import type { Activated, BegunBuild, BuildPhase, Builds, Deployment, DeploymentEvent,
  DeploymentLine, Deployments, DeploymentSecret, DeploymentSecrets, MergedLineQuery, NewBuild,
  OwedEvent, Revision, Rollout, Rollouts, RolloutRequest, SecretSet, SecretValues,
  StartRequest } from '../../src/deployment/index.ts'
import { afterChanges } from '../../src/deployment/secret-set.ts'
import { requireManifest } from '../../src/deployment/records/beginning.ts'
import { requireChange } from '../../src/deployment/records/deployment-input.ts'
import { HeddleError } from '../../src/errors.ts'
import type { DeploymentParts } from '../../src/frontdoor/index.ts'
import type { DeploymentView, GraphDescription } from '../../src/graph/index.ts'
import type { Manifest } from '../../src/revision/index.ts'
import { MemoryReplays } from './memory-replays.ts'

const nowMs = 1_800_000_000_000

/** The twin of the records. */
export class MemoryDeployments implements Omit<Deployments, 'collect'> {
  readonly rows = new Map<string, Deployment>()
  readonly revisionRows = new Map<string, Revision[]>()
  readonly manifests = new Map<string, Manifest>()
  readonly chunks = new Map<string, Uint8Array>()
  readonly noted = new Map<string, DeploymentEvent[]>()
  /** Names whose removal has ended. */
  readonly removed: string[] = []

  async create(
    { name, tenant, access = 'own', hosts = [], limits, record = null, preview }: Parameters<
      Deployments['create']
    >[0],
  ): Promise<Deployment> {
    if (this.rows.has(name)) throw new HeddleError('exists', `There is a deployment ${name}.`)
    requireChange({ record })
    const row: Deployment = { id: randomUUID(), name, tenant, access, hosts,
      limits: { ...defaultDeploymentLimits, ...limits }, record, paused: false, removing: false,
      movesRuns: false, active: null, previous: null, next: null, envVersion: 0, revisionCount: 0,
      rollout: null, lastRollout: null, preview: preview ?? null, owed: [], step: 1,
      createdAtMs: nowMs, modifiedAtMs: nowMs }
    this.rows.set(name, row)
    return row
  }

  async get(name: string): Promise<Deployment> {
    const row = this.rows.get(name)
    if (row === undefined) throw new HeddleError('not_found', 'No such row.')
    return row
  }

  async list({ tenant, limit, offset }: Parameters<Deployments['list']>[0]) {
    return [...this.rows.values()].filter((row) => tenant === undefined || row.tenant === tenant)
      .toSorted((a, b) => a.name < b.name ? -1 : 1).slice(offset, offset + limit)
  }

  async change({ name, step }: Deployment, change: Partial<Deployment>): Promise<Deployment> {
    const row = await this.get(name)
    requireChange({ record: change.record ?? null })
    if (row.step !== step || row.removing) throw new HeddleError('stale')
    const after = { ...row, ...change, step: step + 1 }
    this.rows.set(name, after)
    return after
  }

  async remove({ name }: Deployment): Promise<void> {
    this.rows.delete(name)
    this.removed.push(name)
  }

  async revisions({ id }: Deployment, { limit, offset }: { limit: number; offset: number }) {
    return this.#of(id).toReversed().slice(offset, offset + limit)
  }

  async revision({ id }: Deployment, name: string): Promise<Revision> {
    const row = this.#of(id).find((each) => each.name === name)
    if (row === undefined) throw new HeddleError('not_found', `There is no revision ${name}.`)
    return row
  }

  async beginRevision(deployment: Deployment, { manifest: said, message, by }: Parameters<
    Deployments['beginRevision']
  >[1]) {
    const { content: manifest, hash } = requireManifest(said)
    const known = this.#of(deployment.id).find((each) => each.hash === hash)
    if (known) return { revision: known, missing: await this.missing(known), known: true }
    const revision = this.#made(deployment, { message, by, hash, state: 'uploading' })
    this.revisionRows.set(deployment.id, [...this.#of(deployment.id), revision])
    this.manifests.set(revision.id, manifest)
    return { revision, missing: await this.missing(revision), known: false }
  }

  async beginBuild(deployment: Deployment, { message, by }: Parameters<
    Deployments['beginBuild']
  >[1]): Promise<Revision> {
    const revision = this.#made(deployment, { message, by, hash: '', state: 'building' })
    this.revisionRows.set(deployment.id, [...this.#of(deployment.id), revision])
    return revision
  }

  endBuild = () => Promise.reject(new Error('nothing is built here'))

  async changeRevision(revision: Revision, change: Partial<Revision>): Promise<Revision> {
    const after = { ...revision, ...change }
    this.revisionRows.set(revision.deployment,
      this.#of(revision.deployment).map((each) => each.id === revision.id ? after : each))
    return after
  }

  removeRevision(_deployment: Deployment, revision: Revision): Promise<Revision> {
    return this.changeRevision(revision, { state: 'removed' })
  }

  async manifest({ id }: Revision): Promise<Manifest> {
    return this.manifests.get(id)!
  }

  async missing(revision: Revision): Promise<readonly string[]> {
    return this.#named(revision).filter((sha256) =>
      !this.chunks.has(`${revision.deployment} ${sha256}`)
    )
  }

  async putChunk(revision: Revision, sha256: string, data: Uint8Array): Promise<void> {
    if (!this.#named(revision).includes(sha256)) throw new HeddleError('not_found')
    if (createHash('sha256').update(data).digest('hex') !== sha256) throw new HeddleError('invalid')
    this.chunks.set(`${revision.deployment} ${sha256}`, data)
  }

  readChunks = () => () => Promise.reject(new Error('nothing is read here'))

  async noteOwed(id: string, { mark: _, ...event }: OwedEvent): Promise<void> {
    await this.note(id, event)
  }

  async settle(deployment: Deployment): Promise<void> {
    await this.change(deployment, { owed: [] })
  }

  async note(id: string, event: Parameters<Deployments['note']>[1]): Promise<DeploymentEvent> {
    const events = this.noted.get(id) ?? []
    const noted = { ...event, seq: events.length + 1, atMs: nowMs }
    this.noted.set(id, [...events, noted])
    return noted
  }

  async events(id: string, after: number, limit: number) {
    return (this.noted.get(id) ?? []).filter(({ seq }) => seq > after).slice(0, limit)
  }

  #made(deployment: Deployment,
    more: Pick<Revision, 'message' | 'by' | 'hash' | 'state'>): Revision {
    const number = this.#of(deployment.id).length + 1
    return { settings: null, id: randomUUID(), deployment: deployment.id, name: `r${number}`,
      number, ...more, bytes: 0, files: 0, platform: null, wantsEnv: [], source: null, graphs: [],
      reason: null, failures: [], createdAtMs: nowMs, expiresAtMs: nowMs + 86_400_000,
      activeAtMs: null }
  }

  #of(id: string): readonly Revision[] {
    return this.revisionRows.get(id) ?? []
  }

  #named({ id }: Revision): string[] {
    return this.manifests.get(id)!.archives.flatMap(({ chunks }) =>
      chunks.map(({ sha256 }) => sha256)
    )
  }
}

/** The twin of the secrets. */
export class MemorySecrets
  implements Pick<DeploymentSecrets, 'list' | 'reveal' | 'seal' | 'settle' | 'unopened'> {
  /** As programs before sets see them. */
  readonly values = new Map<string, Map<string, string>>()
  readonly #places = new Map<string, string>()

  async list(id: string): Promise<readonly DeploymentSecret[]> {
    return [...this.values.get(id)?.keys() ?? []].map((name) => ({ name, version: 1,
      updatedAtMs: nowMs })
    )
  }

  async seal(_deployment: Deployment, change: SecretValues): Promise<SecretSet> {
    return [...change].map(([name, value]) => {
      const place = value === null ? null : randomUUID()
      if (place !== null) this.#places.set(place, value!)
      return { name, version: 1, updatedAtMs: nowMs, place }
    })
  }

  async settle({ id, keptSecrets = [] }: Deployment): Promise<void> {
    const values = keptSecrets.map(({ name, place }) => [name, this.#places.get(place!)!] as const)
    this.values.set(id, new Map(values))
  }

  async reveal(id: string): Promise<Readonly<Record<string, string>>> {
    return Object.fromEntries(this.values.get(id) ?? [])
  }

  /** Names that the server has no key for. */
  readonly foreign = new Set<string>()

  async unopened({ loadedSecrets, keptSecrets = [] }: Deployment): Promise<readonly string[]> {
    return afterChanges(loadedSecrets?.entries ?? [], keptSecrets).map(({ name }) => name)
      .filter((name) => this.foreign.has(name))
  }
}

/** Moves pointers at once. */
class InstantRollouts implements Rollouts {
  readonly asked: (RolloutRequest & { readonly kind: string })[] = []
  readonly #records: MemoryDeployments
  readonly graphs: readonly GraphDescription[]
  /** What the next one throws. */
  fails: HeddleError | undefined

  constructor(records: MemoryDeployments, graphs: readonly GraphDescription[]) {
    this.#records = records
    this.graphs = graphs
  }

  async check(name: string, revision: string, options: RolloutRequest): Promise<Activated> {
    return await this.#done('check', name, revision, options)
  }

  async activate(name: string, revision: string, options: RolloutRequest): Promise<Activated> {
    return await this.#done('activate', name, revision, options)
  }

  async rollback(name: string, options: RolloutRequest & { to?: string }): Promise<Activated> {
    const { previous } = await this.#records.get(name)
    const to = options.to ?? previous
    if (to === null) throw new HeddleError('not_ready', 'No revision was active before.')
    return await this.#done('rollback', name, to, options)
  }

  async loadSecrets(name: string,
    { change, ...options }: Parameters<Rollouts['loadSecrets']>[1]): Promise<Activated> {
    const before = await this.#records.get(name)
    const moved = await this.#done('secrets', name, before.active!, options)
    const entries = afterChanges(before.loadedSecrets?.entries ?? [], change)
    const deployment = await this.#records.change(moved.deployment, {
      loadedSecrets: { envVersion: before.envVersion, entries },
    })
    return { ...moved, deployment }
  }

  async #done(kind: Rollout['kind'], name: string, revision: string,
    options: RolloutRequest): Promise<Activated> {
    this.asked.push({ ...options, kind })
    if (this.fails) throw this.fails
    const before = await this.#records.get(name)
    const row = await this.#records.revision(before, revision)
    await this.#records.changeRevision(row, { state: 'ready', graphs: this.graphs })
    const moves = kind !== 'check' && before.active !== revision
    const deployment = moves
      ? await this.#records.change(before, { active: revision, previous: before.active })
      : before
    const rollout: Rollout = { id: randomUUID(), kind, revision, from: before.active, percent: 100,
      envVersion: 0, phase: 'watching', members: [{ id: 'm1', state: 'confirmed', ms: 12 }, {
        id: 'm2',
        state: 'silent',
        ms: null,
      }], startedAtMs: nowMs, phaseAtMs: nowMs, watchMs: 0, prepareMs: 1_000, by: options.by,
      message: options.message ?? '' }
    return { deployment, rollout, pointerMs: 12 }
  }
}

/** The twin of builds, of which nothing comes. */
export class MemoryBuilds implements Builds {
  readonly #records: MemoryDeployments
  readonly phases = new Map<string, BuildPhase>()
  readonly uploads = new Map<string, Buffer>()
  readonly started: StartRequest[] = []

  constructor(records: MemoryDeployments) {
    this.#records = records
  }

  async begin(deployment: Deployment, { by, message, archive }: NewBuild): Promise<BegunBuild> {
    const revision = await this.#records.beginBuild(deployment, { message, by })
    this.phases.set(revision.id, 'waiting')
    return { revision, missing: archive?.chunks.map(({ sha256 }) => sha256) ?? [],
      address: archive === undefined ? `${revision.id}.secret` : '' }
  }

  putChunk = () => Promise.resolve()

  async receive(address: string, content: AsyncIterable<Uint8Array>): Promise<void> {
    const [id = '', secret] = address.split('.')
    if (secret !== 'secret' || this.phases.get(id) !== 'waiting') throw new HeddleError('not_found')
    const parts: Uint8Array[] = []
    for await (const part of content) parts.push(part)
    this.uploads.set(id, Buffer.concat(parts))
    this.phases.set(id, 'received')
  }

  async start({ id }: Revision, options: StartRequest): Promise<void> {
    this.started.push(options)
    this.phases.set(id, 'building')
  }

  async phase({ id }: Revision): Promise<BuildPhase | undefined> {
    return this.phases.get(id)
  }
}

/** What a front door takes, with what a test looks at. */
export interface DeploymentsOfTest extends DeploymentParts {
  readonly records: MemoryDeployments
  readonly secrets: MemorySecrets
  readonly rollouts: InstantRollouts
  readonly builds: MemoryBuilds
  readonly lines: DeploymentLine[]
  /** Wakes whoever waits for lines and events. */
  updated(): void
  /** How many wait for them. */
  waiting(): number
  /** Calls whoever watches. */
  changed(name: string): void
}

/** What a test may replace. */
export type PartsOfTest = Omit<Partial<DeploymentParts>,
  'records' | 'secrets' | 'rollouts' | 'builds'>

/** Deployments whose active revisions have these graphs. */
export function memoryDeployments(graphs: readonly GraphDescription[] = [],
  more: PartsOfTest = {}): DeploymentsOfTest {
  const records = new MemoryDeployments()
  const watchers = new Map<string, Set<(deployment: Deployment) => void>>()
  const lines: DeploymentLine[] = []
  const waiting = new Set<() => void>()
  const view = (namespace: string): DeploymentView | undefined => {
    const { deployment } = namespaceParts(namespace)
    const row = records.rows.get(deployment ?? '')
    return row &&
      { active: row.active, next: row.next, paused: row.paused, movesRuns: row.movesRuns,
        revisions: new Map(row.active === null ? [] : [[row.active, graphs]]) }
  }
  return {
    records,
    secrets: new MemorySecrets(),
    rollouts: new InstantRollouts(records, graphs),
    builds: new MemoryBuilds(records),
    replays: new MemoryReplays(),
    lines,
    serving: {
      all: () => [...records.rows.values()],
      find: (name) => records.get(name),
      named: (host) => [...records.rows.values()].find(({ hosts }) => hosts.includes(host)),
      open: async () => {},
      view,
      learn: async () => {},
      watch: (name, changed) => {
        const own = watchers.get(name) ?? new Set()
        watchers.set(name, own.add(changed))
        return () => void own.delete(changed)
      },
    },
    announce: async () => {},
    data: { isEmpty: async () => true, remove: (deployment) => records.remove(deployment) },
    logs: {
      lines: async (_name, query: MergedLineQuery) =>
        lines.filter(({ member, seq, atMs }) =>
          query.after?.has(member) ? seq > query.after.get(member)! : atMs >= (query.sinceMs ?? 0)
        ).slice(0, query.limit),
    },
    watchUpdates: (_id, updated) => {
      const own = () => updated()
      waiting.add(own)
      return () => void waiting.delete(own)
    },
    updated: () => {
      for (const updated of waiting) updated()
    },
    waiting: () => waiting.size,
    report: async () => ({ graphs_added: ['agent'], graphs_removed: [], nodes_removed: [],
      nodes_added: [], channels_removed: [], wants_env_missing: [] }),
    changed: (name) => {
      const row = records.rows.get(name)
      for (const changed of watchers.get(name) ?? []) if (row) changed(row)
    },
    ...more,
  }
}
