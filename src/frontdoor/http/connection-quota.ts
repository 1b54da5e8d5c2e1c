/** How many connections each client address may have open. */

import type { Socket } from 'node:net'

import { ipAddress, isLoopback, isWithin } from '../../settings/index.ts'
import type { IpRange } from '../../settings/index.ts'
import { groupOf } from './client-address.ts'

export interface ConnectionQuotaOptions {
  /** Connections of one IPv4 address, or of one /64 of IPv6. */
  readonly perAddress: number
  /** Peers that may have any number: they pass on the requests of others. */
  readonly isExempt: (peer: string) => boolean
}

export class ConnectionQuota {
  readonly #options: ConnectionQuotaOptions
  readonly #open = new Map<string, number>()
  #refused = 0

  constructor(options: ConnectionQuotaOptions) {
    this.#options = options
  }

  /** How many connections were refused so far. */
  get refused(): number {
    return this.#refused
  }

  /** Whether the connection may stay. It counts until it is closed. */
  admits(socket: Pick<Socket, 'remoteAddress' | 'once'>): boolean {
    const { remoteAddress: peer = '' } = socket
    const { perAddress, isExempt } = this.#options
    if (isExempt(peer)) return true
    const address = ipAddress(peer)
    const group = address === undefined ? peer : groupOf(address)
    const open = this.#open.get(group) ?? 0
    if (open >= perAddress) {
      this.#refused++
      return false
    }
    this.#open.set(group, open + 1)
    socket.once('close', () => this.#closed(group))
    return true
  }

  #closed(group: string): void {
    const left = this.#open.get(group)! - 1
    if (left > 0) this.#open.set(group, left)
    else this.#open.delete(group)
  }
}

/** Exempts this machine, whose proxies are many clients, and the proxies in these ranges. */
export function fromProxies(ranges: readonly IpRange[]): (peer: string) => boolean {
  return (peer) => {
    const address = ipAddress(peer)
    if (address === undefined) return false
    return isLoopback(address.toString()) || ranges.some((range) => isWithin(address, range))
  }
}
