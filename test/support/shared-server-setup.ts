/** Setup before all tests: offers a server that files share, started at the first request. */

import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'

import type { TestProject } from 'vitest/node'

import { dropKeyspace } from './cassandra-keyspace.ts'
import type { CassandraKeyspace } from './cassandra-keyspace.ts'
import { startServer } from './server-process.ts'
import type { ServerProcess } from './server-process.ts'

/** The answer to a test that asks for the server. */
export type SharedServerAnswer =
  | { readonly url: string }
  /** Why it did not start. */
  | { readonly broken: string }

interface SharedServer {
  readonly place: CassandraKeyspace | null
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
  let shared: SharedServer | undefined
  const door = createServer(async (request, response) => {
    const place = await json(request) as CassandraKeyspace | null
    shared ??= { place,
      server: startServer({ project: 'conformance', ...place && { cassandra: place } }) }
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
    if (shared === undefined) return
    await shared.server.then((server) => server.close(), () => undefined)
    if (shared.place) await dropKeyspace(shared.place)
  }
}
