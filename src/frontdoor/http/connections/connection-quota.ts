/** Bounds the open connections of each client address. */

import type { Socket } from 'node:net'

import { ipAddress, isLoopback, isWithin } from '../../../settings/index.ts'
import type { IpRange } from '../../../settings/index.ts'
import { groupOf } from './client-address.ts'

/** Bound on connections, and who is exempt. */
export interface ConnectionQuotaOptions {
  /** Connections of one IPv4 address, or of one /64 of IPv6. */
  readonly perAddress: number
  /** True for peers that pass on requests of others: they may have any number of connections. */
  readonly isExempt: (peer: string) => boolean
}

/** Counts open connections by address. Belongs to one front door. */
export class ConnectionQuota {
  readonly #options: ConnectionQuotaOptions
  readonly #open = new Map<string, number>()
  #refused = 0

  constructor(options: ConnectionQuotaOptions) {
    this.#options = options
  }

  /** Connections that were refused so far. */
  get refused(): number {
    return this.#refused
  }

  /** True if the connection may stay. It counts until it is closed. */
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

/** Makes a test that exempts this machine, whose proxies are many clients, and these ranges. */
export function fromProxies(ranges: readonly IpRange[]): (peer: string) => boolean {
  return (peer) => {
    const address = ipAddress(peer)
    if (address === undefined) return false
    return isLoopback(address.toString()) || ranges.some((range) => isWithin(address, range))
  }
}
