/** Whether a request was made on this machine. */

import type { FastifyRequest } from 'fastify'

import { isLoopback } from '../../ip-address.ts'

/** Headers that proxies add: behind one on this machine, every client would seem to be here. */
const forwarded = ['forwarded', 'x-forwarded-for', 'x-real-ip', 'via']

export function isFromHere({ socket, headers }: FastifyRequest): boolean {
  if (forwarded.some((name) => headers[name] !== undefined)) return false
  return isLoopback(socket.remoteAddress?.replace(/^::ffff:/, '') ?? '')
}
