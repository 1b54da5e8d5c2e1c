/** Operations on assistants, the same for every wire. */

import { IsUuid } from 'typebox/format'

import type { Env } from '../../../cluster/index.ts'
import type { AssistantRow } from '../../../proto/gen/storage/v1/row.ts'
import type { CountAssistants, CreateAssistant, ListVersions, PatchAssistant,
  SearchAssistants } from '../../api/index.ts'
import type { AssistantClient } from '../../assistants/index.ts'
import { HeddleError, ignoreNotFound } from '../../errors.ts'
import { isDeployment, systemAssistantId } from '../../graph/index.ts'
import type { GraphDescription, GraphHosts, GraphSchemas } from '../../graph/index.ts'
import type { Quotas, ReadQuota } from '../../limits/index.ts'
import { pageBytes } from '../../search/index.ts'
import type { AssistantSearch, MetadataFilter } from '../../search/index.ts'
import type { AssistantDefaults } from '../../settings/index.ts'
import type { ThreadClient } from '../../thread/index.ts'
import { requireSimple } from '../schema/validation.ts'
import type { RemoveCrons } from './cron-removal.ts'
import { cancelAll } from './cancel-runs.ts'
import { graphIds, requireGraph } from './graph-names.ts'
import { TenantChanges } from './tenant-changes.ts'

/** The part of `OperationParts` that operations on assistants use. */
export interface AssistantOperationParts {
  readonly assistants: AssistantClient
  readonly assistantIndex: AssistantSearch
  readonly graphs: GraphHosts
  readonly threads: ThreadClient
  readonly reads: ReadQuota
  readonly env: Env
  readonly assistantDefaults?: ReadonlyMap<string, AssistantDefaults>
  readonly quotas: Pick<Quotas, 'within'>
  readonly removeCrons: RemoveCrons
}

/**
 * Number of tenants that are remembered as seen. At this number all are forgotten at once: to see
 * one again costs a look, and an LRU map of this size would take 3 MB from the start.
 */
const welcomedMax = 100_000

/** Number of threads that are deleted at once. */
const deletionPage = 100

/** Filters of an assistant that a caller may delete, and of its threads; by default none. */
interface DeletableAssistant {
  readonly allowed?: MetadataFilter | undefined
  readonly threads?: MetadataFilter | undefined
}

/** Operations on assistants. A name is a UUID, or a graph id for the graph's own assistant. */
export class AssistantOperations {
  readonly #assistants: AssistantClient
  readonly #index: AssistantSearch
  readonly #graphs: GraphHosts
  readonly #threads: ThreadClient
  readonly #reads: ReadQuota
  readonly #env: Env
  readonly #defaults: ReadonlyMap<string, AssistantDefaults>
  readonly #quotas: Pick<Quotas, 'within'>
  readonly #removeCrons: RemoveCrons
  readonly #changes = new TenantChanges()
  /**
   * The graphs that were served when a tenant was last seen. A reload or another revision may bring
   * other graphs.
   */
  readonly #welcomed = new Map<string, readonly GraphDescription[]>()

  constructor(parts: AssistantOperationParts) {
    this.#assistants = parts.assistants
    this.#index = parts.assistantIndex
    this.#graphs = parts.graphs
    this.#threads = parts.threads
    this.#reads = parts.reads
    this.#env = parts.env
    this.#defaults = parts.assistantDefaults ?? new Map()
    this.#quotas = parts.quotas
    this.#removeCrons = parts.removeCrons
  }

