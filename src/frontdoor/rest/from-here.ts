/** Whether a request was made on this very machine, and not through a proxy. */

import type { FastifyRequest } from 'fastify'

import { isLoopback } from '../../ip-address.ts'
import { hostOf } from './local-safety.ts'

/** Headers that proxies add: behind a proxy on this machine, every request comes from here. */
const forwarded = ['forwarded', 'x-forwarded-for', 'x-real-ip', 'via']

export function isFromHere(request: FastifyRequest): boolean {
  const { socket, headers } = request
  if (forwarded.some((name) => headers[name] !== undefined)) return false
  if (!isLoopback(hostOf(request))) return false
  return isLoopback(socket.remoteAddress?.replace(/^::ffff:/, '') ?? '')
}
