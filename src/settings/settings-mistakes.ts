/** Settings that are right each by itself, and not together. */

import { isLoopback } from './ip-address.ts'

interface Related {
  readonly host: string
  readonly insecureListen: boolean
  readonly auth: 'none' | 'keys'
  readonly sessions: object | null
  readonly billing: boolean
  readonly region: string
}

/** A sentence for each mistake in how settings go together. */
export function mistakesIn(
  { host, insecureListen, auth, sessions, billing, region }: Related,
): string[] {
  const mistakes: string[] = []
  if (billing && region !== 'us') {
    mistakes.push('--billing on (or HEDDLE_BILLING) is for the region us, where alone billing ' +
      `records may be kept: turn it off in the region ${region}.`)
  }
  if (auth === 'none' && !isLoopback(host) && !insecureListen) {
    mistakes.push(`--host ${host} is reached by others, and callers need no key: add ` +
      '--auth keys, or --insecure-listen if that is meant, or listen on 127.0.0.1.')
  }
  if (auth === 'none' && sessions !== null) {
    mistakes.push('--jwt-keys count only with --auth keys: add that.')
  }
  return mistakes
}
