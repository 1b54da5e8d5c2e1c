/** The address of this machine towards Cassandra, at which other members can reach it too. */

import { connect, isIPv6 } from 'node:net'

import type { Env } from '../../../cluster/index.ts'
import { HeddleError } from '../../errors.ts'

const cqlPort = 9042
/** Time for a node to answer. One that does not is skipped. */
const answerMs = 2_000

/**
 * The address of this machine towards the first of these nodes that accepts a connection. Throws
 * `unavailable` if none does: at a guessed address, other members would not reach this member and
 * would take it for dead.
 */
export async function ownAddressTowards(contactPoints: readonly string[],
  env: Pick<Env, 'after'>): Promise<string> {
  for (const contactPoint of contactPoints) {
    const address = await addressTowards(contactPoint, env)
    if (address !== undefined) return address
  }
  throw new HeddleError('unavailable', `No node of Cassandra at ${contactPoints.join(', ')} ` +
    'answers, by which the address of this member could be told: name it with --member-host.')
}

function addressTowards(contactPoint: string,
  env: Pick<Env, 'after'>): Promise<string | undefined> {
  return new Promise((found) => {
    const socket = connect(placeOf(contactPoint))
    const end = (address?: string) => {
      stopWaiting()
      socket.destroy()
      found(address)
    }
    const stopWaiting = env.after(answerMs, end)
    socket.on('error', () => end()).on('connect', () => end(socket.localAddress))
  })
}

/**
 * The contact point as the driver reads it: `host`, `host:port`, `[address]:port`, or a bare IPv6
 * address.
 */
function placeOf(contactPoint: string): { host: string; port: number } {
  if (isIPv6(contactPoint)) return { host: contactPoint, port: cqlPort }
  const [, host, port = cqlPort] = /^\[?(.*?)\]?(?::(\d+))?$/.exec(contactPoint)!
  return { host: host!, port: Number(port) }
}
