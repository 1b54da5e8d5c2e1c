/** URLs that may be called, as far as their text tells. Names are looked up at the call. */

import { isIP } from 'node:net'

import { HeddleError } from '../errors.ts'
import type { AddressRules } from './address-rules.ts'

const longest = 2_048

/**
 * Port from which on all may be called. Lower ones are of system services: only 80 and 443 may be.
 */
const leastFreePort = 1_024
const ports: Readonly<Record<string, number>> = { 'http:': 80, 'https:': 443 }

/** Checks a URL. Throws `invalid` with a message. */
export function callableUrl(text: string, rules: AddressRules): URL {
  if (text.startsWith('/')) {
    throw new HeddleError('invalid', 'must be an absolute http(s) URL: only the webhook of a run ' +
      "may be the path of one of the project's own routes")
  }
  const url = URL.parse(text)
  const fault = url === null ? 'must be an absolute http(s) URL' : faultOf(text, url, rules)
  if (fault !== undefined) throw new HeddleError('invalid', fault)
  return url!
}

function faultOf(text: string, url: URL, rules: AddressRules): string | undefined {
  const { protocol, username, password, port } = url
  if (text.length > longest) return `must have ${longest} characters at most`
  if (!(protocol in ports) || !/^\s*https?:\/\//i.test(text)) {
    return 'must be an absolute http(s) URL'
  }
  if (username !== '' || password !== '') return 'must not name a user or a password'
  const isFree = port === '' || Number(port) >= leastFreePort ||
    Object.values(ports).includes(Number(port))
  if (!isFree) return `must not name port ${port}: use 80, 443 or one above 1023`
  const host = hostOf(url)
  const closed = closedByText(host, rules)
  return closed === undefined
    ? undefined
    : `must not be called, because ${host} is ${closed}: it is called only where the ` +
      `server is started with --egress-allow ${host}`
}

/** Reason why a host may not be called, as far as its text tells; undefined if it may. */
export function closedByText(host: string, rules: AddressRules): string | undefined {
  const addresses = isIP(host) === 0 ? addressesOfName(host) : [host]
  const faults = addresses.map((address) => rules.fault(host, address))
  return faults.includes(undefined) ? undefined : faults[0]
}

/** Addresses of names that mean the same on every machine. */
function addressesOfName(host: string): string[] {
  return /(^|\.)localhost$/.test(host) ? ['127.0.0.1', '::1'] : []
}

/**
 * The host in lower case: IPv4 in four decimals, IPv6 without brackets, names without a last dot.
 */
export function hostOf({ hostname }: Pick<URL, 'hostname'>): string {
  return hostname.toLowerCase().replace(/^\[(.*)\]$/, '$1').replace(/\.$/, '')
}
