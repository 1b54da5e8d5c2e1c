/** Removes what the platform keeps of a namespace: projects with their traces, and all records. */

import { HeddleError, ignoreNotFound } from '../../errors.ts'
import type { NamespaceOwner } from '../../deployment/index.ts'
import { tenantId } from '../../platform/index.ts'
import type { CatalogClient, CatalogName, CatalogRecord, DocumentPlace, Platform,
  SharedObject } from '../../platform/index.ts'

type Collection = CatalogName['collection']
type OpenPlatform = Pick<Platform, 'documents' | 'ingest' | 'query' | 'rules' | 'shares'>

/** Places of the records of a namespace. */
export interface PlatformDataParts {
  readonly catalogs: CatalogClient
  readonly platform: OpenPlatform
  readonly tenant: string
  readonly owner: NamespaceOwner
}

/** Namespace whose traces are looked for. */
export interface TracesQuestion {
  readonly catalogs: CatalogClient
  readonly platform: Pick<Platform, 'query'>
  readonly tenant: string
  readonly owner: NamespaceOwner
}

/**
 * The collections of a tenant. Collections that act by themselves or show things to others come
 * first.
 */
const collections: readonly Collection[] = ['trace_deletion', 'experiment', 'rule', 'rule_state',
  'rule_wake', 'share', 'evaluator', 'queue', 'chart', 'chart_section', 'view', 'comparison',
  'dataset', 'comment', 'prompt', 'feedback_config', 'secret', 'price', 'playground', 'workspace',
  'project', 'project_name']

/** The documents that belong to a record. */
const documentsOf: { readonly [Name in Collection]?: readonly DocumentPlace['kind'][] } = {
  rule: ['rule_log'],
  queue: ['queue_run'],
  prompt: ['commit'],
}

const page = { sortBy: 'name', descending: false, offset: 0 } as const

/** Records of a page at most, and feedback, whose rows may be long. */
const [pageRecords, pageFeedback] = [100, 20]

/** Returns true if the namespace has projects or recorded calls. */
export async function hasTraces(
  { catalogs, platform, tenant, owner: { id, createdAtMs } }: TracesQuestion,
): Promise<boolean> {
  const { total } = await catalogs.list({ tenant, collection: 'project' }, { ...page, limit: 1 })
  if (total > 0) return true
  return await platform.query.hasRecordings({ tenant, deployment: { id, createdAtMs } })
}

/**
 * Removes all records of a namespace with their documents, and the recorded calls of its runs,
 * which no catalog lists. Returns how many there were.
 */
export async function removePlatformData(parts: PlatformDataParts): Promise<number> {
  let count = 0
  for (const collection of collections) count += await removeCollection(parts, collection)
  count += await parts.platform.ingest.removeUnlisted({ tenant: parts.tenant,
    deployment: parts.owner.id })
  count += await removeFeedback(parts)
  // The list of all that have secrets.
  await parts.catalogs.delete({ tenant: '*', collection: 'secret_tenant' }, tenantId(parts.tenant))
    .catch(ignoreNotFound)
  return count
}

/** Removes feedback on runs that never came: no project leads to it. */
async function removeFeedback(
  { platform: { ingest, query }, tenant }: PlatformDataParts,
): Promise<number> {
  for (let count = 0;;) {
    const rows = await query.listFeedback({ tenant, limit: pageFeedback, offset: 0 })
    if (rows.length === 0) return count
    for (const { id } of rows) await ingest.deleteFeedback({ tenant, id })
    count += rows.length
  }
}

async function removeCollection(parts: PlatformDataParts, collection: Collection): Promise<number> {
  const { catalogs, tenant } = parts
  for (let count = 0;;) {
    const { records } = await catalogs.list({ tenant, collection }, { ...page, limit: pageRecords })
    if (records.length === 0) return count
    for (const record of records) await removeRecord(parts, collection, record)
    count += records.length
  }
}

/**
 * Removes a record last, after all to which only it leads: a removal that was cut off finds the
 * rest.
 */
async function removeRecord({ catalogs, platform, tenant }: PlatformDataParts,
  collection: Collection, { id, bodyJson }: CatalogRecord): Promise<void> {
  for (const kind of documentsOf[collection] ?? []) {
    await platform.documents.dropDocuments({ tenant, kind, owner: id })
  }
  if (collection === 'project') {
    await platform.ingest.remove({ tenant, what: { kind: 'project', project: id } })
  }
  if (collection === 'dataset') await platform.ingest.dropExamples({ tenant, dataset: id })
  if (collection === 'share') {
    const { object } = JSON.parse(bodyJson) as { readonly object: SharedObject }
    await platform.shares.revoke(tenant, object)
  }
  if (collection === 'rule') {
    await platform.rules?.delete(tenant, id).catch((error: unknown) => {
      // An unreadable rule is only a record, which is deleted below.
      if (HeddleError.from(error).retry !== 'no') throw error
    })
  }
  await catalogs.delete({ tenant, collection }, id).catch(ignoreNotFound)
}
