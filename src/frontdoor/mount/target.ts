/** Paths below a deployment: `/d/shop/threads` is `/threads` of the deployment `shop`. */

import { plainTarget } from '../../limits/index.ts'

/** A target of a request line, divided where the deployment's own path begins. */
export interface DeploymentTarget {
  /** As it is written in the path. It may be no name that a deployment can have. */
  readonly name: string
  /** Prefix that is cut: `/d/shop`. */
  readonly prefix: string
  /** Target that is routed, without the prefix. */
  readonly rest: string
}

/**
 * Divides a target; undefined for one that is not below a deployment. The prefix may come twice,
 * because clients put the `Location` of an answer after their base URL, which has it already.
 */
export function deploymentTarget(target: string): DeploymentTarget | undefined {
  const [about, path] = dividedAtResource(plainTarget(target).replace(origin, ''))
  const [, prefix, name, rest] = form.exec(path) ?? []
  if (prefix === undefined || name === undefined || rest === undefined) return undefined
  const again = form.exec(rest)
  const own = again?.[1] === prefix ? again[3]! : rest
  return { name, prefix, rest: about + (own.startsWith('/') ? own : `/${own}`) }
}

/** Path of documents about the source of tokens, before the path that they are about (RFC 9728). */
export const resourceRoot = '/.well-known/oauth-protected-resource'

/** Divides the target of such a document before the path that it is about, others at the start. */
export function dividedAtResource(target: string): readonly [about: string, path: string] {
  return target.startsWith(`${resourceRoot}/`)
    ? [resourceRoot, target.slice(resourceRoot.length)]
    : ['', target]
}

/** Start of a target that is addressed to a proxy. The header Host says which server is meant. */
export const origin = /^https?:\/\/[^/?#]*/i

const form = /^(\/d\/([^/?#]+))((?:[/?#].*)?)$/s
