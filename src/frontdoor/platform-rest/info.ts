/** Routes that clients ask before all others: what the platform offers, and who they are. */

import { checkPlatform, getOrganisation, getPlatformInfo, getPublicCaller, ingestBeaconTraces,
  postBeacon, postGenerate, readBeacon, readGenerate, reportBeacon, reportMetadata,
  verifyBeacon } from '../../api/index.ts'
import { HeddleError } from '../../errors.ts'
import { tenantId } from '../../platform/index.ts'
import type { App } from '../http/route.ts'
import { serve } from '../http/serve.ts'
import type { PlatformParts } from './platform-route.ts'

/** The version whose API this is. Clients warn of older ones. */
const apiVersion = '0.18.0'

/** Operations of one body, its bytes, and how many are sent at once by clients that are behind. */
const batches = { use_multipart_endpoint: true, size_limit: 100, size_limit_bytes: 20_971_520,
  scale_up_qsize_trigger: 1_000, scale_up_nthreads_limit: 16, scale_down_nempty_trigger: 4 }

/** Clients take their newest ways only if these say so. */
const flags = { dataset_examples_multipart_enabled: true, examples_multipart_enabled: true,
  gzip_body_enabled: true, zstd_compression_enabled: true, ch_query_enabled: true,
  sdb_query_enabled: true }

/** Adds the routes of information and health, of the caller's organisation, and of the beacon. */
export function infoRoutes(app: App, { version, region }: PlatformParts): void {
  const info = { version: apiVersion, heddle_version: version, batch_ingest_config: batches,
    instance_flags: flags, ...region && { region: region.name } }
  serve(app, getPlatformInfo, async () => info)
  serve(app, checkPlatform, async () => ({ ok: true }))

  // `GET /auth` stands with the routes of the server.
  serve(app, getOrganisation, async ({ caller: { tenant } }) => {
    const id = tenantId(tenant)
    return { org_config: { org_id: id, tenant_id: id, display_name: tenant } }
  })
  serve(app, getPublicCaller, async ({ caller: { tenant } }) => {
    const id = tenantId(tenant)
    return { organization_id: id, tenant_id: id, ls_user_id: null, user_id: null, user_email: null }
  })
  reportRoutes(app)
}

/** Reports of servers and clients about themselves are not kept. */
function reportRoutes(app: App): void {
  serve(app, verifyBeacon, async () => ({ token: '' }))
  serve(app, ingestBeaconTraces, async () => ({ inserted_count: 0 }))
  for (const operation of [readBeacon, postBeacon]) {
    serve(app, operation,
      nothingThere('/v1/beacon', 'POST /v1/beacon/verify, /v1/beacon/ingest-traces, ' +
        '/v1/beacon/usage-snapshot, /v1/beacon/v1/metrics or /v1/beacon/v1/traces'))
  }
  for (const operation of [readGenerate, postGenerate]) {
    serve(app, operation, nothingThere('/generate', 'POST /datasets/{id}/generate for examples, ' +
      'or POST /runs/generate-query for a filter of runs'))
  }
  for (const operation of [reportBeacon, reportMetadata]) serve(app, operation, async () => {})
}

/** Answers a path that has a limit, and only paths below it or beside it. */
function nothingThere(path: string, others: string): () => Promise<never> {
  return async () => {
    throw new HeddleError('not_found', `There is nothing at ${path} itself: call ${others}.`)
  }
}
