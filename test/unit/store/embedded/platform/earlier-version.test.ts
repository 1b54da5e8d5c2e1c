/**
 * A data directory of commit 2988e945, as its program wrote it: three spans with a block and a
 * file each, one with feedback, one in a project of 400 days, and one that was removed.
 */

import { readFileSync } from 'node:fs'
import { join } from 'node:path'

import { afterEach, beforeEach, expect, it } from 'vitest'

import type { SpanPlace } from '../../../../../src/platform/index.ts'
import { Database } from '../../../../../src/store/embedded/file/database.ts'
import { traceSchema } from '../../../../../src/store/embedded/platform/schema.ts'
import { aPost, requestOf } from '../../../../contract/span-histories.ts'
import { dayMs, TraceHouse } from './trace-house.ts'

/** Steps of the schema of that commit. */
const stepsThen = 4

let house: TraceHouse
let places: readonly [short: SpanPlace, long: SpanPlace, removed: SpanPlace]
beforeEach(() => {
  house = new TraceHouse()
  places = [house.place(1), house.place(2, 1), house.place(3)]
  new Database(join(house.directory, 'traces.db'), traceSchema.slice(0, stepsThen)).close()
  for (const row of readFileSync(join(import.meta.dirname, 'traces-2988e945.sql'), 'utf8')
    .split('\n').filter(Boolean)) {
    house.execute(row)
  }
})
afterEach(() => house.close())

const count = (table: string) =>
  house.execute(`SELECT count(*) AS count FROM ${table}`)[0]!['count']

it('reads the spans, blocks, files and feedback of an earlier version', async () => {
  const store = house.open()
  const [short, long, removed] = places
  const [first, second] = await store.heads([short, long, removed])
  expect(first).toMatchObject({ ...short, name: 'run', feedback: [{ key: 'good', score: 1 }] })
  expect(second).toMatchObject({ ...long, name: 'run', feedback: [] })
  for (const head of [first!, second!]) {
    expect((await store.blocks(head, head.blocks)).size).toBe(1)
    const [file] = await store.files(head, 'f')
    expect(Buffer.from(file!.data).toString()).toBe('file')
  }
  expect(await store.write(requestOf(house.tenant, [aPost(removed)])))
    .toMatchObject({ removed: [removed.id] })
  expect(await store.locate(house.tenant, [removed.id])).toEqual([])
})

it('deletes spans of an earlier version when the life of their project ends', async () => {
  const store = house.open()
  const [short, long] = places
  await store.locate(house.tenant, [short.id])
  await store.write(requestOf(house.tenant, []))
  await house.pass(130)
  house.env.advance(15 * dayMs)
  await house.pass(130)
  expect((await store.heads([short, long])).map(({ id }) => id)).toEqual([long.id])
  expect(['span', 'block', 'file', 'feedback'].map(count)).toEqual([1, 1, 1, 0])
  house.env.advance(386 * dayMs)
  await house.pass(130)
  expect(['span', 'block', 'file', 'posting'].map(count)).toEqual([0, 0, 0, 0])
})

it('changes the life of spans of an earlier version', async () => {
  const store = house.open()
  const [short] = places
  await store.changeLife(house.tenant, short.project, 400 * 86_400)
  await house.pass(130)
  house.env.advance(15 * dayMs)
  await house.pass(130)
  expect(await store.heads([short])).toHaveLength(1)
})
