/** The issuers of tokens that the login of a project documents. */

import type { LoginSecurity } from '../../graph/index.ts'

/** By type of a scheme: the member that has the address of its metadata, and how that is made. */
const metadata: Readonly<Record<string, { readonly member: string; readonly path: string }>> = {
  openIdConnect: { member: 'openIdConnectUrl', path: '/.well-known/openid-configuration' },
  oauth2: { member: 'oauth2MetadataUrl', path: '/.well-known/oauth-authorization-server' },
}

/** The issuers, each once. Schemes that name no metadata have none that is known. Pure. */
export function issuersIn(security: LoginSecurity | undefined): readonly string[] {
  const found = Object.values(security?.securitySchemes ?? {}).flatMap((scheme) => {
    const named = metadata[String(scheme['type'])]
    return named === undefined ? [] : issuerAt(scheme[named.member], named.path) ?? []
  })
  return [...new Set(found)]
}

/** The path of metadata stands behind that of the issuer (OpenID), or before it (RFC 8414). */
function issuerAt(address: unknown, path: string): string | undefined {
  const url = typeof address === 'string' ? URL.parse(address) : null
  if (url === null || !/^https?:$/.test(url.protocol) || url.username || url.search) {
    return undefined
  }
  const { origin, pathname } = url
  if (pathname.startsWith(path)) return origin + pathname.slice(path.length)
  return pathname.endsWith(path) ? origin + pathname.slice(0, -path.length) : undefined
}

/** By request: what the login that it calls documents. Only a refusal looks for issuers there. */
const called = new WeakMap<object, LoginSecurity | undefined>()

/** Notes that a request calls a project with a login: a refusal then says where tokens are. */
export function noteLogin(request: object, security: LoginSecurity | undefined): void {
  called.set(request, security)
}

/** The issuers of the login that a request calls; undefined if it calls none that is known. */
export function calledIssuers(request: object): readonly string[] | undefined {
  return called.has(request) ? issuersIn(called.get(request)) : undefined
}
