/** Details that a caller learns of itself: its tenant, its role, and how it was recognised. */

import type { CallerRole } from '../../access/index.ts'
import { timeText } from '../../json/index.ts'
import { tenantOfNamespace } from '../../limits/index.ts'
import { userOf } from '../http/caller.ts'
import type { Caller, Identity } from '../http/caller.ts'

/** A caller as it is shown to itself. */
export interface CallerDetails {
  readonly tenant: string
  readonly role: CallerRole
  readonly user: string | null
  readonly key_id: string | null
  readonly region: string | null
  /** ISO time at which the key or the login ends; null if it does not. */
  readonly expires_at: string | null
  readonly method: 'none' | 'key' | 'session'
}

const methods: Readonly<Record<Identity['kind'], CallerDetails['method']>> = { local: 'none',
  nobody: 'none', key: 'key', user: 'session' }

/** Describes a caller. `region` is that of the server; null if it has none. */
export function callerDetails(caller: Caller, region: string | null): CallerDetails {
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
