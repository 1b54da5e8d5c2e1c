/** Reads and writes the records of deployments and of their revisions. */

import type { Env } from '../../../cluster/index.ts'
import { ignoreStale } from '../../errors.ts'
import type { CautiousClock } from '../../limits/index.ts'
import type { CatalogClient, CatalogRecord } from '../../platform/index.ts'
import type { Deployment } from '../deployment.ts'
import { bodyOf, deploymentOf } from './deployment-record.ts'
import type { StoredDeployment, Unsettled } from './deployment-record.ts'
import { heldHosts } from './host-claims.ts'
import { deploymentCatalog, recordsOf, revisionCatalog } from './record-places.ts'
import { revisionOf, revisionRecord } from './revision-record.ts'
import type { StoredRevision } from './revision-record.ts'

/** Stores and clock for reading and writing records. */
export interface RecordParts {
  readonly catalogs: CatalogClient
  readonly env: Pick<Env, 'nowMs' | 'uuid'>
  /** The time by which records are removed for good. */
  readonly cautiousNowMs: CautiousClock
}

/** The records of all deployments. All methods throw HeddleError. */
export class StoredDeployments {
  readonly #catalogs: CatalogClient

  constructor({ catalogs }: Pick<RecordParts, 'catalogs'>) {
    this.#catalogs = catalogs
  }

  /** Undefined if there is none. Without hosts. */
  async byId(id: string): Promise<StoredDeployment | undefined> {
    const [record] = await this.#catalogs.get(deploymentCatalog, [id])
    return record && deploymentOf(record, () => false)
  }

  /** The deployments of records, with the hosts that they hold. */
  async of(records: readonly CatalogRecord[]): Promise<readonly Deployment[]> {
    const held = await heldHosts(this.#catalogs, records)
    return records.map((record) => {
      const { references: _, unsettled: __, heldBytes: ___, ...deployment } = deploymentOf(record,
        (host) => held.get(record.id)?.has(host) ?? false)
      return deployment
    })
  }

  /** Those of a tenant, the oldest first. Without hosts. */
  ofTenant(tenant: string): Promise<readonly StoredDeployment[]> {
    return this.#oldest({ metadata: { tenant } })
  }

  /** All, the oldest first. Without hosts. */
  oldest(): Promise<readonly StoredDeployment[]> {
    return this.#oldest({})
  }

  /**
   * Changes the references of revisions. Undefined if another change came first since the
   * deployment was read, or if it is being removed.
   */
  async refer({ id, references }: StoredDeployment,
    { addedBytes, ...change }: { readonly addedBytes: number; readonly revisionCount?: number;
      readonly unsettled: Unsettled }): Promise<StoredDeployment | undefined> {
    return await this.#changed(id, {
      bodyJson: bodyOf({ ...change, references: references + 1 }),
      heldBytesAdded: addedBytes,
      expected: { references, removing: false },
    })
  }

  /**
   * Makes each process that read the deployment before read it again: uploads, and changes of
   * pointers. Undefined if it was changed since it was read.
   */
  async fence({ id, step, references, heldBytes }: StoredDeployment,
    bytes: number): Promise<StoredDeployment | undefined> {
    return await this.#changed(id, {
      bodyJson: bodyOf({ references: references + 1, step: step + 1 }),
      heldBytesAdded: bytes - heldBytes,
      expected: { references, step },
    })
  }

  /** All revisions of a deployment, the newest first. */
  async revisions(deployment: string,
    page: { readonly limit?: number; readonly offset?: number } = {}
  ): Promise<readonly StoredRevision[]> {
    const records = await recordsOf(this.#catalogs, revisionCatalog, { parentIds: [deployment],
      sortBy: 'order', descending: true }, page)
    return records.map(revisionOf)
  }

  /** Undefined if there is none. */
  async revision(deployment: string, name: string): Promise<StoredRevision | undefined> {
    const { records: [record] } = await this.#catalogs.list(revisionCatalog, { sortBy: 'name',
      name: `${deployment}/${name}`, descending: false, limit: 1, offset: 0 })
    return record && revisionOf(record)
  }

  async revisionById(id: string): Promise<StoredRevision | undefined> {
    const [record] = await this.#catalogs.get(revisionCatalog, [id])
    return record && revisionOf(record)
  }

  /** Writes the record of the newest revision, unless the process that began it has done so. */
  async settle({ unsettled }: StoredDeployment): Promise<void> {
    if (unsettled === null) return
    const { kind, revision } = unsettled
    const record = revisionRecord(revision)
    const { id: _, ...body } = revision
    await this.#catalogs.create(revisionCatalog, record, kind === 'begun' ? {} : {
      bodyJson: JSON.stringify(body),
      expected: { state: 'building' },
    }).catch(ignoreStale)
  }

  async changeRevision(id: string, change: Partial<StoredRevision>,
    expected?: Pick<Partial<StoredRevision>, 'state'>): Promise<StoredRevision> {
    return revisionOf(
      await this.#catalogs.change(revisionCatalog, id, { bodyJson: JSON.stringify(change),
        ...expected && { expected } }),
    )
  }

  async deleteRevision(id: string): Promise<void> {
    await this.#catalogs.delete(revisionCatalog, id)
  }

  async #oldest(
    query: { readonly metadata?: Readonly<Record<string, string>> },
  ): Promise<readonly StoredDeployment[]> {
    const records = await recordsOf(this.#catalogs, deploymentCatalog, { ...query, hasParent: false,
      sortBy: 'created', descending: false })
    return records.map((record) => deploymentOf(record, () => false))
  }

  async #changed(id: string, change: Parameters<CatalogClient['change']>[2]) {
    const record = await this.#catalogs.change(deploymentCatalog, id, change).catch(ignoreStale)
    return record && deploymentOf(record, () => false)
  }
}
