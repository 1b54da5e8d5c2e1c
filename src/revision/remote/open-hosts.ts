/**
 * Hosts that package managers may reach: registries and other places of the internet, and neither
 * this machine nor its network, as a lock file may name any address. Pure.
 */

import { AddressRules, closedByText, hostOf } from '../../egress/index.ts'
import { RevisionError } from '../revision-error.ts'

/** The hosts of a build. */
export interface OpenHosts {
  /** The host and the port of the registry of the server, which may be of its network. */
  readonly registry: string | undefined
  readonly rules: AddressRules
}

/** Those that the server allows. `registry` is a URL, and `allowed` are as for other calls. */
export function openHosts(registry: string | undefined,
  allowed: readonly string[] = []): OpenHosts {
  const url = registry === undefined ? null : URL.parse(registry)
  return { registry: url === null ? undefined : placeOf(url), rules: new AddressRules(allowed) }
}

/** The host and the port of a URL. */
export function placeOf(url: Pick<URL, 'hostname' | 'port' | 'protocol'>): string {
  return `${hostOf(url)}:${url.port || (url.protocol === 'https:' ? 443 : 80)}`
}

/** Throws RevisionError for a text with an address that is closed, whatever names are looked up. */
export function requireOpenText(text: string, { registry, rules }: OpenHosts): void {
  for (const [address] of text.matchAll(/https?:[\\/]+[^\s"'<>\\]+/gi)) {
    const url = URL.parse(address)
    if (url === null || placeOf(url) === registry) continue
    const what = closedByText(hostOf(url), rules)
    if (what !== undefined) throw closedPlace(`${hostOf(url)}, which is ${what}`)
  }
}

/** The error for packages that would be fetched from a closed host. */
export function closedPlace(where: string): RevisionError {
  return new RevisionError('not_from_registry', `A package of the project comes from ${where}: ` +
    'what is built here takes packages from registries only. Publish it in one, or deploy it ' +
    'without --remote.')
}