  /** Makes the assistant of every graph that has none yet, when a tenant is first seen here. */
  async welcome(tenant: string): Promise<void> {
    await this.#graphs.open(tenant)
    const graphs = this.#graphs.of(tenant).graphs()
    if (this.#welcomed.get(tenant) === graphs) return
    await Promise.all(graphs.map((graph) => this.#system(tenant, graph)))
    if (this.#welcomed.size >= welcomedMax) this.#welcomed.clear()
    this.#welcomed.set(tenant, graphs)
    this.#changes.notify(tenant)
  }

  /**
   * Calls `changed` when assistants were made, changed or deleted at this front door. What other
   * members change is not noticed. The result stops it.
   */
  onChange(tenant: string, changed: () => void): () => void {
    return this.#changes.listen(tenant, changed)
  }

  /** Ids of the graphs that are served, in the order of the project. */
  async graphIds(tenant: string): Promise<readonly string[]> {
    await this.#graphs.open(tenant)
    return this.#graphs.of(tenant).graphs().map(({ graphId }) => graphId)
  }

  /** The graph with an id as it is served; undefined if there is none. */
  async describe(tenant: string, graphId: string): Promise<GraphDescription | undefined> {
    await this.#graphs.open(tenant)
    return this.#graphs.of(tenant).describe(graphId)
  }

  async create(tenant: string, request: CreateAssistant): Promise<AssistantRow> {
    await this.#graphs.open(tenant)
    requireGraph(this.#graphs.of(tenant), request.graph_id)
    const assistantId = request.assistant_id ?? this.#env.uuid()
    return this.#change(tenant, () =>
      this.#assistants.create({ tenant, assistantId }, {
        graphId: request.graph_id,
        name: request.name ?? 'Untitled',
        description: request.description ?? null,
        config: request.config ?? {},
        context: request.context ?? {},
        metadata: request.metadata ?? {},
      }, request.if_exists ?? 'raise'))
  }

  /**
   * The assistant with this name. A graph's own is made again if it was deleted. `revision`: the
   * one whose graphs may be named, if it is not the active one.
   */
  async get(tenant: string, name: string, revision?: string): Promise<AssistantRow> {
    await this.#graphs.open(tenant)
    const graph = this.#graphs.of(tenant, revision).describe(name)
    if (graph !== undefined) return this.#system(tenant, graph)
    await this.welcome(tenant)
    return this.#assistants.get(this.#named(tenant, name))
  }

  /** Resolves with the new version. */
  async patch(tenant: string, name: string, request: PatchAssistant,
    allowed?: MetadataFilter): Promise<AssistantRow> {
    await this.#graphs.open(tenant)
    if (request.graph_id !== undefined) {
      requireGraph(this.#graphs.of(tenant), request.graph_id)
    }
    await this.welcome(tenant)
    const { graph_id: graphId, name: newName, description, config, context, metadata } = request
    return this.#change(tenant,
      () =>
        this.#assistants.patch(this.#named(tenant, name), { graphId, name: newName, description,
          config, context, metadata }, allowed))
  }

  async setLatest(tenant: string, name: string, version: number,
    allowed?: MetadataFilter): Promise<AssistantRow> {
    await this.welcome(tenant)
    return this.#change(tenant,
      () => this.#assistants.setLatest(this.#named(tenant, name), version, allowed))
  }

