/** Whether a request was made on this very machine, and not through a proxy or a tunnel. */

import type { FastifyRequest } from 'fastify'

import { isLoopback } from '../../settings/index.ts'
import { isForwardingHeader } from '../schema/forwarding-headers.ts'
import { hostOf } from './local-safety.ts'

/**
 * Behind a proxy on this machine every request comes from here, but has a header of the proxy or
 * the name of another host. Of HTTP/1.0 are proxies that add neither, and nothing that runs today.
 */
export function isFromHere(request: FastifyRequest): boolean {
  const { raw, socket, headers } = request
  if (raw.httpVersion === '1.0') return false
  if (Object.keys(headers).some(isForwardingHeader)) return false
  if (!isLoopback(hostOf(request))) return false
  return isLoopback(socket.remoteAddress?.replace(/^::ffff:/, '') ?? '')
}
