/** All stored secrets: which keys they need, and how they are sealed anew with the first one. */

import type { Env } from '../../../../cluster/index.ts'
import { HeddleError } from '../../../errors.ts'
import type { CatalogClient } from '../catalog/catalog-client.ts'
import type { CatalogRecord } from '../catalog/catalog-record.ts'
import { opened, sealed } from './secret-box.ts'
import type { Opened } from './secret-box.ts'
import { secretRecords, secretsOf, secretTenants } from './secrets.ts'
import type { SecretsKeys } from './secrets-key.ts'

/** How many secrets there are, and which keys they need. */
export interface SecretsSurvey {
  readonly stored: number
  /** No key opens these. */
  readonly unopened: number
  /** Sealed with another key than the first one. */
  readonly sealedWithOlder: number
  /** Sealed anew with the first key. */
  readonly rekeyed: number
}

/** Where secrets are, and what opens them. */
export interface SurveyParts {
  readonly catalogs: CatalogClient
  /** Undefined if this server has no key. */
  readonly keys: SecretsKeys | undefined
  readonly env: Pick<Env, 'secret'>
}

/** What is done about secrets that are sealed with an older key. */
export interface SurveyOptions {
  readonly rekey: boolean
  /** Tenants that may have secrets of the time before their tenants were noted. */
  readonly tenants: readonly string[]
}

type Counts = { -readonly [Name in keyof SecretsSurvey]: number }

const pageRecords = 100

/** Goes through the secrets of all tenants. Their values are shown to nobody. */
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

/** It was set or deleted meanwhile. */
function ignoreOvertaken(error: unknown): void {
  if (!['stale', 'not_found'].includes(HeddleError.from(error).code)) throw error
}
