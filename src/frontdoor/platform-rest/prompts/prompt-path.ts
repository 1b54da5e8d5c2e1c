/** Callers as routes of prompts name them. */

import type { Prompt, Prompts } from '../../../platform/index.ts'
import type { Caller } from '../../http/caller.ts'

/** Name that tells callers of a tenant apart: it says nothing of their credentials. */
export function callerName({ identity }: Caller): string {
  switch (identity.kind) {
    case 'key':
      return `key ${identity.hash}`
    case 'user':
      return `user ${identity.id}`
    default:
      return identity.kind
  }
}

/** Author of a commit, as others of the tenant may know; null if the caller has no name. */
export function authorOf({ identity }: Caller): string | null {
  if (identity.kind === 'user') return identity.id
  return identity.kind === 'key' && identity.id !== undefined ? `key ${identity.id}` : null
}

/** Reader of a prompt, and the name by which its owner is seen. */
export function readerOf(caller: Caller, prompts: Prompts, prompt: Pick<Prompt, 'tenant'>) {
  return { tenant: caller.tenant, caller: callerName(caller),
    handle: prompts.handle(prompt.tenant) }
}
