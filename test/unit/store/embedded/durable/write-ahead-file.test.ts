/** What the write-ahead file acknowledges is never lost, and everybody finds it at once. */

import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { cp, mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it,
  onTestFinished } from 'vitest'

import type { Branch } from '../../../../../proto/gen/storage/v1/row.ts'
import { openEmbeddedStore } from '../../../../../src/store/embedded/index.ts'
import { createWriteAhead,
  WriteAheadFile } from '../../../../../src/store/embedded/durable/write-ahead-file.ts'
import { embeddedPlace } from '../../../../contract/embedded-place.ts'
import { aBranch, aRow, aRun, aThread, copyOf } from '../../../../contract/rows.ts'
import type { OpenStore } from '../../../../contract/store-place.ts'
import { virtualEnv } from '../../../../support/env.ts'
import { isNight, repeats } from '../../../../support/repeats.ts'

/** Lives of a process. By night each ends when a write is refused, which takes seconds. */
const lives = repeats({ day: 1, night: 3 })
/** Lines after which a life ends, of which the last ones are not in the database. */
const lines = repeats({ day: 30, night: Infinity })
const every = { from: 1, through: Number.MAX_SAFE_INTEGER }

let place: ReturnType<typeof embeddedPlace>
let store: OpenStore
const open = async () => {
  place = embeddedPlace()
  store = await place.open()
}
const close = async () => {
  await store.close()
  await place.remove()
}

/** Nothing gets into the database until the returned function is called. */
function holdDatabase(): () => void {
  const database = new DatabaseSync(join(place.directory, 'heddle.db'), { timeout: 10_000 })
  database.exec('BEGIN IMMEDIATE')
  return () => database.close()
}

/** Appends the row, together with the rows of a thread and a run of the same number. */
function append(branch: Branch, seq: number, epoch = 1): Promise<void> {
  const thread = aThread({ threadId: branch.id, branch, epoch, seq, updatedAtMs: seq })
  const run = aRun({ threadId: branch.id, runId: branch.id, updatedAtMs: seq })
  return store.log.append([aRow({ branch, seq, epoch, prevEpoch: seq === 1 ? 0 : 1 })], [{
    table: 'thread',
    row: thread,
  }, { table: 'run', row: run }])
}

async function newestOf(from: OpenStore, { id, ancestors }: Branch) {
  const rows = await from.log.read({ id, ancestors }, every)
  const thread = await from.threads.get('local', id)
  const run = await from.runs.get('local', id, id)
  return [rows.at(-1)?.seq, thread?.updatedAtMs, run?.updatedAtMs]
}

/** The store as it would be found if the process were killed now. */
async function afterKill(look: (found: OpenStore) => Promise<void>): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'heddle-killed-'))
  const files = (await readdir(place.directory)).filter((name) => /db(-wal|-ahead)?$/.test(name))
  for (const name of files) await cp(join(place.directory, name), join(directory, name))
  const found = await openEmbeddedStore({ directory, env: virtualEnv() })
  await look(found)
  await found.close()
  await rm(directory, { recursive: true })
}

