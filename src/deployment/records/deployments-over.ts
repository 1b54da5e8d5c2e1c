/** The records of deployments, over the platform's catalogs and documents. */

import { hash } from 'node:crypto'

import type { Env } from '../../../cluster/index.ts'
import { HeddleError, ignoreNotFound, ignoreStale } from '../../errors.ts'
import { cautiousClock } from '../../limits/index.ts'
import type { CatalogClient, DocumentPort } from '../../platform/index.ts'
import type { Deployment, DeploymentChange } from '../deployment.ts'
import type { NewEvent, OwedEvent } from '../deployment-event.ts'
import type { Deployments, DeploymentSecrets, NewDeployment } from '../deployments.ts'
import { isDeploymentName } from '../namespace.ts'
import type { Revision, RevisionChange } from '../revision.ts'
import type { RevisionUse } from '../revision-use.ts'
import { begin, deploymentsLimits, endBuild, requireManifest, requireRoom,
  triesMax } from './beginning.ts'
import type { BeginningParts, DeploymentsLimits } from './beginning.ts'
import { DeploymentEvents } from './deployment-events.ts'
import { bodyOf, changedBody, newDeploymentRecord } from './deployment-record.ts'
import { requireChange, requireSoundDeployment } from './deployment-input.ts'
import { releaseHosts, requireFreeHosts, settleHosts } from './host-claims.ts'
import { keepName, requireOwnName } from './kept-names.ts'
import { deploymentCatalog, recordsOf } from './record-places.ts'
import { deleteUnneeded, removeRevisions } from './removal.ts'
import { removeReplaysOf } from './replay-removal.ts'
import { retentionLimits, revisionsToRemove } from './retention.ts'
import { RevisionContents } from './revision-content.ts'
import type { StoredRevision } from './revision-record.ts'
import { StoredDeployments } from './stored-deployments.ts'

/** Stores, ports and limits for the records of deployments. */
export interface DeploymentsParts {
  readonly catalogs: CatalogClient
  readonly documents: DocumentPort
  /** Secrets that are removed together with their deployment. */
  readonly secrets: Pick<DeploymentSecrets, 'drop'>
  readonly env: Pick<Env, 'nowMs' | 'monotonicMs' | 'uuid'>
  readonly limits?: Partial<DeploymentsLimits>
  /** Called with the deployment's id after each event that is noted here. */
  readonly noted?: (deployment: string) => void
}

/** The deployments of a cluster. */
export function deploymentsOver(parts: DeploymentsParts): Deployments {
  return new CatalogDeployments(parts)
}

class CatalogDeployments implements Deployments {
  readonly #parts: DeploymentsParts & BeginningParts
  readonly #stored: StoredDeployments
  readonly #contents: RevisionContents
  readonly #events: DeploymentEvents

  constructor(parts: DeploymentsParts) {
    this.#stored = new StoredDeployments(parts)
    this.#contents = new RevisionContents(parts.documents)
    this.#events = new DeploymentEvents(parts)
    this.#parts = { ...parts, cautiousNowMs: cautiousClock(parts.env), stored: this.#stored,
      contents: this.#contents, limits: { ...deploymentsLimits, ...parts.limits } }
  }

