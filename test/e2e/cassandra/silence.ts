/** Cassandra that answers one question late while a server starts. */

import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { dropKeyspace, newKeyspace } from '../../support/cassandra-keyspace.ts'
import type { CassandraForTests } from '../../support/cassandra.ts'
import { makeCuttingProxy } from '../../support/cutting-proxy.ts'
import { detoured } from '../../support/detour.ts'
import { startServer } from '../../support/server-process.ts'

/**
 * The question is the first one that names one of these tables. It must be asked of the only node.
 */
export function describeSilence(cassandra: CassandraForTests | undefined,
  tables: readonly string[]): void {
  describe.skipIf(!cassandra)('a cluster that is silent for a while', () => {
    const place = newKeyspace(cassandra!)
    beforeAll(async () => {
      // Creates the tables.
      await (await startServer({ project: 'conformance', cassandra: place })).close()
    })
    afterAll(() => dropKeyspace(place))

    it.each(tables)(
      'when it is asked for a %s is waited for',
      async (table) => {
        const meant = place.contactPoints[0]!
        const to = meant.includes(':') ? meant : `${meant}:9042`
        const proxy = makeCuttingProxy()
        onTestFinished(() => proxy.close())
        proxy.holdAt(table)
        const server = await startServer({
          project: 'conformance',
          cassandra: place,
          env: detoured({ [to]: new URL(await proxy.to(`http://${to}`)).host }),
          received: (output) => {
            if (output.includes('waits for it')) proxy.release()
          },
        })
        onTestFinished(() => server.close())
        expect(server.output()).toContain('The store does not answer yet')
      },
    )
  })
}
