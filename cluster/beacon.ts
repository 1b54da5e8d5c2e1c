/**
 * A beacon tells whoever comes who lives here; a probe asks it.
 *
 * The beacon writes the member's id on each connection and hangs up. An address may be taken over
 * by somebody else, so only the id that was asked for is a sign of life.
 */

import { connect, createServer } from 'node:net'
import type { AddressInfo, Server } from 'node:net'

import type { Env } from './env.ts'
import type { Member } from './member.ts'

export interface Beacon {
  /** Where it answers: what the member names as its address. */
  readonly address: string
  close(): Promise<void>
}

export interface BeaconOptions {
  /** Of the member. */
  readonly id: string
  /** Where others reach this process; it listens there and nowhere else. */
  readonly host: string
  /** 0, unless told, for any that is free. */
  readonly port?: number
}

export async function lightBeacon({ id, host, port = 0 }: BeaconOptions): Promise<Beacon> {
  const server = createServer((socket) => {
    // Whoever hangs up first is no trouble of ours.
    socket.on('error', () => {})
    socket.write(id)
    // Nothing is heard here: a visitor that stays must not keep the beacon from going out.
    socket.destroySoon()
  })
  await listening(server, host, port)
  const { port: taken } = server.address() as AddressInfo
  const name = host.includes(':') ? `[${host}]` : host
  return {
    address: `${name}:${taken}`,
    close: () => new Promise((done) => server.close(() => done())),
  }
}

function listening(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, resolve)
  })
}

/** Whether the member answers at its address. Never throws. */
export type Probe = (member: Member) => Promise<boolean>

/** A member that answers nothing for so long is dead. */
const silenceMs = 3_000
/** Where the way there is blocked, it is tried again so often. */
const tryAgainMs = 250

/**
 * Its id is a sign of life. Another id, a refusal and a connection that breaks say at once that it
 * is dead; silence, and an address that cannot be reached, say so after three seconds.
 */
export function tcpProbe(env: Env): Probe {
  return (member) => new Promise((resolve) => {
    let hangUp = () => {}
    const judge = (alive: boolean) => {
      hangUp()
      stopWaiting()
      resolve(alive)
    }
    const stopWaiting = env.after(silenceMs, () => judge(false))
    const ask = () => {
      hangUp = hear(member, (sign) => {
        if (sign === 'blocked') {
          hangUp = env.after(tryAgainMs, ask)
        } else judge(sign === 'alive')
      })
    }
    ask()
  })
}

/** A refused or broken connection: the process that the address belonged to is gone. */
const gone: readonly string[] = ['ECONNREFUSED', 'ECONNRESET', 'EPIPE']

/** Calls `heard` once, unless the returned function was called before. */
function hear({ id, address }: Member, heard: (sign: 'alive' | 'dead' | 'blocked') => void):
() => void {
  const colon = address.lastIndexOf(':')
  const host = address.slice(0, colon).replace(/^\[(.*)\]$/, '$1')
  const socket = connect({ host, port: Number(address.slice(colon + 1)) })
  let said = ''
  socket.setEncoding('utf8')
  socket.on('data', (text: string) => {
    said += text
    // Somebody else, who talks more than a beacon would.
    if (said.length > id.length) socket.destroy()
  })
  socket.once('error', ({ code }: NodeJS.ErrnoException) => {
    socket.removeAllListeners('close')
    heard(gone.includes(code ?? '') ? 'dead' : 'blocked')
  })
  socket.once('close', () => heard(said === id ? 'alive' : 'dead'))
  return () => {
    socket.removeAllListeners()
    socket.on('error', () => {})
    socket.destroy()
  }
}
