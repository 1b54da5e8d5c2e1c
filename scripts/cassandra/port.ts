/** Tells which ports of this machine are in use. */

import { connect, createServer } from 'node:net'

/** True if a server listens there. */
export function isOpen(address: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host: address, port })
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false))
      .once('connect', () => socket.destroy())
  })
}

/** Code of the error that listening there gives; undefined if the port is free. */
export async function whyNotFree(address: string, port: number): Promise<string | undefined> {
  const probe = createServer()
  const problem = await new Promise<string | undefined>((answer) => {
    probe.once('error', (error: NodeJS.ErrnoException) => answer(error.code))
    probe.listen({ host: address, port, exclusive: true }, () => answer(undefined))
  })
  if (problem === undefined) await new Promise((closed) => probe.close(closed))
  return problem
}
