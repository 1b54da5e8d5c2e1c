/** Who makes a request, and what that caller may do. */

import type { CallerRole } from '../../access/index.ts'
import { HeddleError } from '../../errors.ts'

/**
 * The authenticated caller of a request: everything that the request may see or change belongs to
 * this tenant.
 */
export interface Caller {
  readonly tenant: string
  readonly role: CallerRole
  readonly identity: Identity
  /** False once the key is revoked or the session has ended: the caller gets nothing more. */
  stillValid(): boolean
}

/** What distinguishes a caller from others. */
export type Identity =
  /** Without authentication. */
  | { readonly kind: 'local' }
  /** `hash` is the SHA-256 of its text in hex. If not `known`, the text may be made up. */
  | { readonly kind: 'key'; readonly hash: string; readonly known: boolean }
  /** Named by a valid session or a trusted proxy. */
  | { readonly kind: 'user'; readonly tenant: string; readonly id: string }
  | { readonly kind: 'nobody' }

/** The result of authentication. Limits are charged even if the caller is refused. */
export type Finding =
  | { readonly identity: Identity; readonly caller: Caller }
  | { readonly identity: Identity; readonly refused: HeddleError }

/**
 * public  open to everybody, and says nothing of any tenant
 * read    only reads
 * change  all others
 */
export type Access = 'public' | 'read' | 'change'

/** Without authentication, everything belongs to this tenant. */
export const localTenant = 'local'

/** Every caller, without authentication. */
export const localCaller: Caller = {
  tenant: localTenant,
  role: 'admin',
  identity: { kind: 'local' },
  stillValid: () => true,
}

/** The caller of public routes; no tenant has this name. */
export const nobody: Caller = {
  tenant: '',
  role: 'reader',
  identity: { kind: 'nobody' },
  stillValid: () => true,
}

/** The user, if the caller is one. */
export function userOf({ identity }: Caller): string | undefined {
  return identity.kind === 'user' ? identity.id : undefined
}

/** The one rule of roles. Throws `forbidden`. */
export function requireAllowed({ role }: Caller, access: Access): void {
  if (access !== 'change' || role !== 'reader') return
  throw new HeddleError('forbidden', 'This API key or session may only read.')
}

/** The error for a caller that no longer stands. */
export function credentialLost(): HeddleError {
  return new HeddleError('unauthenticated', 'The API key or session of this request is no longer ' +
    'valid.')
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Set by the guard, before anything else is done for a request. */
    caller: Caller
  }
  interface FastifyContextConfig {
    /** What a route does. Every route has to say so, or the server does not start. */
    access?: Access
  }
}
