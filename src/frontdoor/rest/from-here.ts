/** Whether a request was made on this very machine, by whoever runs it. */

import { isIPv4 } from 'node:net'

import type { FastifyRequest } from 'fastify'

/** What a proxy adds: behind one on this machine everybody would come from here. */
const forwarded = ['forwarded', 'x-forwarded-for', 'x-real-ip', 'via']

export function isFromHere({ socket, headers }: FastifyRequest): boolean {
  if (forwarded.some((name) => headers[name] !== undefined)) return false
  const plain = socket.remoteAddress?.replace(/^::ffff:/, '') ?? ''
  return plain === '::1' || (isIPv4(plain) && plain.startsWith('127.'))
}