describe('an append that comes alone', () => {
  beforeAll(open)
  afterAll(close)

  it('is acknowledged before it is in the database, and found after a kill', async () => {
    const branch = aBranch()
    await append(branch, 1)
    // A question is answered when the append before it is in the database.
    await store.log.tail(branch)
    const release = holdDatabase()
    await append(branch, 2)
    await afterKill(async (found) => expect(await newestOf(found, branch)).toEqual([2, 2, 2]))
    release()
    expect(await newestOf(store, branch)).toEqual([2, 2, 2])
  })

  it('is found at once, by id too', async () => {
    const branch = aBranch()
    const release = holdDatabase()
    await append(branch, 1)
    const found = [store.threads.get('local', branch.id),
      store.runs.get('local', branch.id, branch.id)] as const
    release()
    expect((await found[0])?.updatedAtMs).toBe(1)
    expect((await found[1])?.updatedAtMs).toBe(1)
  })

  it('is one of 32 at most: the next waits for the database, and is not done without it',
    async () => {
      const branch = aBranch()
      const release = holdDatabase()
      for (let seq = 1; seq <= 32; seq++) await append(branch, seq)
      // It is refused after seconds. A slow machine takes as long for what comes in between.
      const isDone = append(branch, 33).then(() => true, ({ message }: Error) => {
        expect(message).toContain('Another program holds')
        return false
      })
      if (isNight) expect(await isDone).toBe(false)
      await afterKill(async (found) => expect(await newestOf(found, branch)).toEqual([32, 32, 32]))
      release()
      if (!await isDone) await append(branch, 33)
      await afterKill(async (found) => expect(await newestOf(found, branch)).toEqual([33, 33, 33]))
    })

  it('waits for another program that writes, and so does any other write', async () => {
    for (const updates of [[], [{ table: 'thread', row: aThread() }]] as const) {
      const release = holdDatabase()
      const rows = updates.length > 0 ? [] : [aRow({ branch: aBranch(), seq: 1 })]
      const write = store.log.append(rows, updates)
      const answer = store.keys.list().then(() => 'answered', () => 'failed')
      const patient = setTimeout(100, 'patient')
      expect(await Promise.race([answer, patient])).toBe('patient')
      release()
      await write
      expect(await answer).toBe('answered')
    }
  })

  it('that does not follow is refused, also after a start', async () => {
    const attempts = [
      // It leaves a gap, is there already, has an earlier owner, or goes to a copy of what is gone.
      (branch: Branch) => append(branch, 3),
      (branch: Branch) => append(branch, 1),
      (branch: Branch) => append(branch, 2, 0),
      () => append(copyOf(aBranch(), 7), 8),
    ].map((attempt) => ({ attempt, branch: aBranch() }))
    const expectRefusals = async () => {
      for (const { attempt, branch } of attempts) {
        await expect(attempt(branch), `${attempt}`).rejects
          .toMatchObject({ code: /stale_append|not_found/ })
      }
    }
    for (const { branch } of attempts) await append(branch, 1)
    await expectRefusals()
    await store.close()
    store = await place.open()
    await expectRefusals()
    for (const { branch } of attempts) await append(branch, 2)
  })

  it('to what was deleted is refused', async () => {
    const branch = aBranch()
    await append(branch, 1)
    await append(copyOf(branch, 1), 2)
    await store.log.purge({ table: 'thread', tenant: 'local', id: branch.id, branch, epoch: 1 })
    await expect(append(branch, 2)).rejects.toMatchObject({ code: 'stale_append' })
  })

  it('is not done twice, and what came between is not undone', async () => {
    const [branch, other] = [aBranch(), aBranch()]
    for (let seq = 1; seq <= 20; seq += 1) await append(branch, seq)
    await Promise.all([append(branch, 21), append(other, 1)])
    await store.log.purge({ table: 'thread', tenant: 'local', id: branch.id, branch, epoch: 1 })
    await append(other, 2)
    await afterKill(async (found) => {
      expect(await newestOf(found, branch)).toEqual([undefined, undefined, undefined])
      expect(await newestOf(found, other)).toEqual([2, 2, 2])
    })
  })

  it('is kept when the write-ahead file is full, time after time', async () => {
    const branch = aBranch()
    // It is full after 32.
    const all = repeats({ day: 100, night: 700 })
    for (let seq = 1; seq <= all; seq += 1) await append(branch, seq)
    await afterKill(async (found) => {
      expect((await found.log.read(branch, every)).length).toBe(all)
      expect(await newestOf(found, branch)).toEqual([all, all, all])
    })
  })
})

function start(command: string, ...args: string[]) {
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  const exited = once(child, 'exit')
  const kill = async () => {
    child.kill('SIGKILL')
    await exited
  }
  onTestFinished(kill)
  return { lines: createInterface({ input: child.stdout }), kill }
}

const appending = fileURLToPath(new URL('../writer/appending-process.ts', import.meta.url))
const filling = fileURLToPath(new URL('../writer/filling-process.ts', import.meta.url))

