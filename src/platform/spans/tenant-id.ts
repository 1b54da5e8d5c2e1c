/** The id of a tenant on the wire, where clients expect a UUID. */

import { v5 } from 'uuid'

import type { Uuid } from './span.ts'

/** UUID namespace of tenants, which never changes, so that their ids stay the same. */
const namespace = '7f0dbd27-6ba0-4b53-a6b1-1d0b2a4ec6a5'

/** Id of a tenant, which is the same in every region. */
export function tenantId(tenant: string): Uuid {
  return v5(tenant, namespace)
}
