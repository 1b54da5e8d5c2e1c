/** The address of this machine towards Cassandra: who reaches that reaches this one as well. */

import { connect, isIPv6 } from 'node:net'

import type { Env } from '../../cluster/index.ts'
import { HeddleError } from '../errors.ts'

const cqlPort = 9042
/** A node that says nothing for so long is none to go by. */
const answerMs = 2_000

/**
 * Where others reach this machine, as it is towards the first of these nodes that lets it connect.
 * Throws `unavailable` where none does: with an address that is made up, whoever looks for this
 * member there would find nobody, and take it for dead.
 */
export async function ownAddressTowards(contactPoints: readonly string[], env: Pick<Env, 'after'>):
Promise<string> {
  for (const contactPoint of contactPoints) {
    const address = await addressTowards(contactPoint, env)
    if (address !== undefined) return address
  }
  throw new HeddleError('unavailable', `No node of Cassandra at ${contactPoints.join(', ')} ` +
    'answers, by which the address of this member could be told: name it with --member-host.')
}

function addressTowards(contactPoint: string, env: Pick<Env, 'after'>):
Promise<string | undefined> {
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

/** As the driver reads it: `host`, `host:port`, `[address]:port`, or an address of IPv6 alone. */
function placeOf(contactPoint: string): { host: string; port: number } {
  if (isIPv6(contactPoint)) return { host: contactPoint, port: cqlPort }
  const [, host, port = cqlPort] = /^\[?(.*?)\]?(?::(\d+))?$/.exec(contactPoint)!
  return { host: host!, port: Number(port) }
}
