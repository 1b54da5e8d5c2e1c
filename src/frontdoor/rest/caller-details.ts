/** Details that a caller learns of itself: its tenant, its role, and how it was recognised. */

import type { CallerDetails } from '../../api/index.ts'
import { timeText } from '../../json/index.ts'
import { tenantOfNamespace } from '../../limits/index.ts'
import { userOf } from '../http/caller.ts'
import type { Caller, Identity } from '../http/caller.ts'

const methods: Readonly<Record<Identity['kind'], CallerDetails['method']>> = { local: 'none',
  nobody: 'none', key: 'key', user: 'session', login: 'session' }

/** Describes a caller. `region` is that of the server; null if it has none. */
export function callerDetails(caller: Caller,
  region: string | null): Omit<CallerDetails, 'org_config' | 'graphs'> {
  const { tenant, role, identity, expiresAtMs } = caller
  return {
    tenant: tenantOfNamespace(tenant),
    role,
    user: userOf(caller) ?? null,
    key_id: identity.kind === 'key' ? identity.id ?? null : null,
    region,
    expires_at: expiresAtMs === null ? null : timeText(expiresAtMs),
    method: methods[identity.kind],
  }
}