  async create(said: NewDeployment): Promise<Deployment> {
    const options = requireSoundDeployment(said)
    const { catalogs, env } = this.#parts
    this.#requireTruth()
    await this.#requireOwner(options.tenant)
    await requireOwnName(this.#parts, options)
    await this.#requireRoomFor(options.tenant)
    if (options.preview) await this.#requireOwn(options.tenant, options.preview.of)
    const id = env.uuid()
    await requireFreeHosts(catalogs, id, options.hosts ?? [])
    const record = await catalogs.create(deploymentCatalog,
      newDeploymentRecord(id, options, env.nowMs()))
    try {
      await this.#requireOwner(options.tenant, id)
      await this.#requireRoomFor(options.tenant, id)
      await settleHosts(this.#parts, record)
    } catch (error) {
      await releaseHosts(catalogs, id)
      await catalogs.delete(deploymentCatalog, id).catch(ignoreNotFound)
      throw error
    }
    return (await this.#stored.of([record]))[0]!
  }

  async get(name: string): Promise<Deployment> {
    const { records } = !isDeploymentName(name)
      ? { records: [] }
      : await this.#parts.catalogs.list(deploymentCatalog, { name, sortBy: 'name',
        descending: false, limit: 1, offset: 0 })
    const [found] = await this.#stored.of(records)
    if (found !== undefined) return found
    throw new HeddleError('not_found', `The deployment ${name} does not exist.`)
  }

  async list({ tenant, ...page }: Parameters<Deployments['list']>[0]) {
    return await this.#stored.of(
      await recordsOf(this.#parts.catalogs, deploymentCatalog, { hasParent: false, sortBy: 'name',
        descending: false, ...tenant !== undefined && { metadata: { tenant } } }, page),
    )
  }

  async change(deployment: Deployment, said: DeploymentChange): Promise<Deployment> {
    const change = requireChange(said)
    const { catalogs, env } = this.#parts
    const { id, step } = deployment
    if (change.hosts !== undefined) await requireFreeHosts(catalogs, id, change.hosts)
    const record = await this.#changed(deployment, changedBody(deployment, change, env.nowMs()))
    if (change.hosts !== undefined) {
      try {
        await settleHosts(this.#parts, record)
      } catch (error) {
        // If it was changed again meanwhile, that change says which hosts it has.
        const former = bodyOf({ hosts: deployment.hosts, step: step + 2 })
        await this.#changed({ ...deployment, step: step + 1 }, former)
          .then((after) => settleHosts(this.#parts, after)).catch(ignoreStale)
        throw error
      }
    }
    return (await this.#stored.of([record]))[0]!
  }

  async remove(deployment: Deployment): Promise<void> {
    const { id } = deployment
    const { catalogs, secrets } = this.#parts
    if (!await this.#markRemoving(id)) return
    for (const { id: revision } of await this.#stored.revisions(id)) {
      await this.#stored.deleteRevision(revision)
    }
    await this.#contents.dropAll(id)
    await secrets.drop(id)
    await this.#events.drop(id)
    await removeReplaysOf(this.#parts, id)
    await releaseHosts(catalogs, id)
    await keepName(this.#parts, deployment)
    // Last: with it goes whatever leads to the rest.
    await catalogs.delete(deploymentCatalog, id).catch(ignoreNotFound)
  }

  async revisions({ id }: Deployment, page: { readonly limit: number; readonly offset: number }) {
    return await this.#stored.revisions(id, page)
  }

  async revision({ id, name: deployment }: Deployment, name: string): Promise<Revision> {
    const found = await this.#stored.revision(id, name)
    if (found !== undefined) return found
    throw new HeddleError('not_found', `${deployment} has no revision ${name}.`)
  }

  async beginRevision({ id }: Deployment,
    { manifest: said, message, by }: Parameters<Deployments['beginRevision']>[1]) {
    const { revision, known } = await begin(this.#parts, id, { message, by,
      manifest: requireManifest(said) })
    if (!known) await this.#requireStillRoom(id, revision)
    return { revision, known, missing: await this.missing(revision) }
  }

  async beginBuild({ id }: Deployment, { message, by }: Parameters<Deployments['beginBuild']>[1]) {
    return (await begin(this.#parts, id, { message, by })).revision
  }

  async endBuild({ id }: Deployment, { id: revision }: Revision,
    manifest: Parameters<Deployments['endBuild']>[2]): Promise<Revision> {
    const ended = await endBuild(this.#parts, id, revision, requireManifest(manifest))
    await this.#requireStillRoom(id, ended)
    return ended
  }

  async changeRevision({ id, state }: Revision, change: RevisionChange): Promise<Revision> {
    return await this.#stored.changeRevision(id, change, { state })
  }

  async removeRevision(deployment: Deployment, { id }: Revision): Promise<Revision> {
    await removeRevisions(this.#parts, deployment, [await this.#present(id)])
    return await this.#present(id)
  }

  async collect(deployment: Deployment,
    use: ReadonlyMap<string, RevisionUse>): Promise<readonly Revision[]> {
    const { cautiousNowMs, limits: { revisions } } = this.#parts
    const all = await this.#stored.revisions(deployment.id)
    const old = revisionsToRemove(deployment, all, use, cautiousNowMs(), { ...retentionLimits,
      revisions })
    const isLeft = all.some(({ state, swept }) => state === 'removed' && !swept)
    if (old.length > 0 || isLeft) await removeRevisions(this.#parts, deployment, old)
    return old
  }

  async manifest(revision: Revision) {
    return (await this.#content(revision)).manifest
  }

  async missing(revision: Revision): Promise<readonly string[]> {
    const { copies } = await this.#content(revision)
    return await this.#contents.missing(revision.deployment, copies)
  }

  async putChunk(revision: Revision, sha256: string, data: Uint8Array): Promise<void> {
    const { deployment, name, id } = revision
    const { copies } = await this.#content(revision)
    const copy = copies.get(sha256)
    if (copy === undefined) {
      throw new HeddleError('not_found', `The manifest of ${name} names no chunk ${sha256}.`)
    }
    if (data.byteLength !== copy.bytes || hash('sha256', data) !== sha256) {
      throw new HeddleError('invalid', `These ${data.byteLength} bytes are not the ${copy.bytes} ` +
        `of the chunk ${sha256}: send it again.`)
    }
    const one: typeof copies = new Map([[sha256, copy]])
    if ((await this.#contents.missing(deployment, one)).length === 0) return
    await this.#contents.putChunk(deployment, sha256, copy, data)
    const after = await this.#stored.revisionById(id)
    if (after !== undefined && after.state !== 'removed') return
    await deleteUnneeded(this.#parts, deployment, [...one])
    throw gone(name)
  }

  readChunks(deploymentId: string) {
    return this.#contents.readChunks(deploymentId)
  }

  async note(deployment: string, event: NewEvent) {
    const noted = await this.#events.note(deployment, event)
    this.#parts.noted?.(deployment)
    return noted
  }

  async noteOwed(deployment: string, event: OwedEvent): Promise<void> {
    await this.#events.noteOwed(deployment, event)
    this.#parts.noted?.(deployment)
  }

  async settle(deployment: Deployment): Promise<void> {
    // The step stays, so that changes of others, who have read the record before, go on.
    await this.#changed(deployment, bodyOf({ owed: [] }))
  }

  async events(...args: Parameters<Deployments['events']>) {
    return await this.#events.list(...args)
  }

  async #changed({ id, name, step }: Deployment, bodyJson: string) {
    const expected = { step, removing: false }
    try {
      return await this.#parts.catalogs.change(deploymentCatalog, id, { bodyJson, expected })
    } catch (error) {
      if (HeddleError.from(error).code !== 'stale') throw error
      const now = await this.#stored.byId(id)
      throw new HeddleError('stale', now?.removing !== false
        ? `The deployment ${name} is being removed.`
        : `The deployment ${name} was changed meanwhile, and ${now.active ?? 'no revision'} is ` +
          'active: read it again.')
    }
  }

  /** Marks the deployment as being removed. False if it does not exist. */
  async #markRemoving(id: string): Promise<boolean> {
    for (let tries = 0; tries < triesMax; tries++) {
      const now = await this.#stored.byId(id)
      if (now === undefined) return false
      if (now.removing) return true
      await this.#changed(now, bodyOf({ removing: true, step: now.step + 1 })).catch(ignoreStale)
    }
    throw new HeddleError('stale', 'The deployment changes all the time: remove it again.')
  }

  /** Throws unless the caller owns the deployment whose secrets a preview uses. */
  async #requireOwn(tenant: string, of: string): Promise<void> {
    const found = await this.get(of)
    if (found.tenant === tenant && found.preview === null) return
    throw new HeddleError('not_found', `The deployment ${of} does not exist.`)
  }

  /** Throws `forbidden` if code of deployments could call as every user. */
  #requireTruth(): void {
    const { posing } = this.#parts.limits
    if (posing.length === 0) return
    throw new HeddleError('forbidden', 'This server takes no new deployments, because their code ' +
      `could call as every user: --user-proxies includes ${
        posing.join(', ')
      }, which code of this ` +
      'machine can call from. Its operator lets the proxy send signed tokens (--jwt-issuer), ' +
      'names other addresses, or allows it with --trust-tenants.')
  }

  /** Throws `forbidden` if another tenant owns deployments. With an id: if that one came first. */
  async #requireOwner(tenant: string, id?: string): Promise<void> {
    if (this.#parts.limits.owners === 'any') return
    const all = await this.#stored.oldest()
    const place = id === undefined ? all.length : all.findIndex((each) => each.id === id)
    if (all.slice(0, place).every((each) => each.tenant === tenant)) return
    throw new HeddleError('forbidden', 'This server runs the deployments of one tenant, which is ' +
      'another one. Its operator allows others with --graphs-users or --trust-tenants.')
  }

  /** Throws `full`. With an id: if it is not among the first that the tenant may have. */
  async #requireRoomFor(tenant: string, id?: string): Promise<void> {
    const { deployments: most } = this.#parts.limits
    const others = await this.#stored.ofTenant(tenant)
    const place = id === undefined ? others.length : others.findIndex((each) => each.id === id)
    if (place < most) return
    throw new HeddleError('full', `${tenant} may have ${most} deployments: remove one.`)
  }

  /** Throws if two deployments of the tenant took the last room at once. */
  async #requireStillRoom(deployment: string, revision: StoredRevision): Promise<void> {
    const now = await this.#stored.byId(deployment)
    if (now === undefined) throw gone(revision.name)
    try {
      await requireRoom(this.#parts, now, 0)
    } catch (error) {
      await removeRevisions(this.#parts, now, [revision])
      throw error
    }
  }

  async #content({ id, name, deployment }: Revision) {
    const { content } = await this.#present(id)
    const found = content === null ? undefined : await this.#contents.get(deployment, content)
    if (found !== undefined) return found
    throw content === null
      ? new HeddleError('not_found', `${name} has no manifest before it is built.`)
      : gone(name)
  }

  async #present(id: string): Promise<StoredRevision> {
    const found = await this.#stored.revisionById(id)
    if (found !== undefined) return found
    throw new HeddleError('not_found', 'The revision does not exist.')
  }
}

function gone(name: string): HeddleError {
  return new HeddleError('not_found', `${name} was removed.`)
}
