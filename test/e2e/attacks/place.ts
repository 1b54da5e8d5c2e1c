/** What an attack has: a server that may not take more memory than a member, and keys for it. */

import { mkdtemp, rm } from 'node:fs/promises'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { openKeyMaker } from '../../support/keys.ts'
import { startServer } from '../../support/server-process.ts'
import type { ServerProcess } from '../../support/server-process.ts'

/** What the Kubernetes manifest gives a member. */
const memberBytes = 4 * 1024 * 1024 * 1024

/** The answer to a request whose body was read and dropped. */
export interface Dropped {
  /** 0 if the connection broke before the status. */
  readonly status: number
  readonly bytes: number
  /** The answer came to its end. */
  readonly whole: boolean
}

export interface AttackPlace {
  readonly server: ServerProcess
  /** Of the tenant that attacks: a developer's key, and a reader's. */
  readonly developer: string
  readonly reader: string
  /** A developer's key of another tenant, whose writes must not suffer. */
  readonly other: string
  /** Sends JSON with a key, and returns the answer's. Throws unless it is a success. */
  send(key: string, path: string, body: unknown): Promise<unknown>
  /**
   * Sends JSON with a key, or gets what is there; reads the answer without keeping any of it. A
   * text or bytes are the body as it is sent.
   */
  drop(key: string, path: string, body?: unknown,
    headers?: Readonly<Record<string, string>>): Promise<Dropped>
  close(): Promise<void>
}

/**
 * A way to make the server hold too much or wait too long. Add one to the list in
 * `attacks.night.ts`: it is then carried out alone and together with all others.
 */
export interface Attack {
  readonly name: string
  /** Writes of the other tenant that must stay quick; of threads by default. */
  readonly beside?: 'threads' | 'spans'
  /** Milliseconds that 99 of 100 of these writes take at most; by default 100. */
  readonly slowestMs?: number
  /** Puts what it needs in place. The result attacks: it ends when the server has answered. */
  prepare(place: AttackPlace): Promise<() => Promise<unknown>>
}

export async function openPlace(args: readonly string[] = []): Promise<AttackPlace> {
  const dataDir = await mkdtemp(join(tmpdir(), 'heddle-attacks-'))
  const keys = await openKeyMaker({ dataDir })
  const [developer, reader, other] = [await keys.make('attacker'),
    await keys.make('attacker', 'reader'), await keys.make('other')]
  await keys.close()
  const server = await startServer({ project: 'attacks', dataDir, memoryBytes: memberBytes,
    args: ['--auth', 'keys', ...args] })
  return {
    server,
    developer,
    reader,
    other,
    send: async (key, path, body) => {
      const answer = await fetch(`${server.url}${path}`, { method: 'POST',
        headers: { 'content-type': 'application/json', 'x-api-key': key },
        body: JSON.stringify(body) })
      const text = await answer.text()
      if (!answer.ok) throw new Error(`${path} answered ${answer.status}: ${text.slice(0, 500)}`)
      return JSON.parse(text)
    },
    drop: (key, path, body, headers) =>
      drop(new URL(path, server.url), { 'x-api-key': key, 'content-type': 'application/json',
        ...headers }, bodyOf(body)),
    close: async () => {
      await server.close()
      await rm(dataDir, { recursive: true, force: true })
    },
  }
}

function bodyOf(body: unknown): string | Uint8Array {
  if (body === undefined) return ''
  return typeof body === 'string' || body instanceof Uint8Array ? body : JSON.stringify(body)
}

function drop(url: URL, headers: Readonly<Record<string, string>>,
  body: string | Uint8Array): Promise<Dropped> {
  return new Promise((resolve) => {
    const method = body === '' ? 'GET' : 'POST'
    const sent = request(url, { method, agent: false, headers }, (answer) => {
      let bytes = 0
      answer.on('data', (chunk: Buffer) => {
        bytes += chunk.length
      })
      answer.once('error', () => {})
      answer.once('close',
        () => resolve({ status: answer.statusCode!, bytes, whole: answer.complete }))
    })
    sent.once('error', () => resolve({ status: 0, bytes: 0, whole: false }))
    sent.end(body)
  })
}
