/** Refuses rules for HTTP calls that the clients of a project do not let it keep. */

import { HeddleError } from '../../errors.ts'
import type { EffectRule } from '../effect-rule.ts'

/**
 * Throws `graph_failed` if calls that must happen once would leave unseen. `fault` says which
 * client does not fit. A kept answer is a saving, and no promise: it may be missing.
 */
export function requireKept(rules: readonly EffectRule[], fault: string | undefined): void {
  if (fault === undefined) return
  const [first, ...others] = rules.filter(({ isCall, strength }) => isCall && strength !== 'keep')
  if (first === undefined) return
  const more = others.length > 0 ? ` and ${others.length} more` : ''
  throw new HeddleError('graph_failed', `The effect "${first.name}"${more} cannot be kept from ` +
    `happening twice, because ${fault}: no graph of this project runs.`)
}