describe('a process', () => {
  beforeEach(() => {
    place = embeddedPlace()
  })
  afterEach(close)

  it('that is killed before the database has what it acknowledged loses nothing', async () => {
    const id = randomUUID()
    const branch = { id, ancestors: [] }
    for (let life = 1; life <= lives; life += 1) {
      const { lines: printed, kill } = start(process.execPath, appending, place.directory, id)
      let newest = 0
      let count = 0
      let release = () => {}
      for await (const line of printed) {
        if (line === 'refused') break
        newest = Number(line.split(' ')[1])
        if (++count === 20) release = holdDatabase()
        if (count === lines) break
      }
      await kill()
      release()
      store = await place.open()
      const rows = await store.log.read(branch, every)
      const numbers = Array.from({ length: rows.length }, (_, at) => at + 1)
      expect(rows.map(({ seq }) => seq)).toEqual(numbers)
      // What is killed may have done more than it could say; one that is refused has not.
      if (isNight) expect(rows.length).toBe(newest)
      expect(rows.length).toBeGreaterThanOrEqual(newest)
      expect((await store.threads.get('local', id))?.updatedAtMs).toBe(rows.length)
      await store.close()
    }
  })

  it('whose disk is full keeps reading all that it acknowledged, and keeps it', async () => {
    const id = randomUUID()
    const { lines, kill } = start('bash', '-c', 'ulimit -f 3072 && exec "$0" "$@"',
      process.execPath, filling, place.directory, id)
    const [line] = await once(lines, 'line') as [string]
    const { acknowledged, refused, ...found } = JSON.parse(line) as Record<string, unknown>
    // Callers get it: it names no folder of the server.
    expect(refused).toMatch(/^The disk of heddle\.db (is full|does not work)/)
    expect(found).toEqual({ read: acknowledged, updated: acknowledged })
    await kill()
    store = await place.open()
    const branch = { id, ancestors: [] }
    expect((await store.log.read(branch, every)).length).toBe(acknowledged)
    await store.log.append([aRow({ branch, seq: Number(acknowledged) + 1 })], [])
  })
})

describe('a write-ahead file', () => {
  beforeEach(open)
  afterEach(close)

  const path = () => join(place.directory, 'heddle.db-ahead')

  it('is gone after an orderly end', async () => {
    await append(aBranch(), 1)
    expect(await readdir(place.directory)).toContain('heddle.db-ahead')
    await store.close()
    expect(await readdir(place.directory)).not.toContain('heddle.db-ahead')
  })

  it('of another database is refused, and left as it is', async () => {
    for (let count = 0; count < 3; count += 1) await append(aBranch(), 1)
    const ahead = await readFile(path())
    await store.close()
    const other = embeddedPlace()
    await (await other.open()).close()
    await writeFile(join(other.directory, 'heddle.db-ahead'), ahead)
    for (const _ of [1, 2]) {
      await expect(other.open()).rejects.toThrow('holds writes that do not follow those in')
    }
    expect(await readFile(join(other.directory, 'heddle.db-ahead'))).toEqual(ahead)
    await other.remove()
    store = await place.open()
  })
})

describe('a write-ahead file by itself', () => {
  beforeEach(() => {
    place = embeddedPlace()
  })
  afterEach(() => place.remove())

  it.each([5, 10])('is not used while the disk is slow, so that nobody waits for the main thread ' +
    '(%d ms)', (diskMs) => {
    const tries = triesOfWriteAhead()
    expect(tries(100, 1)).toBe(100)
    expect(tries(50, diskMs)).toBeLessThan(10)
  })

  it('rests after a hiccup of the disk for ten times as long, and is then used again', () => {
    const tries = triesOfWriteAhead()
    expect(tries(20, 0.2)).toBe(20)
    for (let hiccups = 0; hiccups < repeats({ day: 2, night: 5 }); hiccups++) {
      expect([tries(1, 50), tries(2_400, 0.2), tries(120, 0.2) > 10]).toEqual([1, 0, true])
    }
  })

  /**
   * How many of so many tries a write-ahead file takes while the disk needs so long. Each that is
   * refused takes as long.
   */
  function triesOfWriteAhead(): (count: number, diskMs: number) => number {
    const env = virtualEnv()
    const database = join(place.directory, 'other.db')
    createWriteAhead(database)
    const batch = { text: '[]', bytes: new Uint8Array(10) }
    let stepMs = 0
    const monotonicMs = () => {
      env.advance(stepMs)
      return env.monotonicMs()
    }
    const ahead = new WriteAheadFile(database, { ...env, monotonicMs }, { salt: 1 })
    onTestFinished(() => ahead.close())
    return (count, diskMs) => {
      stepMs = diskMs
      ahead.rewind()
      return Array.from({ length: count }, () => ahead.hasRoom(batch) && ahead.append(batch, 1))
        .filter(Boolean).length
    }
  }
})
