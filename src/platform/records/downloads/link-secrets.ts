/**
 * The secrets that sign links to attachments: records of a catalog that belongs to no tenant. A new
 * one is made every 30 days, so that none has to be changed by hand.
 *
 * A tenant that a link names is believed only after its signature was checked: no caller can make
 * this server look into catalogs of invented tenants.
 */

import type { Env } from '../../../../cluster/index.ts'
import { namedId } from '../catalog/named-id.ts'
import type { CatalogClient } from '../catalog/catalog-client.ts'
import { endOfLink, linkSeconds, readLink } from './download-link.ts'
import type { DownloadClaim, LinkKey } from './download-link.ts'

/** Makes links to files, and reads them. */
export interface Downloads {
  /** Key for links that are made now. */
  linkKey(): Promise<LinkKey>
  /** The file that a token names. Throws `not_found`. */
  claimOf(token: string): Promise<DownloadClaim>
}

/** Seconds for which a secret signs links. */
const periodSeconds = 30 * 86_400
/** Catalog of the secrets. No tenant has this name. */
const catalog = { tenant: '', collection: 'workspace' } as const

/** Links whose secrets are in a catalog. */
export function downloadsOver(catalogs: CatalogClient,
  env: Pick<Env, 'nowMs' | 'secret'>): Downloads {
  /** By period. A secret never changes. */
  const kept = new Map<number, string>()

  /** The secret that signs links with this end. */
  const secretFor = async (endS: number): Promise<string> => {
    const period = Math.floor((endS - linkSeconds) / periodSeconds)
    const known = kept.get(period)
    if (known !== undefined) return known
    const name = `download links ${period}`
    const [record] = await catalogs.ensure(catalog, [{ id: namedId('linkKey', name), name,
      orderMs: 0, parentId: '', metadataJson: '{}',
      bodyJson: JSON.stringify({ secret: env.secret() }) }])
    const { secret } = JSON.parse(record!.bodyJson) as { readonly secret: string }
    // Links of other periods have ended.
    for (const old of kept.keys()) if (old < period - 1) kept.delete(old)
    kept.set(period, secret)
    return secret
  }
  return {
    linkKey: async () => {
      const expiresS = Math.floor(env.nowMs() / 1_000) + linkSeconds
      return { expiresS, secret: await secretFor(expiresS) }
    },
    claimOf: async (token) => {
      const secret = await secretFor(endOfLink(token, env.nowMs()))
      return readLink(token, secret, env.nowMs())
    },
  }
}
