/** Routes of the secrets of a workspace. Nothing answers a value. */

import { changeWorkspaceSecrets, listWorkspaceSecrets } from '../../../api/index.ts'
import { HeddleError } from '../../../errors.ts'
import { isObject } from '../../../json/index.ts'
import { isSecretName } from '../../../platform/index.ts'
import type { App } from '../../http/route.ts'
import { serve } from '../../http/serve.ts'
import type { PlatformParts } from '../platform-route.ts'

/** Secrets of one request. */
const changesMax = 100

interface Change {
  readonly key: string
  readonly value: string | null
}

/** Adds the routes that list the names of secrets, and set or delete secrets. */
export function secretRoutes(app: App, { platform: { secrets } }: PlatformParts): void {
  const list = async (tenant: string) => (await secrets.list(tenant)).map((key) => ({ key }))

  serve(app, listWorkspaceSecrets, ({ caller: { tenant } }) => list(tenant))
  serve(app, changeWorkspaceSecrets, async ({ body, caller: { tenant } }) => {
    for (const { key, value } of changesIn(body)) {
      await (value === null ? secrets.delete(tenant, key) : secrets.set(tenant, key, value))
    }
    return await list(tenant)
  })
}

/** All are read before the first is made. A fault never repeats a value. */
function changesIn(body: unknown): readonly Change[] {
  const changes = Array.isArray(body) ? body as readonly unknown[] : [body]
  if (changes.length > changesMax) throw invalid(`sent as a list of at most ${changesMax}`)
  return changes.map((change) => {
    if (!isObject(change)) throw invalid('sent as a list of `{"key", "value"}`')
    const { key, value = null } = change
    if (typeof key !== 'string' || !isSecretName(key)) {
      throw invalid('sent with keys that are names such as OPENAI_API_KEY')
    }
    if (value !== null && typeof value !== 'string')
      throw invalid('sent with values that are texts or null')
    return { key, value }
  })
}

function invalid(what: string): HeddleError {
  return new HeddleError('invalid', `Secrets are ${what}.`)
}
