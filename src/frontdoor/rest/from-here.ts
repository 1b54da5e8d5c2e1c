/** Tells whether a request was made on this machine, and not through a proxy or a tunnel. */

import type { FastifyRequest } from 'fastify'

import { isLoopback } from '../../settings/index.ts'
import { isForwardingHeader } from '../schema/forwarding-headers.ts'
import { hostOf } from './local-safety.ts'

/**
 * True for a request of this machine. Behind a proxy on it every request comes from here, but has a
 * header of the proxy or the name of another host. Proxies that add neither speak HTTP/1.0, which
 * no client of today does.
 */
export function isFromHere(request: FastifyRequest): boolean {
  const { raw, socket, headers } = request
  if (raw.httpVersion === '1.0') return false
  if (Object.keys(headers).some(isForwardingHeader)) return false
  if (!isLoopback(hostOf(request))) return false
  return isLoopback(socket.remoteAddress?.replace(/^::ffff:/, '') ?? '')
}
