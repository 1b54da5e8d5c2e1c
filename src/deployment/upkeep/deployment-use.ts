/**
 * Notes on the callers of deployments, and on the last call of each preview. A record is kept for
 * each tenant that is not the owner, and for the callers of previews: a removal finds all data by
 * them.
 */

import { LRUCache } from '../../../cluster/index.ts'
import type { Env } from '../../../cluster/index.ts'
import { ignoreNotFound } from '../../errors.ts'
import { textAt, valueIn } from '../../json/index.ts'
import { namedId } from '../../platform/index.ts'
import type { CatalogClient } from '../../platform/index.ts'
import type { Deployment } from '../deployment.ts'
import { namespaceOf } from '../namespace.ts'
import { recordsOf, useCatalog } from '../records/record-places.ts'
import { noteMs } from './preview-end.ts'

/** Stores and clock that notes are kept with. */
export interface DeploymentUseParts {
  readonly catalogs: Pick<CatalogClient, 'create' | 'delete' | 'list'>
  readonly env: Pick<Env, 'nowMs' | 'monotonicMs' | 'log'>
}

/** The notes of requests. All methods throw HeddleError. */
export interface DeploymentUse {
  /**
   * Notes a request. Await it before the request is served. It costs a write for the first request
   * of another tenant to this member, and one an hour for a preview, which is not awaited.
   */
  note(deployment: Deployment, tenant: string): Promise<void>
  /** All namespaces that may have data. */
  namespaces(deployment: Deployment): Promise<readonly string[]>
  /** When it was last noted; 0 if it never was. */
  lastMs(deployment: Deployment): Promise<number>
  /** Removes the notes of a deployment. */
  forget(deployment: Deployment): Promise<void>
}

/** Callers that a member remembers. A forgotten caller is noted again. */
const rememberedMax = 10_000

interface Note {
  readonly untilMs: number
  readonly done: Promise<unknown>
}

/** Keeps notes in a catalog. */
export function deploymentUse({ catalogs, env }: DeploymentUseParts): DeploymentUse {
  const notes = new LRUCache<string, Note>({ max: rememberedMax })
  const recordsFor = (deployment: Deployment) =>
    recordsOf(catalogs, useCatalog, { parentIds: [deployment.id], sortBy: 'name',
      descending: false })
  const write = ({ id }: Deployment, tenant: string) => {
    const name = `${id}/${tenant}`
    const body = { bodyJson: JSON.stringify({ tenant }) }
    return catalogs.create(useCatalog, { id: namedId('deploymentUse', name), name, parentId: id,
      orderMs: env.nowMs(), metadataJson: '{}', ...body }, body)
  }
  return {
    note: async (deployment, tenant) => {
      const { id, preview } = deployment
      const isForeign = tenant !== deployment.tenant
      if (!isForeign && preview === null) return
      const key = `${id}/${tenant}`
      const before = notes.get(key)
      const nowMs = env.monotonicMs()
      // Requests at the same time wait for the same write.
      if (before !== undefined && nowMs < before.untilMs) {
        if (isForeign) await before.done
        return
      }
      const done = write(deployment, tenant)
      const untilMs = preview === null ? Infinity : nowMs + noteMs(preview)
      const note: Note = { untilMs, done }
      notes.set(key, note)
      done.catch((error: unknown) => {
        if (notes.get(key) === note) notes.delete(key)
        env.log.debug('The use of a deployment cannot be noted.', { error, deployment: id })
      })
      // Data of others would be found by nothing else. Those of the owner always are.
      if (isForeign && before === undefined) await done
    },
    namespaces: async (deployment) => {
      const tenants = (await recordsFor(deployment)).map(({ bodyJson }) => tenantIn(bodyJson))
      return [...new Set([deployment.tenant, ...tenants])]
        .map((tenant) => namespaceOf({ tenant, deployment: deployment.name }))
    },
    lastMs: async (deployment) =>
      Math.max(0, ...(await recordsFor(deployment)).map(({ modifiedAtMs }) => modifiedAtMs)),
    forget: async (deployment) => {
      for (const { id } of await recordsFor(deployment)) {
        await catalogs.delete(useCatalog, id).catch(ignoreNotFound)
      }
    },
  }
}

function tenantIn(bodyJson: string): string {
  return textAt(valueIn(bodyJson), 'tenant') ?? ''
}
