/** The routes of API keys, for the admins of a tenant. */

import type { Env } from '../../../cluster/index.ts'
import type { KeyDetails, TenantKeys } from '../../access/index.ts'
import { createKey, listKeys, revokeKey } from '../../api/index.ts'
import type { ApiKey, KeyBody } from '../../api/index.ts'
import { HeddleError } from '../../errors.ts'
import { timeText } from '../../json/index.ts'
import type { App } from '../http/route.ts'
import { serve, serveFresh } from '../http/serve.ts'

/** Parts that the routes of keys need: the keys of tenants, and a clock. */
export interface KeyRouteParts {
  /** Undefined if callers need no keys. */
  readonly tenantKeys?: TenantKeys
  readonly env: Pick<Env, 'nowMs'>
}

const dayMs = 86_400_000

/** Adds the routes of API keys. */
export function keyRoutes(app: App, { tenantKeys, env }: KeyRouteParts): void {
  const keys = () => {
    if (tenantKeys !== undefined) return tenantKeys
    throw new HeddleError('not_found', 'This server takes no API keys: start it with --auth keys.')
  }

  serveFresh(app, listKeys, async ({ caller }) => (await keys().list(caller.tenant)).map(keyJson))
  serveFresh(app, createKey, async ({ body, caller }) => {
    const { name, role = 'developer', deployment } = body
    const expiresAtMs = endOf(body, env.nowMs())
    const made = await keys().create(caller.tenant, { name, role, deployment, expiresAtMs })
    return { ...keyJson(made), key: made.key }
  })
  serve(app, revokeKey, async ({ params, caller }) => {
    await keys().revoke(caller.tenant, params.key_id)
  })
}

/** When a new key ends, in milliseconds since 1970; null for never. */
function endOf({ expires_in_days: days, expires_at: at }: KeyBody, nowMs: number): number | null {
  if (days != null && at != null) {
    throw new HeddleError('invalid', 'expires_at: say either this or expires_in_days.')
  }
  if (at != null) return Date.parse(at)
  return days == null ? null : nowMs + days * dayMs
}

function keyJson(details: KeyDetails): ApiKey {
  const { id, name, role, tenant, deployment, createdAtMs, usedAtMs, expiresAtMs, revokedAtMs } =
    details
  const text = (ms: number | null) => ms === null ? null : timeText(ms)
  return { id, name, role, tenant, deployment, created_at: timeText(createdAtMs),
    last_used_at: text(usedAtMs), expires_at: text(expiresAtMs), revoked_at: text(revokedAtMs) }
}