  /** Versions of an assistant, newest first. */
  async versions(tenant: string, name: string, request: ListVersions,
    cancelled?: AbortSignal): Promise<AssistantRow[]> {
    await this.welcome(tenant)
    const { limit = 10, offset = 0, metadata } = request
    requireSimple('metadata', metadata)
    return this.#assistants.versions(this.#named(tenant, name), { limit, offset,
      metadata: metadata ?? undefined }, cancelled)
  }

  /**
   * Deletes an assistant with all versions and its crons, and if asked for the threads whose last
   * run it was. Its unfinished runs are cancelled.
   */
  async delete(tenant: string, name: string, deleteThreads: boolean,
    { allowed, threads }: DeletableAssistant = {}): Promise<void> {
    await this.welcome(tenant)
    const assistant = this.#named(tenant, name)
    await this.#assistants.get(assistant)
    if (deleteThreads) await this.#deleteThreads(tenant, assistant.assistantId, threads)
    await this.#assistants.delete(assistant, allowed)
    this.#changes.notify(tenant)
    await this.#removeCrons(assistant)
    await cancelAll(this.#threads, tenant, { status: 'all',
      cancel: { action: 'interrupt', cause: 'assistant_deleted',
        ofAssistant: assistant.assistantId } })
  }

  /** `allowed`: only assistants that the caller may see. */
  async search(tenant: string, request: SearchAssistants, cancelled?: AbortSignal,
    allowed?: MetadataFilter): Promise<{ rows: AssistantRow[]; total: number }> {
    await this.welcome(tenant)
    const { limit = 10, offset = 0, sort_by, sort_order } = request
    const query = {
      ...filterOf(tenant, request),
      allowed,
      limit,
      offset,
      sortBy: sort_by ?? 'created_at',
      sortOrder: sort_order ?? 'desc',
    }
    return this.#reads.read({ tenant, bytes: pageBytes, cancelled },
      ({ left: bytes }) => this.#index.search({ ...query, bytes }, cancelled))
  }

  /** As `search`. */
  async count(tenant: string, request: CountAssistants, cancelled?: AbortSignal,
    allowed?: MetadataFilter): Promise<number> {
    await this.welcome(tenant)
    return this.#index.count({ ...filterOf(tenant, request), allowed }, cancelled)
  }

  /** `{nodes, edges}`. `xray` is the number of subgraph levels to draw, or true for all. */
  async graph(tenant: string, name: string, xray: boolean | number): Promise<unknown> {
    const { graphId, configurable } = await this.#graphOf(tenant, name)
    return this.#graphs.of(tenant).drawable(graphId, xray, configurable)
  }

  /** Returns the schemas, after waiting for types of TypeScript for up to `typesWaitMs`. */
  async schemas(tenant: string, name: string,
    typesWaitMs?: number): Promise<GraphSchemas & { readonly graph_id: string }> {
    const { graphId, configurable } = await this.#graphOf(tenant, name)
    const schemas = await this.#graphs.of(tenant).schemas(graphId, configurable, typesWaitMs)
    return { graph_id: graphId, ...schemas }
  }

  /** Schemas of the subgraph at `namespace`; of every subgraph if that is null. */
  async subgraphs(tenant: string, name: string, namespace: string | null,
    recurse: boolean): Promise<Readonly<Record<string, GraphSchemas>>> {
    const { graphId, configurable } = await this.#graphOf(tenant, name)
    return this.#graphs.of(tenant).subgraphSchemas(graphId, namespace, recurse, configurable)
  }

  /**
   * The graph of an assistant, and the settings for its factory, the same as in the assistant's
   * runs.
   */
  async #graphOf(tenant: string, name: string): Promise<
    { readonly graphId: string; readonly configurable: Readonly<Record<string, unknown>> }
  > {
    const { graphId, assistantId, configJson } = await this.get(tenant, name)
    requireGraph(this.#graphs.of(tenant), graphId)
    const { configurable } = JSON.parse(configJson || '{}') as { configurable?: object }
    // Only the server sets who was authenticated, and steers the engine.
    const own = Object.entries(configurable ?? {}).filter(([key]) =>
      !/^(langgraph_auth|__pregel)_/
        .test(key)
    )
    return { graphId,
      configurable: { ...Object.fromEntries(own), assistant_id: assistantId, graph_id: graphId } }
  }

  async #system(tenant: string, { graphId, description }: GraphDescription): Promise<AssistantRow> {
    const assistant = { tenant, assistantId: systemAssistantId(graphId) }
    // The defaults are settings of the server's own project.
    const defaults = isDeployment(tenant) ? undefined : this.#defaults.get(graphId)
    const { config = {}, context = {} } = defaults ?? {}
    return this.#assistants.create(assistant, {
      graphId,
      name: graphId,
      description,
      config,
      context,
      metadata: { created_by: 'system' },
    }, 'do_nothing')
  }

  /** Changes an assistant within the quotas of the tenant. */
  async #change(tenant: string, work: () => Promise<AssistantRow>): Promise<AssistantRow> {
    const row = await this.#quotas.within(tenant, {}, work)
    this.#changes.notify(tenant)
    return row
  }

  #named(tenant: string, name: string): { tenant: string; assistantId: string } {
    const graphs = this.#graphs.of(tenant)
    if (graphs.describe(name) !== undefined) {
      return { tenant, assistantId: systemAssistantId(name) }
    }
    if (IsUuid(name)) return { tenant, assistantId: name.toLowerCase() }
    throw new HeddleError('not_found', `No assistant found for "${name}". Name one by its UUID, ` +
      `or by a graph id for the graph's own: ${graphIds(graphs)}.`)
  }

  async #deleteThreads(tenant: string, assistantId: string,
    allowed: MetadataFilter | undefined): Promise<void> {
    const query = {
      tenant,
      metadata: { assistant_id: assistantId },
      allowed,
      withoutValues: true,
      offset: 0,
      sortBy: 'thread_id',
      sortOrder: 'asc',
    } as const
    const page = (limit: number) =>
      this.#threads.search({ ...query, limit }, ({ row }) => row.threadId)
    for (;;) {
      const { threads: ids } = await page(deletionPage).catch((error: unknown) => {
        if (HeddleError.from(error).code !== 'too_large') throw error
        return page(1)
      })
      if (ids.length === 0) return
      // Another request may have deleted some of them meanwhile.
      await Promise.all(
        ids.map((id) => this.#threads.delete(tenant, id, allowed).catch(ignoreNotFound)),
      )
    }
  }
}

function filterOf(tenant: string, { graph_id, name, metadata }: CountAssistants) {
  requireSimple('metadata', metadata)
  return {
    tenant,
    graphId: graph_id ?? undefined,
    name: name ?? undefined,
    metadata: metadata ?? undefined,
  }
}
