/**
 * The client of assistants for the front door: one typed call for each command, whichever member
 * owns the assistant.
 */

import type { Router } from '../../cluster/index.ts'
import type { AssistantRow } from '../../proto/gen/storage/v1/row.ts'
import { asUnread } from '../errors.ts'
import { branchOf, ignoreDeletedByThis } from '../owned-row/index.ts'
import type { MetadataFilter } from '../search/index.ts'
import { assistantKindName } from './assistant-actor.ts'
import type { AssistantCommand, VersionQuery } from './assistant-actor.ts'
import type { AssistantChange, AssistantContent } from './assistant.ts'

/**
 * Calls assistants. Every call throws HeddleError: `not_found` for an assistant that does not
 * exist. Calls that change one take `allowed`: in their turn, an assistant that does not match this
 * filter is `not_found`.
 */
export interface AssistantClient {
  /** Throws `exists` if the assistant exists already, unless `ifExists` says to keep that one. */
  create(assistant: AssistantName, content: AssistantContent,
    ifExists: 'raise' | 'do_nothing'): Promise<AssistantRow>
  /** The row of an assistant, with its active version. */
  get(assistant: AssistantName): Promise<AssistantRow>
  /** Makes a new version, which becomes the active one. */
  patch(assistant: AssistantName, change: AssistantChange,
    allowed?: MetadataFilter): Promise<AssistantRow>
  /** Makes a version the active one. Throws `not_found` if there is no such version. */
  setLatest(assistant: AssistantName, version: number,
    allowed?: MetadataFilter): Promise<AssistantRow>
  /** Newest first. The cost of a page grows only with its length. */
  versions(assistant: AssistantName, query: VersionQuery,
    cancelled?: AbortSignal): Promise<AssistantRow[]>
  /** Deletes an assistant with all its versions. */
  delete(assistant: AssistantName, allowed?: MetadataFilter): Promise<void>
}

/** Key of an assistant, with its tenant. */
export interface AssistantName {
  readonly tenant: string
  readonly assistantId: string
}

/** The client that asks owners through a router. */
export function assistantClient(router: Router): AssistantClient {
  const ask = ({ tenant, assistantId }: AssistantName, command: AssistantCommand,
    cancelled?: AbortSignal) =>
    router.ask({ kind: assistantKindName, tenant, id: assistantId }, command, cancelled)
  const askRow = async (assistant: AssistantName, command: AssistantCommand) =>
    await ask(assistant, command) as AssistantRow
  const get = (assistant: AssistantName) => askRow(assistant, { kind: 'get' }).catch(asUnread)
  return {
    create: (assistant, content, ifExists) =>
      askRow(assistant, { kind: 'create', content, ifExists }),
    get,
    patch: (assistant, change, allowed) =>
      askRow(assistant, { kind: 'patch', change, ...allowed && { allowed } }),
    setLatest: (assistant, version, allowed) =>
      askRow(assistant, { kind: 'set_latest', version, ...allowed && { allowed } }),
    versions: async (assistant, query, cancelled) =>
      await ask(assistant, { kind: 'versions', query }, cancelled).catch(
        asUnread,
      ) as AssistantRow[],
    delete: async (assistant, allowed) => {
      // Retried after its owner died, the delete must not hit one made since with the same id.
      const { id: branchId } = branchOf(await get(assistant), assistant.assistantId)
      await ask(assistant, { kind: 'delete', branchId, ...allowed && { allowed } })
        .catch(ignoreDeletedByThis)
    },
  }
}
