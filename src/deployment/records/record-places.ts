/** Places of the records and documents of deployments, and a reader of records page by page. */

import type { CatalogClient, CatalogName, CatalogRecord, DocumentPlace,
  RecordQuery } from '../../platform/index.ts'
import { deploymentsTenant as tenant } from '../namespace.ts'

/** Deployments, and the host names that they hold. */
export const deploymentCatalog = { tenant, collection: 'deployment' } as const
/** The revisions of all deployments. */
export const revisionCatalog = { tenant, collection: 'revision' } as const
/** The newest event of each deployment. */
export const eventCatalog = { tenant, collection: 'deployment_event' } as const

/** Notes on the tenants that have called each deployment. */
export const useCatalog = { tenant, collection: 'deployment_use' } as const
/** The builds that have not ended, by the id of their revision. */
export const buildCatalog = { tenant, collection: 'build' } as const

/** Replays of recorded runs, by the newest. */
export const replayCatalog = { tenant, collection: 'replay' } as const

/** The verdicts of a replay, by the id of their run. */
export function verdictPlace(owner: string): DocumentPlace {
  return { tenant, kind: 'replay_verdict', owner }
}

/** Uploaded files for the build of a revision. */
export function sourcePlace(owner: string): DocumentPlace {
  return { tenant, kind: 'build_source', owner }
}

/** The chunks of a deployment. A key is `<sha256>/<number of the revision that brought it>`. */
export function chunkPlace(owner: string): DocumentPlace {
  return { tenant, kind: 'revision_chunk', owner }
}

/** The manifests of a deployment, what they refer to, and which chunks are there. */
export function manifestPlace(owner: string): DocumentPlace {
  return { tenant, kind: 'revision_manifest', owner }
}

/** The events of a deployment, except for the newest one. */
export function eventPlace(owner: string): DocumentPlace {
  return { tenant, kind: 'deployment_event', owner }
}

/** Records of a page at most. */
const pageRecords = 100

/** Records of a catalog, however many pages they are. */
export async function recordsOf(catalogs: Pick<CatalogClient, 'list'>, catalog: CatalogName,
  query: Omit<RecordQuery, 'limit' | 'offset' | 'after'>,
  { limit = Infinity, offset = 0 } = {}): Promise<readonly CatalogRecord[]> {
  const found: CatalogRecord[] = []
  for (let after: CatalogRecord | undefined; found.length < limit;) {
    const { records } = await catalogs.list(catalog, { ...query,
      limit: Math.min(pageRecords, limit - found.length), offset: after === undefined ? offset : 0,
      ...after && { after } })
    found.push(...records)
    after = records.at(-1)
    if (records.length === 0) break
  }
  return found
}
