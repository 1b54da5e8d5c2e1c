/** Chooses the variables of the server's environment that its graphs see. Pure. */

import { knownSettings } from '../../settings/index.ts'

/** Allows all variables but the server's own. */
const everyVariable: readonly string[] = ['*']

/**
 * Names of the server's own variables. An allowed pattern does not include them, but a name does.
 */
const own = /^(HEDDLE_|OTEL_)/

/** Variables that programs need to run at all, without secrets. They are always allowed. */
const basic = new Set(['PATH', 'HOME', 'USER', 'LOGNAME', 'SHELL', 'PWD', 'LANG', 'LANGUAGE', 'TZ',
  'TERM', 'TMPDIR', 'TMP', 'TEMP', 'HOSTNAME', 'SSL_CERT_FILE', 'SSL_CERT_DIR', 'SYSTEMROOT',
  'SYSTEMDRIVE', 'WINDIR', 'COMSPEC', 'PATHEXT', 'APPDATA', 'LOCALAPPDATA', 'USERPROFILE',
  'HEDDLE_ENGINE_SHORTCUTS'])
const basicKind = /^(LC_|NODE_)/

/** Secrets of the server. Graphs never get them, whatever is allowed. */
const secret = new Set(Object.values(knownSettings)
  .filter((setting) => setting.isSecret).flatMap(({ variable }) => [variable, `${variable}_FILE`]))

/** The variables that graphs see. `allowed` has names, or patterns that end with `*`. */
export function graphEnvironment(environment: NodeJS.ProcessEnv,
  allowed = everyVariable): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(environment).filter(([name]) => {
    if (secret.has(name)) return false
    if (allowed.includes(name) || basic.has(name.toUpperCase()) || basicKind.test(name)) return true
    return !own.test(name) && allowed.some((pattern) => isOf(name, pattern))
  }))
}

function isOf(name: string, pattern: string): boolean {
  return pattern.endsWith('*') && name.startsWith(pattern.slice(0, -1))
}
