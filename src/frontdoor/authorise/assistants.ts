/** Operations on assistants, as a caller may do them. */

import type { AssistantRow } from '../../../proto/gen/storage/v1/row.ts'
import type { CountAssistants, CreateAssistant, ListVersions, PatchAssistant,
  SearchAssistants } from '../../api/index.ts'
import { HeddleError, ignoreNotFound } from '../../errors.ts'
import { systemAssistantId } from '../../graph/index.ts'
import type { GraphSchemas } from '../../graph/index.ts'
import type { MetadataFilter } from '../../search/index.ts'
import type { Operations } from '../operations/index.ts'
import type { Ask, AskedValue } from './ask.ts'
import type { Asking } from './asking.ts'
import { foundOrMade } from './found-or-made.ts'
import { assistantNotFound } from './run-assistant.ts'
import { isSeen, requireSeen } from './seen.ts'
import { shownBody } from './shown-body.ts'

type Metadata = Record<string, unknown>

/** Operations on assistants. Each asks the login of its caller first, if there is one. */
export class AllowedAssistants {
  readonly #assistants: Operations['assistants']
  readonly #ask: Ask

  constructor(assistants: Operations['assistants'], ask: Ask) {
    this.#assistants = assistants
    this.#ask = ask
  }

  /** An assistant that is there already and that the caller does not see is `exists`. */
  async create(caller: Asking, request: CreateAssistant): Promise<AssistantRow> {
    const { assistant_id: id, if_exists } = request
    const { value, filter } = await this.#ask(caller, 'assistants:create', { ...bodyOf(request),
      metadata: request.metadata ?? {}, if_exists: if_exists ?? 'raise' })
    const allowed = { ...request, metadata: value['metadata'] as Metadata }
    if (filter === undefined || id === undefined || if_exists !== 'do_nothing') {
      return await this.#assistants.create(caller.tenant, allowed)
    }
    return await foundOrMade({
      find: () => this.#existing(caller, id, filter),
      make: () => this.#assistants.create(caller.tenant, { ...allowed, if_exists: 'raise' }),
    })
  }

  async get(caller: Asking, name: string): Promise<AssistantRow> {
    const { row, filter } = await this.#read(caller, name)
    requireSeen(filter, row, () => assistantNotFound(row.assistantId))
    return row
  }

  /**
   * Returns the assistant of an agent. The own assistant of a graph has no owner, so a filter on
   * metadata does not hide it: each caller who may make runs may run it.
   */
  async agent(caller: Asking, name: string): Promise<AssistantRow> {
    const { row, filter } = await this.#read(caller, name)
    if (systemAssistantId(row.graphId) !== row.assistantId) {
      requireSeen(filter, row, () => assistantNotFound(row.assistantId))
    }
    return row
  }

  async patch(caller: Asking, name: string, request: PatchAssistant): Promise<AssistantRow> {
    const { value, filter } = await this.#ask(caller, 'assistants:update', { assistant_id: name,
      ...bodyOf(request), metadata: request.metadata })
    await this.#requireSeen(caller, name, filter)
    return await this.#assistants.patch(caller.tenant, name, { ...request,
      metadata: value['metadata'] as Metadata | undefined }, filter)
  }

  async setLatest(caller: Asking, name: string, version: number): Promise<AssistantRow> {
    const filter = await this.#require(caller, 'assistants:update', name, { version })
    return await this.#assistants.setLatest(caller.tenant, name, version, filter)
  }

  async versions(caller: Asking, name: string, request: ListVersions,
    cancelled?: AbortSignal): Promise<AssistantRow[]> {
    await this.#require(caller, 'assistants:read', name)
    return await this.#assistants.versions(caller.tenant, name, request, cancelled)
  }

  /** Its threads are asked for as well, if they are to be deleted. */
  async delete(caller: Asking, name: string, deleteThreads: boolean): Promise<void> {
    const allowed = await this.#require(caller, 'assistants:delete', name, {
      delete_threads: deleteThreads,
    })
    if (!deleteThreads) {
      return await this.#assistants.delete(caller.tenant, name, false, { allowed })
    }
    const { filter: threads } = await this.#ask(caller, 'threads:delete', { thread_id: null,
      filter: { metadata: { assistant_id: name } } })
    await this.#assistants.delete(caller.tenant, name, true, { allowed, threads })
  }

  async search(caller: Asking, request: SearchAssistants,
    cancelled?: AbortSignal): Promise<{ rows: AssistantRow[]; total: number }> {
    const allowed = await this.#searched(caller, request)
    return await this.#assistants.search(caller.tenant, request, cancelled, allowed)
  }

  async count(caller: Asking, request: CountAssistants, cancelled?: AbortSignal): Promise<number> {
    const allowed = await this.#searched(caller, request)
    return await this.#assistants.count(caller.tenant, request, cancelled, allowed)
  }

  async graph(caller: Asking, name: string, xray: boolean | number): Promise<unknown> {
    await this.#require(caller, 'assistants:read', name)
    return await this.#assistants.graph(caller.tenant, name, xray)
  }

  async schemas(caller: Asking, name: string,
    typesWaitMs?: number): Promise<GraphSchemas & { readonly graph_id: string }> {
    await this.#require(caller, 'assistants:read', name)
    return await this.#assistants.schemas(caller.tenant, name, typesWaitMs)
  }

  async subgraphs(caller: Asking, name: string, namespace: string | null,
    recurse: boolean): Promise<Readonly<Record<string, GraphSchemas>>> {
    await this.#require(caller, 'assistants:read', name)
    return await this.#assistants.subgraphs(caller.tenant, name, namespace, recurse)
  }

  /** The names of the graphs say nothing of anybody's data: nobody is asked. */
  graphIds({ tenant }: Asking): ReturnType<Operations['assistants']['graphIds']> {
    return this.#assistants.graphIds(tenant)
  }

  /** As the names, what a graph takes. */
  describe({ tenant }: Asking, graphId: string): ReturnType<Operations['assistants']['describe']> {
    return this.#assistants.describe(tenant, graphId)
  }

  /** A notice says nothing of what has changed: nobody is asked. */
  onChange({ tenant }: Asking, changed: () => void): () => void {
    return this.#assistants.onChange(tenant, changed)
  }

  async #read(caller: Asking, name: string) {
    const { filter } = await this.#ask(caller, 'assistants:read', { assistant_id: name })
    return { filter, row: await this.#assistants.get(caller.tenant, name) }
  }

  async #require(caller: Asking,
    event: 'assistants:read' | 'assistants:update' | 'assistants:delete', name: string,
    more: AskedValue = {}): Promise<MetadataFilter | undefined> {
    const { filter } = await this.#ask(caller, event, { assistant_id: name, ...more })
    await this.#requireSeen(caller, name, filter)
    return filter
  }

  async #requireSeen({ tenant }: Asking, name: string,
    filter: MetadataFilter | undefined): Promise<void> {
    if (filter === undefined) return
    const row = await this.#assistants.get(tenant, name)
    requireSeen(filter, row, () => assistantNotFound(row.assistantId))
  }

  async #searched(caller: Asking, request: SearchAssistants): Promise<MetadataFilter | undefined> {
    const { graph_id, metadata, limit, offset } = request
    const { filter } = await this.#ask(caller, 'assistants:search', { graph_id,
      metadata: metadata ?? {}, limit, offset })
    return filter
  }

  async #existing({ tenant }: Asking, id: string,
    filter: MetadataFilter): Promise<AssistantRow | undefined> {
    const row = await this.#assistants.get(tenant, id).catch(ignoreNotFound)
    if (row === undefined || isSeen(filter, row)) return row
    throw new HeddleError('exists', `Assistant ${id} already exists.`)
  }
}

/** The body as a handler sees it, without its metadata. */
function bodyOf({ metadata: _, ...body }: Partial<CreateAssistant> | PatchAssistant): AskedValue {
  return shownBody(body)
}
