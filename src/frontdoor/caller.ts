/** Who asks. */

/**
 * Whom a request is for, once the front door knows it: everything that it may see or change belongs
 * to his tenant.
 */
export interface Caller {
  readonly tenant: string
}

/** Where there is no authentication everything belongs to this tenant. */
export const localTenant = 'local'

/** Whoever calls where there is no authentication. */
export const localCaller: Caller = { tenant: localTenant }

declare module 'fastify' {
  interface FastifyRequest {
    /** Set before anything else is done for a request. */
    caller: Caller
  }
}
