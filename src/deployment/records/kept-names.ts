/**
 * Keeps names of deployments, which belong to the server: `/d/shop` is one address for all tenants.
 * The name of a removed deployment stays its tenant's for a while, so that no other tenant gets the
 * requests of its callers.
 */

import { HeddleError, ignoreNotFound } from '../../errors.ts'
import type { CatalogRecord } from '../../platform/index.ts'
import type { Deployment } from '../deployment.ts'
import { deploymentCatalog, recordsOf } from './record-places.ts'
import { StoredFields } from './stored-fields.ts'
import type { RecordParts } from './stored-deployments.ts'

const prefix = 'removed '
/** Days that a name is kept, and names of a tenant that are: the newest. */
const [keptDays, keptMax] = [30, 20]
const keptMs = keptDays * 24 * 3_600_000

/** Keeps the name of a deployment for its tenant. It may be called again. */
export async function keepName({ catalogs, env, cautiousNowMs }: RecordParts,
  { id, name, tenant, preview }: Deployment): Promise<void> {
  // The name of a preview begins with that of its deployment, which keeps it.
  if (preview !== null) return
  const bodyJson = JSON.stringify({ tenant, untilMs: env.nowMs() + keptMs })
  await catalogs.create(deploymentCatalog, { id: env.uuid(), name: `${prefix}${name}`,
    orderMs: env.nowMs(), parentId: id, metadataJson: JSON.stringify({ tenant }), bodyJson }, {
    bodyJson,
  })
  const kept =
    (await recordsOf(catalogs, deploymentCatalog, { metadata: { tenant }, sortBy: 'created',
      descending: true })).filter((each) => each.name.startsWith(prefix))
  const isOver = (each: CatalogRecord, place: number) =>
    place >= keptMax || keptBy(each).untilMs <= cautiousNowMs()
  for (const each of kept.filter(isOver)) {
    await catalogs.delete(deploymentCatalog, each.id).catch(ignoreNotFound)
  }
}

/**
 * Throws `exists` for a name that another tenant has or has had, or that begins with such a name
 * and `--`, as those of its previews do.
 */
export async function requireOwnName(parts: Pick<RecordParts, 'catalogs' | 'cautiousNowMs'>,
  { name, tenant }: { readonly name: string; readonly tenant: string }): Promise<void> {
  for (const each of [name, ...beginningsOf(name)]) {
    const found = await ownerOf(parts, each)
    if (found === undefined || found.tenant === tenant) continue
    throw new HeddleError('exists', found.untilMs === undefined
      ? `The name ${each} belongs to another tenant of this server, which has one address for ` +
        'each name: choose another.'
      : `The name ${each} was of another tenant until its deployment was removed, and stays its ` +
        `own for ${keptDays} days: choose another.`)
  }
}

/** Names that a name begins with: `a` and `a--b` for `a--b--c`. */
function beginningsOf(name: string): readonly string[] {
  return [...name.matchAll(/--/g)].map(({ index }) => name.slice(0, index))
    .filter((each) => each !== '')
}

async function ownerOf({ catalogs, cautiousNowMs }: Pick<RecordParts, 'catalogs' | 'cautiousNowMs'>,
  name: string): Promise<{ readonly tenant: string; readonly untilMs?: number } | undefined> {
  const find = async (recordName: string) =>
    (await catalogs.list(deploymentCatalog, { name: recordName, sortBy: 'name', descending: false,
      limit: 1, offset: 0 })).records[0]
  const there = await find(name)
  if (there !== undefined) return { tenant: new StoredFields(there.bodyJson).text('tenant', '') }
  const kept = await find(`${prefix}${name}`)
  return kept && keptBy(kept).untilMs > cautiousNowMs() ? keptBy(kept) : undefined
}

function keptBy(
  { bodyJson }: CatalogRecord,
): { readonly tenant: string; readonly untilMs: number } {
  const body = new StoredFields(bodyJson)
  return { tenant: body.text('tenant', ''), untilMs: body.number('untilMs', 0) }
}
