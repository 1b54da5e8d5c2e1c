/** Paths below the `mount_prefix` of a project: `/agents/threads` is `/threads`. */

import type { HttpSettings } from '../../graph/index.ts'
import { plainTarget } from '../../limits/index.ts'
import { routedTarget } from '../platform-rest/platform-target.ts'
import { dividedAtResource, origin } from './target.ts'
import type { DeploymentTarget } from './target.ts'

type Prefixed = Pick<HttpSettings, 'mount_prefix'>

/** Paths that belong to the platform, whatever a project mounts. */
const platform = /^\/api\/v[12](?:[/?#]|$)/

/** The target of a request without a deployment in its path, as the router has it. */
export function ownTarget(raw: { readonly url?: string | undefined },
  settings: Prefixed | undefined): string {
  return routed(raw, withoutPrefix(raw.url ?? '/', settings))
}

const targets = new WeakMap<object, string>()

/** The target as the router has it. The project's own form of it is kept for its app. */
export function routed(raw: object, target: string): string {
  targets.set(raw, plainTarget(target).replace(origin, ''))
  return routedTarget(target)
}

/** Path and query of a request as its project sees them: without any prefix. */
export function projectTarget({ raw }: { readonly raw: object }): string {
  return targets.get(raw) ?? '/'
}

/**
 * The target of a request below a deployment. Behind the prefix of the project the path of the
 * deployment may come again, because clients put the `Location` of an answer after their base URL.
 */
export function belowMount({ prefix, rest }: DeploymentTarget,
  settings: Prefixed | undefined): string {
  const own = withoutPrefix(rest, settings)
  return own === rest ? rest : withoutPrefix(own, { mount_prefix: prefix })
}

function withoutPrefix(target: string, { mount_prefix: prefix }: Prefixed = {}): string {
  if (prefix === undefined) return target
  const [about, plain] = dividedAtResource(plainTarget(target).replace(origin, ''))
  if (!plain.startsWith(prefix) || platform.test(plain)) return target
  const rest = plain.slice(prefix.length)
  if (rest === '' || rest.startsWith('/')) return about + (rest || '/')
  return /^[?#]/.test(rest) ? `${about}/${rest}` : target
}
