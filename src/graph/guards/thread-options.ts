/** Options of a thread that keep the permissions of its process. */

import { bareCopy, ownKeys, upperCase } from './intrinsics.ts'
import { accessDenied } from './refusal.ts'

/** Variable with the compile cache of a thread, which it opens when its guards are loaded. */
export const compileCacheVariable = 'HEDDLE_COMPILE_CACHE'

type Variables = Record<string, unknown>

/**
 * Returns a copy of `options` without a prototype, which Node can read in the place of the
 * original: it has no getters. `inherited` is the environment of a thread that is given none.
 * Throws `ERR_ACCESS_DENIED` for arguments or `NODE_OPTIONS`.
 */
export function threadOptions(options: unknown, inherited: NodeJS.ProcessEnv,
  shareEnv: symbol): object {
  const copy: { execArgv?: unknown; env?: unknown } = bareCopy(options as object)
  if (copy.execArgv !== undefined) throw refusal('execArgv')
  const { env } = copy
  // The thread gets a copy in place of a shared environment, which could change after the check.
  if (env === undefined || env === null || env === shareEnv) {
    copy.env = boundVariables(inherited, false)
  } else if (typeof env === 'object') {
    copy.env = boundVariables(env as Variables, true)
  }
  return copy
}

/** Copies variables, except for the variables that change how Node starts. */
function boundVariables(from: Variables, isExplicit: boolean): Variables {
  const copy = bareCopy(from)
  const names = ownKeys(copy)
  for (let at = 0; at < names.length; at++) {
    const name = names[at]!
    if (typeof name !== 'string') continue
    const upper = upperCase(name)
    if (upper === 'NODE_OPTIONS' && isExplicit) throw refusal('env.NODE_OPTIONS')
    // Node would load the guards of the thread from the cache, into which code can write.
    if (upper === 'NODE_COMPILE_CACHE') copy[compileCacheVariable] = copy[name]
    if (upper === 'NODE_OPTIONS' || upper === 'NODE_COMPILE_CACHE' || upper === 'NODE_V8_COVERAGE'
      || upper === 'NODE_REPL_EXTERNAL_MODULE' || upper === 'NODE_CHANNEL_FD') delete copy[name]
  }
  return copy
}

function refusal(option: string): Error {
  return accessDenied(`A thread of a deployment cannot be started with ${option} of its own.`)
}
