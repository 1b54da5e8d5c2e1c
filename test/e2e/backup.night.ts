/** A backup of 200 MB takes seconds while a server takes two hundred commits a second. */

import { randomBytes, randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, expect, it } from 'vitest'

import { systemEnv } from '../../cluster/index.ts'
import { openEmbeddedStore } from '../../src/store/embedded/index.ts'
import { aRow, aThread } from '../contract/rows.ts'
import { heddleProcess } from '../support/command.ts'
import { startServer } from '../support/server-process.ts'
import { clientOf } from '../support/server.ts'

const root = mkdtempSync(join(tmpdir(), 'heddle-backup-'))
afterAll(() => rmSync(root, { recursive: true }))

const env = systemEnv({ level: 'silent' })

async function fill(directory: string, rows: number, bytes: number): Promise<void> {
  const store = await openEmbeddedStore({ directory, env })
  const epoch = await store.claimEpoch()
  await Promise.all(Array.from({ length: rows }, async () => {
    const branch = { id: randomUUID(), ancestors: [] }
    const body = new Uint8Array(randomBytes(bytes))
    await store.log.append([aRow({ branch, epoch, seq: 1, body })], [{ table: 'thread',
      row: aThread({ threadId: branch.id, branch, epoch, seq: 1 }) }])
  }))
  await store.close()
}

function p99(times: readonly number[]): number {
  return times.toSorted((one, other) => one - other)[Math.floor(times.length * 0.99)] ?? 0
}

it('A backup of 200 MB is made and restored while 200 commits a second continue.', async () => {
  const data = join(root, 'data')
  for (let part = 0; part < 20; part++) await fill(data, 500, 20_000)
  const server = await startServer({ project: 'conformance', dataDir: data })
  const { threads } = clientOf(server.url)
  const made: string[] = []
  const tookMs: number[] = []
  const writing = new AbortController()
  const writers = Array.from({ length: 8 }, async () => {
    while (!writing.signal.aborted) {
      const askedMs = performance.now()
      made.push((await threads.create()).thread_id)
      tookMs.push(performance.now() - askedMs)
    }
  })
  while (made.length < 50) await threads.create()
  const [few, calmMs] = [made.length, performance.now()]
  while (made.length < 300) await threads.create()
  const calm = (made.length - few) / (performance.now() - calmMs) * 1_000
  const calmP99 = p99(tookMs.splice(0))
  const [before, beganMs] = [made.length, performance.now()]
  const { status, stderr } = await heddleProcess('backup', join(root, 'a.db'), '--data', data)
  const seconds = (performance.now() - beganMs) / 1_000
  const perSecond = (made.length - before) / seconds
  const busyP99 = p99(tookMs)
  writing.abort()
  await Promise.all(writers)
  await server.close()
  // On a busy machine it shows its progress.
  expect([status, stderr.replaceAll(/^(Copying|Checking|Hashing) .*\n/gm, '')]).toEqual([0, ''])
  const megabytes = statSync(join(root, 'a.db')).size / 1_000_000
  console.log(`${megabytes.toFixed()} MB in ${seconds.toFixed(1)} s, ` +
    `${perSecond.toFixed()} commits a second, ${calm.toFixed()} before; p99 ` +
    `${busyP99.toFixed(1)} ms, ${calmP99.toFixed(1)} ms before`)
  expect(megabytes).toBeGreaterThan(200)
  // On a machine that has other things to do, a quarter of what it did before.
  expect(perSecond).toBeGreaterThan(Math.min(200, calm / 4))
  expect(seconds).toBeLessThan(15)
  const database = new DatabaseSync(join(root, 'a.db'))
  expect(database.prepare('PRAGMA integrity_check').get()).toEqual({ integrity_check: 'ok' })
  database.close()
  const restoring = performance.now()
  expect(
    (await heddleProcess('restore', join(root, 'a.db'), '--data', join(root, 'restored'))).status,
  )
    .toBe(0)
  console.log(`restored in ${((performance.now() - restoring) / 1_000).toFixed(1)} s`)
  const store = await openEmbeddedStore({ directory: join(root, 'restored'), env })
  const found = await Promise.all(made.slice(0, before).map((id) => store.threads.get('local', id)))
  expect(found.filter((each) => each === undefined)).toEqual([])
  expect(await store.threads.count({ tenant: 'local' })).toBeGreaterThanOrEqual(10_000 + before)
  await store.close()
})
