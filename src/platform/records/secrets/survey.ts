/**
 * Survey of all stored secrets: counts them by their keys, and seals them anew with the first key.
 */

import type { Env } from '../../../../cluster/index.ts'
import { HeddleError } from '../../../errors.ts'
import type { CatalogClient } from '../catalog/catalog-client.ts'
import type { CatalogRecord } from '../catalog/catalog-record.ts'
import { opened, sealed } from './secret-box.ts'
import type { Opened } from './secret-box.ts'
import { secretRecords, secretsOf, secretTenants } from './secrets.ts'
import type { SecretsKeys } from './secrets-key.ts'

/** Counts of secrets, by the keys that they need. */
export interface SecretsSurvey {
  readonly stored: number
  /** Number of secrets that no key opens. */
  readonly unopened: number
  /** Number of secrets that are sealed with another key than the first. */
  readonly sealedWithOlder: number
  /** Number of secrets that were sealed anew with the first key. */
  readonly rekeyed: number
}

/** Catalogs of secrets, and the keys that open them. */
export interface SurveyParts {
  readonly catalogs: CatalogClient
  /** Undefined if this server has no key. */
  readonly keys: SecretsKeys | undefined
  readonly env: Pick<Env, 'secret'>
}

/** Options of a survey: `rekey` seals secrets with an older key anew. */
export interface SurveyOptions {
  readonly rekey: boolean
  /** Tenants that may have secrets from before tenants were noted. */
  readonly tenants: readonly string[]
}

type Counts = { -readonly [Name in keyof SecretsSurvey]: number }

const pageRecords = 100

/** Goes through the secrets of all tenants. Their values never leave this function. */
export async function surveySecrets(parts: SurveyParts,
  { rekey, tenants }: SurveyOptions): Promise<SecretsSurvey> {
  const counts: Counts = { stored: 0, unopened: 0, sealedWithOlder: 0, rekeyed: 0 }
  for (const tenant of new Set([...tenants, ...await notedTenants(parts.catalogs)])) {
    for await (const record of secretRecords(parts.catalogs, tenant)) {
      await surveyOne(parts, { tenant, record, rekey }, counts)
    }
  }
  return counts
}

async function surveyOne({ catalogs, keys, env }: SurveyParts,
  { tenant, record: { id, name, bodyJson }, rekey }: { readonly tenant: string;
    readonly record: CatalogRecord; readonly rekey: boolean }, counts: Counts): Promise<void> {
  const { sealed: box } = JSON.parse(bodyJson) as { readonly sealed: string }
  const now = keys?.() ?? []
  const found = openedIfPossible(now, { tenant, name }, box)
  counts.stored++
  if (found === undefined) {
    counts.unopened++
  } else if (found.keyIndex > 0 && rekey) {
    const random = Buffer.from(env.secret(), 'base64url')
    const anew = sealed(now[0]!, { tenant, name }, found.value, random)
    // A value that was set meanwhile is sealed with the first key already.
    await catalogs.change(secretsOf(tenant), id, { bodyJson: JSON.stringify({ sealed: anew }),
      expected: { sealed: box } }).catch(ignoreOvertaken)
    counts.rekeyed++
  } else if (found.keyIndex > 0) counts.sealedWithOlder++
}

async function notedTenants(catalogs: CatalogClient): Promise<readonly string[]> {
  const tenants: string[] = []
  for (let after: CatalogRecord | undefined;;) {
    const { records } = await catalogs.list(secretTenants, { sortBy: 'created', descending: false,
      limit: pageRecords, offset: 0, ...after && { after } })
    tenants.push(...records.map(({ name }) => name))
    after = records.at(-1)
    if (records.length === 0) return tenants
  }
}

function openedIfPossible(...args: Parameters<typeof opened>): Opened | undefined {
  try {
    return opened(...args)
  } catch {
    return undefined
  }
}

/** Ignores a secret that was set or deleted meanwhile. */
function ignoreOvertaken(error: unknown): void {
  if (!['stale', 'not_found'].includes(HeddleError.from(error).code)) throw error
}
