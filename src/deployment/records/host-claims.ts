/**
 * Claims of host names. A claim is a record whose name is the host's, so one deployment of the
 * cluster has it. The record of the deployment lists the hosts that it wants: it has those that it
 * wants and holds. A claim is void if its deployment is gone or does not want the host.
 */

import type { Env } from '../../../cluster/index.ts'
import { HeddleError, ignoreNotFound } from '../../errors.ts'
import type { CatalogClient, CatalogRecord } from '../../platform/index.ts'
import { StoredFields } from './stored-fields.ts'
import { deploymentCatalog, recordsOf } from './record-places.ts'

/** Stores and clock that claims are made with. */
export interface ClaimParts {
  readonly catalogs: CatalogClient
  readonly env: Pick<Env, 'nowMs' | 'uuid'>
}

const prefix = 'host '
/** Tries of taking over a void claim, as another process may be faster. */
const triesMax = 10

/** The hosts that deployments hold, by the deployment's UUID. */
export async function heldHosts(catalogs: CatalogClient,
  deployments: readonly CatalogRecord[]): Promise<ReadonlyMap<string, ReadonlySet<string>>> {
  const wanting = deployments.filter((record) => wanted(record).length > 0).map(({ id }) => id)
  const held = new Map<string, Set<string>>()
  for (let at = 0; at < wanting.length; at += 100) {
    for (const claim of await claimsOf(catalogs, wanting.slice(at, at + 100))) {
      const hosts = held.get(claim.parentId) ?? new Set()
      held.set(claim.parentId, hosts.add(claim.name.slice(prefix.length)))
    }
  }
  return held
}

/** Throws `exists` if another deployment has one of the hosts. */
export async function requireFreeHosts(catalogs: CatalogClient, deployment: string,
  hosts: readonly string[]): Promise<void> {
  for (const host of hosts) {
    const claim = await claimOn(catalogs, host)
    if (claim === undefined || claim.parentId === deployment) continue
    if (!await isVoid(catalogs, claim, host)) throw taken(host)
  }
}

/**
 * Claims the hosts that the record wants, and releases the others. Throws `exists` if another
 * deployment has one.
 */
export async function settleHosts(parts: ClaimParts, record: CatalogRecord): Promise<void> {
  const hosts = wanted(record)
  for (const host of hosts) await claim(parts, record.id, host)
  const others = (await claimsOf(parts.catalogs, [record.id]))
    .filter(({ name }) => !hosts.includes(name.slice(prefix.length)))
  await release(parts.catalogs, others)
}

/** Releases all hosts of a deployment. */
export async function releaseHosts(catalogs: CatalogClient, deployment: string): Promise<void> {
  await release(catalogs, await claimsOf(catalogs, [deployment]))
}

async function claim({ catalogs, env }: ClaimParts, deployment: string,
  host: string): Promise<void> {
  for (let tries = 0; tries < triesMax; tries++) {
    const record = await catalogs.create(deploymentCatalog, { id: env.uuid(),
      name: `${prefix}${host}`, orderMs: env.nowMs(), parentId: deployment, metadataJson: '{}',
      bodyJson: '{}' }, {})
    if (record.parentId === deployment) return
    if (!await isVoid(catalogs, record, host)) throw taken(host)
    await release(catalogs, [record])
  }
  throw taken(host)
}

async function isVoid(catalogs: CatalogClient, { parentId }: CatalogRecord,
  host: string): Promise<boolean> {
  const [holder] = await catalogs.get(deploymentCatalog, [parentId])
  return holder === undefined || !wanted(holder).includes(host)
}

async function release(catalogs: CatalogClient, claims: readonly CatalogRecord[]): Promise<void> {
  for (const { id } of claims) await catalogs.delete(deploymentCatalog, id).catch(ignoreNotFound)
}

async function claimOn(catalogs: CatalogClient, host: string): Promise<CatalogRecord | undefined> {
  const { records } = await catalogs.list(deploymentCatalog, { name: `${prefix}${host}`,
    sortBy: 'name', descending: false, limit: 1, offset: 0 })
  return records[0]
}

function claimsOf(catalogs: CatalogClient,
  parentIds: readonly string[]): Promise<readonly CatalogRecord[]> {
  return recordsOf(catalogs, deploymentCatalog, { parentIds, sortBy: 'name', descending: false })
}

function wanted({ bodyJson }: CatalogRecord): readonly string[] {
  return new StoredFields(bodyJson).texts('hosts')
}

function taken(host: string): HeddleError {
  return new HeddleError('exists', `A deployment with the host ${host} already exists.`)
}
