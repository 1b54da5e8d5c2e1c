/** Connects only to addresses that may be called. What is checked is what is connected to. */

import type { LookupAddress } from 'node:dns'
import { isIP } from 'node:net'
import type { LookupFunction } from 'node:net'
import { callbackify } from 'node:util'

import { buildConnector } from 'undici'

import { HeddleError } from '../errors.ts'
import type { AddressRules } from './address-rules.ts'
import { hostOf } from './url-rules.ts'

/** Finds all addresses of a name. Throws if it has none. */
export type Resolve = (host: string) => Promise<readonly LookupAddress[]>

/** Rules and look-up for connections. `timeoutMs` is the time for one connection. */
export interface ConnectorOptions {
  readonly rules: AddressRules
  readonly resolve: Resolve
  readonly timeoutMs: number
}

/**
 * Makes a connector for undici. It looks a name up once for a connection, so that a second look-up
 * cannot give an address that was not checked. Of several addresses only open ones are tried.
 */
export function guardedConnector(
  { rules, resolve, timeoutMs }: ConnectorOptions,
): buildConnector.connector {
  const openOnes = callbackify(async (host: string) => {
    const found = await resolve(host)
    const open = found.filter(({ address }) => rules.fault(host, address) === undefined)
    if (open.length === 0) throw closedHost(host, found, rules)
    return open
  })
  const lookup: LookupFunction = (name, { all }, done) =>
    openOnes(hostOf({ hostname: name }), (error, open) => {
      if (error !== null) done(error, [])
      else if (all) done(null, [...open])
      else done(null, open[0]!.address, open[0]!.family)
    })
  const connect = buildConnector({ lookup, timeout: timeoutMs, allowH2: false })
  return (options, done) => {
    const host = hostOf(options)
    const fault = isIP(host) === 0 ? undefined : rules.fault(host, host)
    if (fault === undefined) connect(options, done)
    else done(closedHost(host, [{ address: host, family: isIP(host) }], rules), null)
  }
}

/** Throws `forbidden` if a name that a proxy looks up has a closed address. */
export async function requireOpenEverywhere(host: string, resolve: Resolve,
  rules: AddressRules): Promise<void> {
  // A name that is not known here is left to the rules of the proxy.
  const found = await resolve(host).catch(() => [])
  const closed = found.filter(({ address }) => rules.fault(host, address) !== undefined)
  if (closed.length > 0) throw closedHost(host, closed, rules)
}

function closedHost(host: string, found: readonly LookupAddress[],
  rules: AddressRules): HeddleError {
  const [first] = found
  const why = first === undefined ? 'has no address' : `is ${rules.fault(host, first.address)}`
  return new HeddleError('forbidden', `${host} ${why}: it is not called.`)
}
