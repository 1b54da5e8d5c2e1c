/**
 * The shares of tenants. The record in a catalog decides: without it, the token is invalid at once,
 * on all members. A document leads from the token to the record.
 */

import type { Env } from '../../../../cluster/index.ts'
import { HeddleError, ignoreNotFound } from '../../../errors.ts'
import type { CatalogClient } from '../catalog/catalog-client.ts'
import type { CatalogRecord } from '../catalog/catalog-record.ts'
import type { DocumentPort } from '../../spans/document-port.ts'
import { readUuid } from '../../../uuid-bytes.ts'
import type { Uuid } from '../../spans/span.ts'
import { shareId, shareName, shareToken, tokenPlace } from './share.ts'
import type { Share, SharedObject } from './share.ts'

/** Shares. All methods throw HeddleError. */
export interface Shares {
  /** The token of the object, made if it has none. `full` if there is no room. */
  make(tenant: string, object: SharedObject): Promise<string>
  /** The token of the object, if it is shared. */
  tokenOf(tenant: string, object: SharedObject): Promise<string | undefined>
  /** Ends a share. When this resolves, its token is invalid. */
  revoke(tenant: string, object: SharedObject): Promise<void>
  /** Share of a token. Throws `not_found`. */
  find(token: string): Promise<Share>
}

/** The only document of a token. */
const documentKey = 'share'

interface Target {
  readonly tenant: string
  readonly share: Uuid
}

interface Body {
  readonly object: SharedObject
  readonly token: string
}

/** Shares in catalogs and documents. */
export function sharesOver(catalogs: CatalogClient, documents: DocumentPort,
  env: Pick<Env, 'nowMs' | 'secret'>): Shares {
  const known = async (tenant: string, share: Uuid): Promise<Body | undefined> => {
    const [record] = await catalogs.get({ tenant, collection: 'share' }, [share])
    return record && bodyOf(record)
  }
  const forget = (token: string) => documents.deleteDocuments(tokenPlace(token), [documentKey])
  return {
    tokenOf: async (tenant, object) => (await known(tenant, shareId(object)))?.token,
    make: async (tenant, object) => {
      const share = shareId(object)
      const before = await known(tenant, share)
      if (before !== undefined) return before.token
      const token = shareToken(env.secret())
      const target: Target = { tenant, share }
      // First what the record relies on.
      await documents.putDocuments(tokenPlace(token), [{ key: documentKey,
        body: Buffer.from(JSON.stringify(target)) }])
      const body: Body = { object, token }
      try {
        const record = await catalogs.create({ tenant, collection: 'share' }, { id: share,
          name: shareName(object), orderMs: env.nowMs(), metadataJson: '{}',
          parentId: object.kind === 'dataset' ? object.id : object.project,
          bodyJson: JSON.stringify(body) }, {})
        const made = bodyOf(record).token
        // Another caller was faster.
        if (made !== token) await forget(token)
        return made
      } catch (error) {
        if (HeddleError.from(error).code === 'full') await forget(token)
        throw error
      }
    },
    revoke: async (tenant, object) => {
      const share = shareId(object)
      const before = await known(tenant, share)
      if (before === undefined) return
      await catalogs.delete({ tenant, collection: 'share' }, share).catch(ignoreNotFound)
      await forget(before.token)
    },
    find: async (text) => {
      const token = readUuid(text)
      const [document] = token === undefined
        ? []
        : await documents.getDocuments(tokenPlace(token), [documentKey])
      if (document === undefined) throw noShare()
      const { tenant, share } = JSON.parse(Buffer.from(document.body).toString()) as Target
      const body = await known(tenant, share)
      if (body === undefined || body.token !== token) throw noShare()
      return { tenant, ...body }
    },
  }
}

function bodyOf({ bodyJson }: CatalogRecord): Body {
  return JSON.parse(bodyJson) as Body
}

function noShare(): HeddleError {
  return new HeddleError('not_found', 'This link is unknown, or it was revoked.')
}
