/** Setup before all tests: offers servers that files share, started at the first request. */

import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'

import type { TestProject } from 'vitest/node'

import { dropKeyspace } from './cassandra-keyspace.ts'
import type { CassandraKeyspace } from './cassandra-keyspace.ts'
import { startServer } from './server-process.ts'
import type { ServerProcess } from './server-process.ts'

/** What a test asks for. */
export interface SharedServerRequest {
  /** The folder of the project: graphs of each run on the packages beside it. */
  readonly project: string
  /** Where the server finds its data, if that is Cassandra: the place of the first that asks. */
  readonly place?: CassandraKeyspace
}

/** The answer to a test that asks for the server. */
export type SharedServerAnswer =
  | { readonly url: string }
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
  const door = createServer(async (request, response) => {
    const { project, place } = await json(request) as SharedServerRequest
    const kind = `${place ? 'Cassandra' : 'embedded'} ${project}`
    const shared = servers.get(kind) ??
      { place, server: startServer({ project, ...place && { cassandra: place } }) }
    servers.set(kind, shared)
    const answer: SharedServerAnswer = await shared.server.then(({ url }) => ({ url }),
      (error: Error) => ({ broken: error.message }))
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
  }
}
