/** The environment of this machine, in which short pauses are much shorter. */

import { systemEnv } from '../../cluster/index.ts'
import type { Env } from '../../cluster/index.ts'

/** Pauses up to this long are looks at what goes on; longer ones are limits. */
const longestLookMs = 500

/** It looks twenty times as often; its limits stay, as a slow machine needs them. */
export function hurriedEnv(): Env {
  const env = systemEnv({ level: 'silent' })
  return { ...env, after: (ms, fn) => env.after(ms <= longestLookMs ? ms / 20 : ms, fn) }
}
