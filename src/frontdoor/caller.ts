/** Who asks, and what he may do. */

import { HeddleError } from '../errors.ts'
import type { CallerRole } from '../records/index.ts'

/**
 * Whom a request is for, once the front door knows it: everything that it may see or change belongs
 * to his tenant.
 */
export interface Caller {
  readonly tenant: string
  readonly role: CallerRole
  readonly identity: Identity
  /** False from when his key is revoked or his session is over: he is told nothing more. */
  stands(): boolean
}

/** By what a caller is told from others. */
export type Identity =
  /** Where nobody is asked who he is. */
  | { readonly kind: 'local' }
  /** `hash` is the SHA-256 of its text in hex. Not `known`: anybody can make such a text up. */
  | { readonly kind: 'key'; readonly hash: string; readonly known: boolean }
  /** As a valid session or a trusted proxy names him. */
  | { readonly kind: 'user'; readonly tenant: string; readonly id: string }
  | { readonly kind: 'nobody' }

/** What is known of who asks. Where he is refused, limits are charged all the same. */
export type Finding =
  | { readonly identity: Identity; readonly caller: Caller }
  | { readonly identity: Identity; readonly refused: HeddleError }

/**
 * public  anybody may ask, and learns nothing of any tenant
 * read    tells what there is
 * change  the rest
 */
export type Access = 'public' | 'read' | 'change'

/** Where there is no authentication everything belongs to this tenant. */
export const localTenant = 'local'

/** Whoever calls where there is no authentication. */
export const localCaller: Caller = {
  tenant: localTenant, role: 'admin', identity: { kind: 'local' }, stands: () => true,
}

/** Whoever asks what anybody may ask; no tenant has this name. */
export const nobody: Caller = {
  tenant: '', role: 'reader', identity: { kind: 'nobody' }, stands: () => true,
}

/** The user whose session it is, if it is one. */
export function userOf({ identity }: Caller): string | undefined {
  return identity.kind === 'user' ? identity.id : undefined
}

/** The one rule of roles. Throws `forbidden`. */
export function mustBeAllowed({ role }: Caller, access: Access): void {
  if (access !== 'change' || role !== 'reader') return
  throw new HeddleError('forbidden', 'This API key or session may only read.')
}

/** Said to a caller who does not stand any more. */
export function standingLost(): HeddleError {
  return new HeddleError('unauthenticated', 'The API key or session of this request is not good ' +
    'any more.')
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Set before anything else is done for a request. */
    caller: Caller
  }
  interface FastifyContextConfig {
    /** What a route does; a route that does not say is not served. */
    access?: Access
  }
}
