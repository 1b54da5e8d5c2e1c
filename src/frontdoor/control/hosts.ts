/**
 * Host names that a deployment may have: names of the web that the operator has set apart for
 * deployments, and none by which the server itself is called.
 */

import { isDeploymentName } from '../../deployment/index.ts'
import { HeddleError } from '../../errors.ts'
import { fitsHost, ipAddress, isLoopback } from '../../settings/index.ts'
import { requireAllowed } from '../http/caller.ts'
import type { Caller } from '../http/caller.ts'
import type { ServedHosts } from '../mount/index.ts'

/** The caller who asks for names, and the rules for names that may be given. */
export interface HostRules {
  readonly caller: Caller
  /** Those that the deployment has already, which stay. */
  readonly before: readonly string[]
  /** Deployments answer below it. */
  readonly domain?: string | undefined
  /** Names of the server itself. */
  readonly ownHosts: readonly string[]
  /** Names and patterns that the operator has set apart. */
  readonly allowed: readonly string[]
  readonly servedHosts: Pick<ServedHosts, 'servedOthers'>
}

/** The names in small letters. Throws `invalid`, and `forbidden` for who is no admin. */
export function checkedHosts(hosts: readonly string[], rules: HostRules): readonly string[] {
  const names = [...new Set(hosts.map((host) => host.toLowerCase()))]
  const added = names.filter((name) => !rules.before.includes(name))
  if (added.length > 0) requireAllowed(rules.caller, 'admin')
  for (const name of added) {
    const fault = faultOf(name, rules)
    if (fault === undefined) continue
    throw new HeddleError('invalid', `hosts: ${name} ${fault}.`, {
      errors: [{ field: 'hosts', message: fault }],
    })
  }
  return names
}

function faultOf(name: string,
  { caller: { tenant }, domain, ownHosts, allowed, servedHosts }: HostRules): string | undefined {
  const labels = name.split('.')
  const isAddress = ipAddress(name) !== undefined || isLoopback(name)
  const isName = labels.length > 1 && isDeploymentName(labels.at(-1)!) && labels.every(isLabel)
  if (isAddress || !isName) return 'must be a host name like shop.example.org'
  if (domain !== undefined && (name === domain || name.endsWith(`.${domain}`))) {
    return 'is below the domain of all deployments, where each has its name already'
  }
  if (ownHosts.includes(name)) return 'is a name of the server itself'
  if (!allowed.some((pattern) => fitsHost(name, pattern))) {
    return 'is not one that the operator of the server gives to deployments: they are named by ' +
      '--deployments-hosts'
  }
  if (servedHosts.servedOthers(name, tenant)) {
    return 'is a name by which the server itself serves others'
  }
  return undefined
}

function isLabel(text: string): boolean {
  return isDeploymentName(text) || /^\d{1,63}$/.test(text)
}
