/** A short mark of a tenant, of letters and digits, in front of each of its words. */

import { createHash } from 'node:crypto'

/** Digits of a mark. Two tenants with one mark would only make searches of both slower. */
const digits = 12

let last = { tenant: '', mark: '' }

/** The mark of a tenant. */
export function tenantMark(tenant: string): string {
  if (last.tenant !== tenant || last.mark === '') {
    last = { tenant, mark: createHash('sha256').update(tenant).digest('hex').slice(0, digits) }
  }
  return last.mark
}
