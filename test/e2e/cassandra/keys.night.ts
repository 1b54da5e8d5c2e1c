/** Keys of two front doors on one keyspace: created and revoked for both, also by a command. */

import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { dropKeyspace, newKeyspace } from '../../support/cassandra-keyspace.ts'
import { cassandraForTests } from '../../support/cassandra.ts'
import { useGates } from '../../support/gate.ts'
import { openKeyMaker } from '../../support/keys.ts'
import { say } from '../../support/run-events.ts'
import { oneWorker, startServer } from '../../support/server-process.ts'
import type { ServerProcess } from '../../support/server-process.ts'
import { allowedMs } from '../../support/stillness.ts'
import { ask, framesOf } from '../../support/wire.ts'

const cassandra = await cassandraForTests()
const gate = useGates()
const keyspace = cassandra && newKeyspace(cassandra)

describe.skipIf(keyspace === undefined)('two front doors on one keyspace', () => {
  let doors: readonly ServerProcess[] = []

  beforeAll(async () => {
    const start = () =>
      startServer({ project: 'conformance', cassandra: keyspace,
        args: ['--auth', 'keys', ...oneWorker] })
    doors = [await start(), await start()]
  })

  afterAll(async () => {
    await Promise.all(doors.map((door) => door.close()))
    await dropKeyspace(keyspace!)
  })

  const statuses = (key: string) =>
    Promise.all(
      doors.map(async ({ url }) =>
        (await ask(url, 'POST', '/threads/search', {}, { 'x-api-key': key })).status
      ),
    )

  it('refuse a key within five seconds of its revocation, and end its streams', async () => {
    const maker = await openKeyMaker({ dataDir: doors[0]!.dataDir, cassandra: keyspace })
    const { key, id } = await maker.keyAdmin.create(
      { tenant: 'acme', role: 'developer', name: '', expiresInMs: null },
    )
    expect(await statuses(key)).toEqual([200, 200])
    const hold = gate()
    const streams = await Promise.all(doors.map(async ({ url }) => {
      const { body } = await fetch(`${url}/runs/stream`, { method: 'POST',
        headers: { 'x-api-key': key },
        body: JSON.stringify({ assistant_id: 'held', input: say(`hold ${hold.url}`) }) })
      const frames = framesOf(body!)
      await frames.next()
      const end = (async () => {
        for await (const _ of frames);
      })()
      return { end: end.then(() => 'cleanly', () => 'broken off') }
    }))
    const began = performance.now()
    const { revokedAtMs } = await maker.keyAdmin.revoke(id)
    expect(await Promise.all(streams.map(({ end }) => end))).toEqual(['broken off', 'broken off'])
    await expect.poll(() => statuses(key), { interval: 100 }).toEqual([401, 401])
    expect(Date.now() - revokedAtMs!)
      .toBeLessThan(allowedMs(5_000, began, performance.now()))
    hold.open()
    await maker.close()
  })

  it('show when a key was last used', async () => {
    const maker = await openKeyMaker({ dataDir: doors[0]!.dataDir, cassandra: keyspace })
    const key = await maker.make('used')
    await statuses(key)
    await expect.poll(async () => (await maker.keyAdmin.list('used'))[0]?.usedAtMs)
      .toBeGreaterThan(Date.now() - 60_000)
    await maker.close()
  })
})
