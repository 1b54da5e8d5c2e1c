/**
 * The secrets that links to attachments are signed with: records of a catalog that belongs to no
 * tenant. Every 30 days a new one is made, so that none has to be changed by hand.
 *
 * A tenant that a link names is believed only when its signature was checked: nobody makes this
 * server look into the catalogs of tenants by names that are made up.
 */

import type { Env } from '../../../../cluster/index.ts'
import { namedId } from '../catalog/named-id.ts'
import type { CatalogClient } from '../catalog/catalog-client.ts'
import { endOfLink, linkSeconds, readLink } from './download-link.ts'
import type { DownloadClaim, LinkKey } from './download-link.ts'

/** Makes and reads links. */
export interface Downloads {
  /** What links that are made now are signed with. */
  linkKey(): Promise<LinkKey>
  /** The file that a token names. Throws `not_found`. */
  claimOf(token: string): Promise<DownloadClaim>
}

/** How long a secret signs. */
const periodSeconds = 30 * 86_400
/** No tenant has this name. */
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
