/** A file that a newer program has migrated, and programs of before that can live with it. */

import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'

import { Database } from '../../../../../src/store/embedded/file/database.ts'
import { migrationOf } from '../../../../../src/store/embedded/file/schema-version.ts'
import type { SchemaStep } from '../../../../../src/store/embedded/file/schema-version.ts'
import { openEmbeddedStore } from '../../../../../src/store/embedded/index.ts'
import { schema } from '../../../../../src/store/embedded/requests/tables.ts'
import { embeddedPlace } from '../../../../contract/embedded-place.ts'
import { aThread } from '../../../../contract/rows.ts'
import { virtualEnv } from '../../../../support/env.ts'
import { isNight } from '../../../../support/repeats.ts'

const known = schema.length

/** What programs of later versions add, or take away. */
const adding = (name: string): SchemaStep => ({ sql: `CREATE TABLE ${name} (a INTEGER PRIMARY KEY)`,
  oldest: known })
const taking = (name: string, oldest: number): SchemaStep => ({ sql: `DROP TABLE ${name}`, oldest })

describe('a data directory', () => {
  let place: ReturnType<typeof embeddedPlace>
  beforeEach(() => {
    place = embeddedPlace()
  })
  afterEach(() => place.remove())

  const openStore = () => openEmbeddedStore({ directory: place.directory, env: virtualEnv() })

  /** As a program does that knows these steps after those of today. */
  function openAsLater(...steps: readonly SchemaStep[]): readonly string[] {
    const database = new Database(join(place.directory, 'heddle.db'), [...schema, ...steps])
    const names = database.prepare<readonly [string]>(
      "SELECT name FROM sqlite_schema WHERE name LIKE 'later%'",
    ).all().map(([name]) => name)
    database.close()
    return names
  }

  it.runIf(isNight)('is shared by the program of the version before, and back again', async () => {
    const row = aThread()
    await (await openStore()).close()
    expect(openAsLater(adding('later_one'))).toEqual(['later_one'])
    const before = await openStore()
    await before.log.append([], [{ table: 'thread', row }])
    await before.close()
    const all = [adding('later_one'), adding('later_two')]
    expect(openAsLater(...all)).toEqual(['later_one', 'later_two'])
    const again = await openStore()
    expect(await again.threads.get('local', row.threadId)).toEqual(row)
    await again.close()
    expect(openAsLater(...all)).toEqual(['later_one', 'later_two'])
    expect(openAsLater(all[0]!)).toEqual(['later_one', 'later_two'])
  })

  it('is refused by a program that a later step cannot live with, by no later one', async () => {
    await (await openStore()).close()
    const all = [adding('later_one'), taking('later_one', known + 1)]
    openAsLater(...all)
    await expect(openStore()).rejects.toMatchObject({
      code: 'unsupported',
      message: expect.stringContaining('newer version of Heddle that this'),
    })
    expect(openAsLater(all[0]!)).toEqual([])
    expect(openAsLater(...all)).toEqual([])
  })

  it('that two threads open at once is migrated by one of them', () => {
    const steps: readonly SchemaStep[] = [...schema, { oldest: known,
      sql: 'CREATE TABLE later_one (a INTEGER PRIMARY KEY)' }]
    const file = join(place.directory, 'heddle.db')
    let isFirst = true
    // The other thread does all of it when this one has found out which steps are missing.
    const asFirst = Object.assign([...steps], { slice(from: number) {
      if (isFirst) new Database(file, steps).close()
      isFirst = false
      return steps.slice(from)
    } })
    new Database(file, asFirst).close()
    expect(isFirst).toBe(false)
    expect(openAsLater(adding('later_one'))).toEqual(['later_one'])
  })

  it('made by a later program from the start is opened as well', async () => {
    await (await openStore()).close()
    openAsLater(adding('later_one'))
    await (await openStore()).close()
  })
})

describe('a migration', () => {
  const steps: readonly SchemaStep[] = [{ sql: 'a', oldest: 1 }, { sql: 'b', oldest: 2 }, {
    sql: 'c',
    oldest: 2,
  }, { sql: 'd', oldest: 3 }]
  const of = (oldest: number, newest: number | undefined, count = steps.length) =>
    migrationOf('f', { oldest, newest }, steps.slice(0, count))

  it('does the steps that are missing, and states the oldest program for all', () => {
    expect(of(0, undefined)).toEqual({ sql: 'a;b;c;d', oldest: 3, newest: 4 })
    expect(of(2, undefined)).toEqual({ sql: 'c;d', oldest: 3, newest: 4 })
    expect(of(2, 3)).toEqual({ sql: 'd', oldest: 3, newest: 4 })
    expect(of(2, undefined, 3)).toEqual({ sql: 'c', oldest: 2, newest: 3 })
    expect(of(3, 4)).toBeUndefined()
    expect(of(2, 3, 2)).toBeUndefined()
    expect(() => of(3, 4, 2)).toThrow(/newer version/)
  })

  it('of today can be lived with by the programs before, if it says so', () => {
    for (const [index, { oldest }] of schema.entries()) {
      expect(oldest).toBeLessThanOrEqual(index + 1)
      // Programs that know no more than the first six would not look at anything else.
      if (index < 6) expect(oldest).toBe(index + 1)
    }
  })
})
