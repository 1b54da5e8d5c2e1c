/** Rules about another tenant, and about what remains when everything was deleted. */

import type { Call } from '../history/history.ts'
import { isSuccess } from './history-index.ts'
import type { HistoryIndex } from './history-index.ts'
import type { Rule } from './violation.ts'

/** Bytes that may remain for a tenant that has deleted everything. */
const remainingBytes = 64 * 1_024

/** Another tenant finds nothing, and its changes are rejected. That they have no effect follows
 * from the other rules. */
const unseen: Rule<HistoryIndex> = ({ calls }) =>
  calls.filter(({ tenant, status }) => tenant === 'foreign' && isSuccess(status))
    .filter((call) => !isEmpty(call))
    .map((call) => ({ message: `Another tenant got ${call.status} from ${call.path}`,
      calls: [call] })
    )

/** True if a response to a search, a count or a prune has nothing. */
function isEmpty({ operation, response }: Call): boolean {
  if (operation === 'foreign.count') return response === 0
  if (operation === 'foreign.prune') {
    return (response as { pruned_count?: number }).pruned_count === 0
  }
  if (operation !== 'foreign.search') return false
  const found = Array.isArray(response) ? response : (response as { items: unknown[] }).items
  return found.length === 0
}

interface Usage {
  readonly quotas: readonly { readonly name: string; readonly used: number }[]
}

function usedBy({ response }: Pick<Call, 'response'>, name: string): number {
  return (response as Usage).quotas.find((quota) => quota.name === name)?.used ?? 0
}

/** When everything was deleted, no thread and few bytes are counted more than before the load. */
const returned: Rule<HistoryIndex> = ({ calls }) => {
  const reads = calls.filter(({ operation, status }) => operation === 'usage.get' && status === 200)
  const [first, last] = [reads[0], reads.at(-1)]
  return first === undefined || last === undefined
    ? []
    : findRemains(first, last).map((message) => ({ message, calls: [first, last] }))
}

/** Returns a sentence for each quota that is used more than at first. */
export function findRemains(first: Pick<Call, 'response'>,
  last: Pick<Call, 'response'>): readonly string[] {
  return ([['threads', 0], ['stored_bytes', remainingBytes]] as const)
    .flatMap(([name, allowed]) => {
      const more = usedBy(last, name) - usedBy(first, name)
      return more <= allowed ? [] : [`${more} ${name} remain after everything was deleted`]
    })
}

/** When everything was deleted, no search finds anything. */
const emptied: Rule<HistoryIndex> = ({ calls }) =>
  calls.filter(({ operation, status }) => operation === 'final.search' && status === 200)
    .flatMap((call) => {
      const { length } = call.response as unknown[]
      return length === 0
        ? []
        : [{ message: `${length} found at ${call.path} after everything was deleted`,
          calls: [call] }]
    })

/** Rules about the whole history. */
export const tenantRules = { 'another tenant sees nothing': unseen, 'storage is released': returned,
  'deleted things are not found at the end': emptied }
