/** Whether a request was made on this very machine, and not through a proxy. */

import type { FastifyRequest } from 'fastify'

import { isLoopback } from '../../ip-address.ts'

/** Headers that proxies add: behind a proxy on this machine, every request comes from here. */
const forwarded = ['forwarded', 'x-forwarded-for', 'x-real-ip', 'via']

export function isFromHere({ socket, headers }: FastifyRequest): boolean {
  if (forwarded.some((name) => headers[name] !== undefined)) return false
  return isLoopback(socket.remoteAddress?.replace(/^::ffff:/, '') ?? '')
}
