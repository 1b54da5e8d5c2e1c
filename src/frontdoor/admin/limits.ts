/** The routes of limits: what a caller has left, and who is refused. */

import type { TenantKeys } from '../../access/index.ts'
import { getLimits, listRefusedCallers } from '../../api/index.ts'
import { HeddleError } from '../../errors.ts'
import { nobody, requireAllowed } from '../http/caller.ts'
import { limitSubjects } from '../http/limit-gate.ts'
import type { LimitSubjects } from '../http/limit-gate.ts'
import type { App } from '../http/route.ts'
import { serve } from '../http/serve.ts'
import { LimitReports } from './limit-report.ts'
import type { LimitReportParts } from './limit-report.ts'

/** Parts that the routes of limits need: those of reports, and the keys of tenants. */
export interface LimitRouteParts extends LimitReportParts {
  /** Undefined if callers need no keys. */
  readonly tenantKeys?: TenantKeys
}

const nowhere: LimitSubjects = { 'IP': undefined, 'x-api-key': undefined,
  'x-user-id + IP': undefined }

/** Adds the routes of limits. */
export function limitRoutes(app: App, parts: LimitRouteParts): void {
  const { limits, tenantKeys } = parts
  const reports = new LimitReports(parts)
  const ofKey = async (tenant: string, id: string): Promise<LimitSubjects> => {
    if (tenantKeys === undefined) {
      throw new HeddleError('not_found', 'This server takes no API keys, so there is none.')
    }
    const { hash } = await tenantKeys.get(tenant, id)
    return { ...nowhere, 'x-api-key': hash }
  }

  serve(app, getLimits, async (request) => {
    const { query: { key }, caller } = request
    if (key !== undefined) requireAllowed(caller, 'admin')
    const own = () => limits === undefined ? nowhere : limitSubjects(request, limits.addressOf)
    const subjects = key === undefined ? own() : await ofKey(caller.tenant, key)
    return reports.of(caller.tenant, subjects)
  })
  serve(app, listRefusedCallers, async ({ caller: { tenant, identity } }) => {
    // Callers without a tenant are of everybody, where there is one tenant.
    const tenants = identity.kind === 'local' ? [tenant, nobody.tenant] : [tenant]
    return reports.refused(tenants)
  })
}
