/** Setup before all tests: offers servers that files share, started at the first request. */

import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { json } from 'node:stream/consumers'

import type { TestProject } from 'vitest/node'

import { dropKeyspace } from './cassandra-keyspace.ts'
import type { CassandraKeyspace } from './cassandra-keyspace.ts'
import type { KeyPlace } from './keys.ts'
import { oneWorker, startServer } from './server-process.ts'
import type { ServerProcess } from './server-process.ts'

/**
 * Servers that files share:
 * open     everybody may call it, and it may call this machine
 * keys     callers need a key; each file has a tenant of its own there
 * judging  with graphs that answer and graphs that judge answers; it may call this machine
 */
export type SharedKind = 'open' | 'keys' | 'judging'

/** The project of each, and how it is started. */
const kinds: Readonly<Record<SharedKind, { project: string; args: readonly string[] }>> = {
  open: { project: 'conformance', args: ['--egress-allow', '127.0.0.1'] },
  keys: { project: 'conformance',
    args: ['--auth', 'keys', '--hub-handle', 'acme=acme-co', '--quota-streams', '50'] },
  judging: { project: 'judging', args: [...oneWorker, '--egress-allow', '127.0.0.1'] },
}

/** What a test asks for. */
export interface SharedServerRequest {
  readonly kind: SharedKind
  /** The folder of projects: graphs of each run on the packages beside it. */
  readonly projects: string
  /** Where the server finds its data, if that is Cassandra: the place of the first that asks. */
  readonly place?: CassandraKeyspace
}

/** The answer to a test that asks for the server. */
export type SharedServerAnswer =
  | { readonly url: string; readonly keyPlace: KeyPlace }
  /** Why it did not start. */
  | { readonly broken: string }

interface SharedServer {
  readonly place: CassandraKeyspace | undefined
  readonly server: Promise<ServerProcess>
}

declare module 'vitest' {
  interface ProvidedContext {
    /** Where to ask for the shared server, with the place where it finds its data. */
    readonly sharedServerDoor: string
  }
}

/** Offers the server on a local port. Vitest calls it once, and calls the result at the end. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const servers = new Map<string, SharedServer>()
  const folder = mkdtempSync(join(tmpdir(), 'heddle-shared-'))
  const keyFile = join(folder, 'key')
  writeFileSync(keyFile, randomBytes(32), { mode: 0o600 })
  const door = createServer(async (request, response) => {
    const { kind, projects, place } = await json(request) as SharedServerRequest
    const name = `${place ? 'Cassandra' : 'embedded'} ${kind} ${projects}`
    const { project, args } = kinds[kind]
    const shared = servers.get(name) ?? { place, server: startServer({
      project: join(projects, project),
      // A data directory has a key of its own.
      args: place && kind === 'keys' ? [...args, '--secrets-key', keyFile] : args,
      ...place && { cassandra: place },
    }) }
    servers.set(name, shared)
    const cassandra = shared.place && { cassandra: shared.place }
    const answer: SharedServerAnswer = await shared.server.then(
      ({ url, dataDir }) => ({ url, keyPlace: { dataDir, ...cassandra } }),
      (error: Error) => ({ broken: error.message }),
    )
    response.end(JSON.stringify(answer))
  })
  door.listen(0, '127.0.0.1')
  await once(door, 'listening')
  project.provide('sharedServerDoor', `http://127.0.0.1:${(door.address() as AddressInfo).port}`)
  return async () => {
    door.closeAllConnections()
    door.close()
    for (const { server, place } of servers.values()) {
      await server.then((started) => started.close(), () => undefined)
      if (place) await dropKeyspace(place)
    }
    rmSync(folder, { recursive: true })
  }
}
