/** Whether a request was made on this very machine, by whoever runs it. */

import type { FastifyRequest } from 'fastify'

import { isLoopback } from '../../ip-address.ts'

/** What a proxy adds: behind one on this machine everybody would come from here. */
const forwarded = ['forwarded', 'x-forwarded-for', 'x-real-ip', 'via']

export function isFromHere({ socket, headers }: FastifyRequest): boolean {
  if (forwarded.some((name) => headers[name] !== undefined)) return false
  return isLoopback(socket.remoteAddress?.replace(/^::ffff:/, '') ?? '')
}
