/** Which host names a deployment may have: names of the web, and none of the server's own. */

import { isDeploymentName } from '../../deployment/index.ts'
import { HeddleError } from '../../errors.ts'
import { ipAddress, isLoopback } from '../../settings/index.ts'

/** Names that are taken. */
export interface TakenHosts {
  /** Deployments answer below it. */
  readonly domain?: string | undefined
  readonly ownHosts?: readonly string[] | undefined
}

/** The names in small letters. Throws `invalid`. */
export function checkedHosts(hosts: readonly string[], taken: TakenHosts): readonly string[] {
  const names = hosts.map((host) => host.toLowerCase())
  for (const name of names) {
    const fault = faultOf(name, taken)
    if (fault === undefined) continue
    throw new HeddleError('invalid', `hosts: ${name} ${fault}.`, {
      errors: [{ field: 'hosts', message: fault }],
    })
  }
  return [...new Set(names)]
}

function faultOf(name: string, { domain, ownHosts = [] }: TakenHosts): string | undefined {
  const labels = name.split('.')
  const isAddress = ipAddress(name) !== undefined || isLoopback(name)
  const isName = labels.length > 1 && isDeploymentName(labels.at(-1)!) && labels.every(isLabel)
  if (isAddress || !isName) return 'must be a host name like shop.example.org'
  if (domain !== undefined && (name === domain || name.endsWith(`.${domain}`))) {
    return 'is below the domain of all deployments, where each has its name already'
  }
  return ownHosts.includes(name) ? 'is a name of the server itself' : undefined
}

function isLabel(text: string): boolean {
  return isDeploymentName(text) || /^\d{1,63}$/.test(text)
}
