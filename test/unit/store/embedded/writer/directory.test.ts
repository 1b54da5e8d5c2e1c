/** A data directory has one owner; errors say why it cannot be used and what to do. */

import { mkdir, readFile, readdir, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'

import { openEmbeddedStore, openScratchStore } from '../../../../../src/store/embedded/index.ts'
import { embeddedPlace } from '../../../../contract/embedded-place.ts'
import { aBranch, aCron, anAssistant, aRow, aThread } from '../../../../contract/rows.ts'
import { virtualEnv } from '../../../../support/env.ts'
import { isNight } from '../../../../support/repeats.ts'

describe('a data directory', () => {
  let place: ReturnType<typeof embeddedPlace>
  beforeEach(() => {
    place = embeddedPlace()
  })
  afterEach(() => place.remove())

  const open = (directory = place.directory) => openEmbeddedStore({ directory, env: virtualEnv() })

  it('is created if it is missing', async () => {
    const directory = join(place.directory, 'a/b')
    await (await open(directory)).close()
    expect(await readdir(directory)).toContain('heddle.db')
  })

  it.skipIf(process.platform === 'win32')('can be read by its owner only', async () => {
    await writeFile(join(place.directory, 'heddle.lock'), '', { mode: 0o644 })
    const store = await open()
    const scratch = await openScratchStore({ directory: join(place.directory, 'index'),
      env: virtualEnv(), shards: 4 })
    const names = ['heddle.db', 'heddle.db-wal', 'heddle.db-shm']
    const all = [...names, 'heddle.lock']
    for (const path of [...all, ...all.map((name) => join('index', name)), 'heddle.db-ahead']) {
      expect((await stat(join(place.directory, path))).mode & 0o077, path).toBe(0)
    }
    await scratch.close()
    await store.close()
  })

  it('belongs to one store at a time', async () => {
    const store = await open()
    await expect(open()).rejects.toThrow(`${place.directory} is in use by another process. Stop`)
    await expect(open()).rejects.toMatchObject({ code: 'not_owner' })
    await store.close()
    await store.close()
    await (await open()).close()
  })

  it('is unlocked again if it could not be opened', async () => {
    await mkdir(join(place.directory, 'heddle.db'))
    for (const _ of [1, 2]) await expect(open()).rejects.toMatchObject({ code: 'unavailable' })
  })

  it('of a scratch store is empty at each start', async () => {
    const openScratch = () =>
      openScratchStore({ directory: place.directory, env: virtualEnv(), shards: 4 })
    const store = await openScratch()
    const row = aThread()
    await store.log.append([], [{ table: 'thread', row }])
    expect(await store.threads.get('local', row.threadId)).toEqual(row)
    await store.close()
    const again = await openScratch()
    expect(await again.threads.get('local', row.threadId)).toBeUndefined()
    await again.close()
  })

  it('is refused with the name of the file that is damaged', async () => {
    await (await open()).close()
    await writeFile(join(place.directory, 'heddle.db'), 'x'.repeat(8_192))
    await expect(open()).rejects.toMatchObject({ code: 'unavailable' })
    await expect(open()).rejects.toThrow(`${join(place.directory, 'heddle.db')} is damaged`)
  })

  it.each([
    ['is empty', []],
    ['is empty', ['heddle.db-wal']],
    ['is missing, though its write-ahead log is there', ['heddle.db-wal']],
    ['is missing, though its write-ahead file is there', ['heddle.db-ahead']],
  ])('is refused if its file %s (beside it: %j), and left as it is', async (how, others) => {
    const store = await open()
    await store.log.append([], [{ table: 'thread', row: aThread() }])
    const read = () => Promise.all(others.map((name) => readFile(join(place.directory, name))))
    const contents = await read()
    await store.close()
    const file = join(place.directory, 'heddle.db')
    await rm(file)
    if (how === 'is empty') await writeFile(file, '')
    for (const [index, name] of others.entries()) {
      await writeFile(join(place.directory, name), contents[index]!)
    }
    for (const _ of [1, 2]) await expect(open()).rejects.toThrow(`${file} ${how}`)
    expect(await read()).toEqual(contents)
  })

  it('can be opened after a first start that failed before it wrote anything', async () => {
    const inTheWay = join(place.directory, 'heddle.db-new-journal')
    await mkdir(inTheWay)
    await expect(open()).rejects.toThrow('cannot be written')
    await rm(inTheWay, { recursive: true })
    await (await open()).close()
  })

  it.each(
    ['heddle.db', 'heddle.db-wal', 'heddle.db-ahead'].flatMap((
      name,
    ) => [{ name, together: 1 }, { name, together: 2 }])
      // By day each file once, and each road to it.
      .filter(({ name, together }) => isNight || (name === 'heddle.db-wal') === (together === 2)),
  )('is lost if its $name is removed: no write ' +
    'is acknowledged from then on ($together at once)', async ({ name, together }) => {
    const lost = Promise.withResolvers<string>()
    const env = virtualEnv()
    const store = await openEmbeddedStore({ directory: place.directory, env, onLost: lost.resolve })
    const branch = aBranch()
    let seq = 0
    const put = () => store.log.append([aRow({ branch, seq: ++seq })], [])
    await put()
    // The writer thread answers this when it has done all before it: then the write-ahead file
    // takes the next write, if it comes alone.
    await store.unfinished()
    await rm(join(place.directory, name))
    for (const writes of [Array.from({ length: together }, put), [put()]]) {
      for (const { status } of await Promise.allSettled(writes)) expect(status).toBe('rejected')
    }
    await expect(put()).rejects.toMatchObject({ code: 'unavailable' })
    expect(await lost.promise).toContain('has died')
    const message = expect.stringMatching(/^heddle\.db was removed or replaced/) as string
    expect(env.lines).toMatchObject([{ details: { error: { message } } }])
    await store.close()
  })

  it('is refused if it is no directory', async () => {
    const file = join(place.directory, 'file')
    await writeFile(file, '')
    await expect(open(file)).rejects.toMatchObject({ code: 'unavailable' })
    await expect(open(join(file, 'below'))).rejects.toThrow('cannot be made')
  })

  it('is checkpointed now and then, so that the write-ahead log stays small', async () => {
    const store = await open()
    const branch = aBranch()
    const body = new Uint8Array(1_000_000)
    for (let seq = 1; seq <= 30; seq++) await store.log.append([aRow({ branch, seq, body })], [])
    expect((await stat(join(place.directory, 'heddle.db-wal'))).size).toBeLessThan(20_000_000)
    await store.close()
  })

  it('of the first version gets the later tables, and keeps its rows', async () => {
    const store = await open()
    const row = aThread({ metadataJson: '{"title":"Kept"}' })
    await store.log.append([], [{ table: 'thread', row }])
    await store.close()
    const { DatabaseSync } = await import('node:sqlite')
    const database = new DatabaseSync(join(place.directory, 'heddle.db'))
    const later = ['api_key', 'limit_admit', 'owing', 'billing', 'thread_use', 'tenant_use', 'due',
      'assistant_use', 'use_life', 'item', 'item_vectors', 'schema_version', 'cron', 'cron_use',
      'expiring', 'expiring_life', 'thread_words', 'word_due', 'opened', 'word_life']
    for (const index of ['run_time', 'run_failed']) database.exec(`DROP INDEX ${index}`)
    for (const table of later) database.exec(`DROP TABLE ${table}`)
    for (const column of ['written', 'salt']) {
      database.exec(`ALTER TABLE life DROP COLUMN ${column}`)
    }
    database.exec('PRAGMA user_version = 1')
    database.close()
    const reopened = await open()
    expect(await reopened.keys.list()).toEqual([])
    expect(await reopened.items.get('local', 'none')).toBeUndefined()
    expect(await reopened.limits.since({ row: 'tested', who: 'somebody' }, 0)).toEqual([])
    expect(await reopened.threads.get('local', row.threadId)).toEqual(row)
    expect(await reopened.threads.count({ tenant: 'local', words: ['kept'] })).toBe(1)
    expect((await reopened.runs.search({ tenant: 'local', limit: 1 })).rows).toEqual([])
    expect(await reopened.use('local')).toEqual({ threads: 1, bytes: 0, runs: 0, delayedRuns: 0,
      crons: 0 })
    const owing = aThread({ owedWebhooks: ['run'] })
    await reopened.log.append([], [{ table: 'thread', row: owing }])
    expect(await reopened.unfinished()).toEqual([{ tenant: 'local', threadId: owing.threadId }])
    await reopened.close()
  })

  it('that an older version has had since knows again when threads end', async () => {
    const timeToLive = { strategy: 'delete', minutes: 1, expiresAtMs: 2_000 }
    const row = aThread({ timeToLive })
    const store = await open()
    await store.log.append([], [{ table: 'thread', row }, { table: 'thread', row: aThread() }])
    await store.close()
    const { DatabaseSync } = await import('node:sqlite')
    const database = new DatabaseSync(join(place.directory, 'heddle.db'))
    // It changes neither table, and gives numbers of removed rows to new ones.
    database.exec('UPDATE expiring_life SET epoch = 0; UPDATE expiring SET no = no + 1')
    database.close()
    const reopened = await open()
    expect(
      (await reopened.due({ atMs: 0, no: 0 }, 9)).map(({ threadId, atMs }) => [threadId, atMs]),
    )
      .toEqual([[row.threadId, 2_000]])
    expect(await reopened.threads.count({ tenant: 'local', expiredBy: 2_000 })).toBe(1)
    await reopened.close()
  })

  it('that an older version has had since is counted anew: what tenants use, and who sleeps',
    async () => {
      const run = { runId: 'r', createdSeq: 1, updatedAtMs: 1, status: 'pending', started: false,
        attempt: 0, baseCheckpointId: '', firstSeq: 1, startedAtMs: 0, notBeforeMs: 5,
        inputCharacters: 0, ownerDeaths: 0, suspect: false }
      const [gone, asleep] = [aThread({ storedBytes: 3 }),
        aThread({ storedBytes: 9, status: 'busy', unfinished: [run] })]
      const store = await open()
      await store.log.append([], [
        ...[gone, asleep].map((row) => ({ table: 'thread', row }) as const),
        { table: 'assistant', row: anAssistant({ storedBytes: 4 }) },
        { table: 'cron', row: aCron({ storedBytes: 6 }) },
      ])
      await store.close()
      const { DatabaseSync } = await import('node:sqlite')
      const database = new DatabaseSync(join(place.directory, 'heddle.db'))
      database.exec(`UPDATE life SET epoch = epoch + 1; DELETE FROM due; DELETE FROM assistant;
        DELETE FROM thread WHERE thread_id = '${gone.threadId}'`)
      database.close()
      const reopened = await open()
      expect(await reopened.use('local'))
        .toEqual({ threads: 1, bytes: 15, runs: 1, delayedRuns: 1, crons: 1 })
      expect(await reopened.due({ atMs: 0, no: 0 }, 9))
        .toMatchObject([{ threadId: asleep.threadId, atMs: 5 }])
      expect(await reopened.unfinished()).toEqual([])
      await reopened.close()
    })

  it('is refused if a newer version has written it', async () => {
    await (await open()).close()
    const { DatabaseSync } = await import('node:sqlite')
    const database = new DatabaseSync(join(place.directory, 'heddle.db'))
    database.exec('PRAGMA user_version = 99')
    database.close()
    await expect(open()).rejects.toMatchObject({ code: 'unsupported' })
    await expect(open()).rejects.toThrow('newer version')
  })
})
