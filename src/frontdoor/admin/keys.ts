/** The routes of API keys, for the admins of a tenant. */

import type { FastifyReply } from 'fastify'

import type { Env } from '../../../cluster/index.ts'
import type { KeyDetails, TenantKeys } from '../../access/index.ts'
import { HeddleError } from '../../errors.ts'
import { timeText } from '../../json/index.ts'
import { sendJson } from '../http/list-reply.ts'
import { route } from '../http/route.ts'
import type { App } from '../http/route.ts'
import { CreateKey, KeyPath } from '../schema/key.ts'
import type { ApiKey } from '../schema/key.ts'

/** What the routes of keys need. */
export interface KeyRouteParts {
  /** Undefined if callers need no keys. */
  readonly tenantKeys?: TenantKeys
  readonly env: Pick<Env, 'nowMs'>
}

const tag = 'Server'
const dayMs = 86_400_000

/** Adds the routes of API keys. */
export function keyRoutes(app: App, { tenantKeys, env }: KeyRouteParts): void {
  const keys = () => {
    if (tenantKeys !== undefined) return tenantKeys
    throw new HeddleError('not_found', 'This server takes no API keys: start it with --auth keys.')
  }

  app.get('/keys',
    route('admin', 'listKeys', { tag, summary: 'List the API keys of the tenant, newest first',
      answer: 'ApiKey[]' }),
    async ({ caller }, reply) =>
      sendUncached(reply, (await keys().list(caller.tenant)).map(keyJson)))

  app.post('/keys',
    route('admin', 'createKey', { tag, summary: 'Create an API key of the tenant', body: CreateKey,
      answer: 'NewApiKey' }), async ({ body, caller }, reply) => {
    const { name, role = 'developer', deployment } = body
    const expiresAtMs = endOf(body, env.nowMs())
    const made = await keys().create(caller.tenant, { name, role, deployment, expiresAtMs })
    return sendUncached(reply, { ...keyJson(made), key: made.key })
  })

  app.delete('/keys/:key_id',
    route('admin', 'revokeKey', { tag, summary: 'Revoke an API key of the tenant for ever',
      params: KeyPath }), async ({ params, caller }, reply) => {
    await keys().revoke(caller.tenant, params.key_id)
    return reply.code(204).send()
  })
}

/** Nobody between the server and its client may keep an answer about keys. */
function sendUncached(reply: FastifyReply, answer: unknown): ReturnType<typeof sendJson> {
  return sendJson(reply.header('cache-control', 'no-store'), JSON.stringify(answer))
}

/** When a new key ends, in milliseconds since 1970; null for never. */
function endOf({ expires_in_days: days, expires_at: at }: CreateKey, nowMs: number): number | null {
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
