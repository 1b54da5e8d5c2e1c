/** The caller who makes a request, and what that caller may do. */

import type { CallerRole } from '../../access/index.ts'
import type { Access, Operation } from '../../api/index.ts'
import { HeddleError } from '../../errors.ts'
import type { GraphDescription, HeaderChoice, HttpSettings } from '../../graph/index.ts'
import type { Asking } from '../authorise/index.ts'

/**
 * The authenticated caller of a request. Everything that the request may see or change belongs to
 * this tenant. Of a request to a deployment, it is the namespace of the tenant there.
 */
export interface Caller extends Asking {
  readonly tenant: string
  /** The only deployment that the key may call; null or absent for any. */
  readonly deployment?: string | null
  readonly role: CallerRole
  /** True for the key of a run without a user, which few operations of the platform accept. */
  readonly isRun?: boolean
  readonly identity: Identity
  /** When the key or the login ends, in milliseconds since 1970; null if it does not. */
  readonly expiresAtMs: number | null
  /** Headers of its requests that runs see, as the project says that is called. */
  readonly graphHeaders?: HeaderChoice | undefined
  /** Throws `not_ready` if the deployment that is called takes no new runs now. */
  mayStartRun?(): Promise<void>
  /** False when the key is revoked or the login has ended: the caller gets nothing more. */
  stillValid(): boolean
}

/** Identity that distinguishes callers, as authentication has found it. */
export type Identity =
  /** Without authentication. */
  | { readonly kind: 'local' }
  /** `hash` is the SHA-256 of the key in hex. A key without an `id` may be made up. */
  | { readonly kind: 'key'; readonly hash: string; readonly id?: string }
  /** Named by a valid token or by a trusted proxy. */
  | { readonly kind: 'user'; readonly tenant: string; readonly id: string }
  /** A user of the login of a project; `hash` is the SHA-256 of its identity in hex. */
  | { readonly kind: 'login'; readonly tenant: string; readonly hash: string }
  | { readonly kind: 'nobody' }

/** The result of authentication. Refused callers are charged to limits as well. */
export type Finding =
  | { readonly identity: Identity; readonly caller: Caller }
  | { readonly identity: Identity; readonly refused: HeddleError }

/** The tenant of everything on a server without authentication. */
export const localTenant = 'local'

/** Every caller of a server without authentication. */
export const localCaller: Caller = {
  tenant: localTenant,
  role: 'admin',
  identity: { kind: 'local' },
  expiresAtMs: null,
  stillValid: () => true,
}

/** The caller of public routes, and of shown ones without credentials. No tenant has its name. */
export const nobody: Caller = {
  tenant: '',
  role: 'reader',
  identity: { kind: 'nobody' },
  expiresAtMs: null,
  stillValid: () => true,
}

/** The id of the user; undefined if the caller is not one. */
export function userOf({ identity, user }: Caller): string | undefined {
  return identity.kind === 'user' ? identity.id : user?.identity
}

/** The one rule of roles. Throws `forbidden`. */
export function requireAllowed({ role }: Caller, access: Access): void {
  if (access === 'admin' && role !== 'admin') {
    throw new HeddleError('forbidden', 'Only an API key or token with the role admin may do this.')
  }
  if (access === 'deploy' && role !== 'admin' && role !== 'deployer') {
    throw new HeddleError('forbidden', 'Only an API key or token with the role admin or deployer ' +
      'may do this.')
  }
  const readsData = access === 'read' || access === 'change' || access === 'shown'
  if (role === 'deployer' && readsData) {
    throw new HeddleError('forbidden', 'This API key or token may only deploy: it reads no data.')
  }
  if (access !== 'change' || role !== 'reader') return
  throw new HeddleError('forbidden', 'This API key or token may only read.')
}

/** A deployment that a request calls. */
export interface CalledDeployment {
  readonly name: string
  /** Prefix cut from the path, as `/d/shop`; empty if its host name chose the deployment. */
  readonly prefix: string
  /** The graphs of its active revision. */
  graphs(): readonly GraphDescription[]
  /** Bytes that a body may have; Infinity for as many as the server takes. */
  readonly bodyBytesMax: number
  /** Charges one more message of the request to the deployment. Throws `limited`. */
  charge(): Promise<void>
}

/** The path by which the client of a request reaches `path`, as answers name it. */
export function outerPath(
  { deployment }: { readonly deployment?: Pick<CalledDeployment, 'prefix'> | undefined },
  path: string,
): string {
  return (deployment?.prefix ?? '') + path
}

/** The error for a caller whose credentials are not valid any more. */
export function credentialLost(): HeddleError {
  return new HeddleError('unauthenticated', 'The API key or token of this request is no longer ' +
    'valid.')
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Set by the guard before anything else is done for a request. */
    caller: Caller
    /** The deployment that is called; undefined for the server's own project. */
    deployment: CalledDeployment | undefined
    /** Settings below `http` of the project that is called, as they are now. */
    readonly projectHttp: HttpSettings
  }
  interface FastifyContextConfig {
    /** Every route must say it, or the server does not start. */
    access?: Access
    /** The operation that a route serves. */
    operation?: Operation
  }
}
