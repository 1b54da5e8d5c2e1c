/** Headers of a request that a graph sees. Headers with identities or secrets are left out. */

import { holdsCredentials } from '../../graph/index.ts'
import type { HeaderChoice } from '../../graph/index.ts'
import { chosen } from '../schema/chosen-headers.ts'
import { isForwardingHeader } from '../schema/forwarding-headers.ts'

/**
 * Parts of names that tell of a secret, or of an identity that nobody has checked: a graph that
 * believes `x-remote-user` would believe every caller. The caller's own backend sends what a graph
 * may believe in the config.
 */
const telling = ['auth', 'oauth', 'oidc', 'saml', 'ldap', 'sso', 'key', 'token', 'jwt', 'secret',
  'passw', 'pwd', 'credential', 'cookie', 'signature', 'session', 'csrf', 'xsrf', 'cert', 'assert',
  'user', 'login', 'email', 'ident', 'principal', 'subject', 'tenant', 'account', 'claim',
  'permission', 'entitlement', 'imperson', 'consumer', 'remote'] as const

/** Whole words that tell the same, and are also parts of harmless words. */
const tellingWords: ReadonlySet<string> = new Set(['uid', 'upn', 'dn', 'sid', 'sub', 'mail', 'role',
  'roles', 'group', 'groups', 'scope', 'scopes', 'org', 'organization', 'admin', 'actor', 'owner',
  'sudo', 'person', 'otp', 'pin', 'mfa', 'ssl', 'tls', 'spiffe', 'xfcc'])

/** Gateways and mesh proxies that pass on who they let in. */
const gateways = ['x-pomerium-', 'x-vouch-', 'x-okta-', 'x-cognito-', 'x-apigateway-',
  'x-api-gateway-', 'x-kong-', 'x-istio-', 'x-hasura-', 'x-firebase-', 'x-supabase-', 'x-google-',
  'x-gcp-', 'x-aws-', 'x-teleport-', 'x-webauth-', 'x-wsgi-', 'x-client-cert', 'x-client-verify',
  'x-nf-', 'x-cf-', 'x-heroku-', 'x-github-', 'x-gitlab-'] as const

/**
 * True if a graph may see a header by the choice of its project, which vouches for what it
 * includes. By default, it sees what tells of no secret and no identity. Credentials are never
 * shown, nor a header whose name could be a key of the engine.
 */
export function reachesGraph(name: string, choice: HeaderChoice = {}): boolean {
  if (holdsCredentials(name) || name.includes('_')) return false
  return chosen(name, choice, mayReachGraph)
}

/** True if a graph may see the header. The name is in lower case. Only `x-` headers are shown. */
function mayReachGraph(name: string): boolean {
  if (!name.startsWith('x-') || isForwardingHeader(name)) return false
  if (telling.some((part) => name.includes(part))) return false
  if (gateways.some((prefix) => name.startsWith(prefix))) return false
  return !name.split(/[-_.]/).some((word) => tellingWords.has(word))
}
