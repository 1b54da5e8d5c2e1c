/** Removes replays with their verdicts. */

import { ignoreNotFound } from '../../errors.ts'
import type { CatalogClient, DocumentPort } from '../../platform/index.ts'
import { recordsOf, replayCatalog, verdictPlace } from './record-places.ts'

/** Stores of replays. */
export interface ReplayStores {
  readonly catalogs: CatalogClient
  readonly documents: DocumentPort
}

/** Removes a replay. The verdicts first: the record leads to them. */
export async function removeReplay({ catalogs, documents }: ReplayStores,
  id: string): Promise<void> {
  await documents.dropDocuments(verdictPlace(id))
  await catalogs.delete(replayCatalog, id).catch(ignoreNotFound)
}

/** Removes all of a deployment. */
export async function removeReplaysOf(stores: ReplayStores, deploymentId: string): Promise<void> {
  const records = await recordsOf(stores.catalogs, replayCatalog, { parentIds: [deploymentId],
    sortBy: 'created', descending: false })
  for (const { id } of records) await removeReplay(stores, id)
}
