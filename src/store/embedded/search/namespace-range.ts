/** Rows of items below a namespace, as a condition of SQL. */

import { namespaceText } from '../../../search/index.ts'
import type { Namespace } from '../../../search/index.ts'

/** SQL condition for rows of a tenant below a namespace. */
export function below(prefix: Namespace): string {
  const range = 'AND namespace >= :from AND namespace < :end'
  return `tenant = :tenant ${prefix.length === 0 ? '' : range}`
}

/** Values of that condition. The last character is raised: no text with the prefix is above. */
export function rangeOf(prefix: Namespace): { readonly from: string; readonly end: string } {
  const from = namespaceText(prefix)
  return { from, end: `${from.slice(0, -1)}/` }
}
