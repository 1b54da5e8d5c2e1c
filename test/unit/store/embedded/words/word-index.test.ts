/** The index of words: what it lacks is looked at, and all that changes a span reaches it. */

import { mkdtempSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'

import { afterEach, beforeEach, expect, it } from 'vitest'

import type { SpanPlace, SpanStore } from '../../../../../src/platform/index.ts'
import { sealBlock } from '../../../../../src/platform/spans/block.ts'
import { indexedWords } from '../../../../../src/platform/spans/words.ts'
import { traceSchema } from '../../../../../src/store/embedded/platform/schema.ts'
import { traceStore } from '../../../../../src/store/embedded/platform/span-store.ts'
import { aPost, noonUs, placeOf, requestOf, uuidOf,
  wholePlan } from '../../../../contract/span-histories.ts'
import { virtualEnv } from '../../../../support/env.ts'
import type { VirtualEnv } from '../../../../support/env.ts'

const tenant = 'acme'
const first = placeOf(tenant, { trace: 1, span: 0, project: 0 })
const placeAt = (index: number, project = first.project): SpanPlace => ({ ...first, project,
  id: uuidOf(4, index), trace: uuidOf(4, index), startUs: noonUs + index,
  traceStartUs: noonUs + index })

let directory: string
let env: VirtualEnv
let stores: SpanStore[]

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'heddle-words-'))
  env = virtualEnv(noonUs / 1000 + 3600e3)
  stores = []
})

afterEach(async () => {
  for (const store of stores) await store.close()
  await rm(directory, { recursive: true, force: true })
})

function open(indexesWords = true): SpanStore {
  const store = traceStore({ directory, diskBytes: 2 ** 40, indexesWords, access: 'write', env })
  stores.push(store)
  return store
}

async function write(store: SpanStore, place: SpanPlace, text: string,
  kind: 'post' | 'patch' = 'post'): Promise<void> {
  const members = {
    [kind === 'post' ? 'inputs' : 'outputs']: Buffer.from(JSON.stringify({ text })),
  }
  const block = sealBlock(place.trace, place.traceStartUs, [{ span: place.id, kind, members }])
  await store.write({ ...requestOf(tenant, [aPost(place, { kind, block: block.id })]),
    blocks: [block] })
}

/** Spans that a scan for a word looks at, as numbers. */
async function looked(store: SpanStore, text: string): Promise<readonly number[]> {
  const found: number[] = []
  for await (const { heads } of store.scan({ ...wholePlan(tenant), words: indexedWords(text) })) {
    found.push(...heads.map(({ startUs }) => startUs - noonUs))
  }
  return found
}

/** Lets the indexer work until nothing is left for it. */
async function indexed(): Promise<void> {
  for (let turn = 0; turn < 40; turn++) {
    env.advance(100)
    await new Promise((resolve) => setImmediate(resolve))
  }
}

function sql<Row>(text: string): readonly Row[] {
  const database = new DatabaseSync(join(directory, 'traces.db'))
  const rows = database.prepare(text).all() as unknown as readonly Row[]
  database.close()
  return rows
}

it('A span is found before and after it is indexed, by all that was said of it.', async () => {
  const store = open()
  await write(store, placeAt(1), 'an apple')
  await write(store, placeAt(2), 'pears')
  expect(await looked(store, 'apple')).toEqual([2, 1])
  await indexed()
  expect(await looked(store, 'appl')).toEqual([1])
  expect(await looked(store, 'pple')).toEqual([])
  await write(store, placeAt(2), 'and Apples', 'patch')
  expect(await looked(store, 'apple')).toEqual([2, 1])
  await indexed()
  expect(await looked(store, 'apple')).toEqual([2, 1])
  expect(await looked(store, 'pears')).toEqual([2])
  expect(await looked(store, 'bananas')).toEqual([])
  expect(await looked(store, 'b')).toEqual([])
  expect(sql('SELECT * FROM unworded')).toEqual([])
})

it('A beginning of words is found, however many begin so and whatever their numbers.', async () => {
  const store = open()
  for (let index = 0; index < 70; index++) await write(store, placeAt(index), `apple${index} ripe`)
  await write(store, placeAt(100), 'pears')
  // Statements read the words of some numbers each.
  sql(`UPDATE span SET no = no + 250000 WHERE start_us = ${noonUs + 7}`)
  await indexed()
  expect(sql('SELECT * FROM unworded')).toEqual([])
  expect(await looked(store, 'apple7')).toEqual([7])
  expect(await looked(store, 'apple69 ripe')).toEqual([69])
  expect(await looked(store, 'a')).toEqual(Array.from({ length: 70 }, (_, n) => 69 - n))
  expect(await looked(store, 'rip')).toHaveLength(70)
})

it('Words of another project cost nothing, and a removed span leaves the index.', async () => {
  const store = open()
  await write(store, placeAt(1), 'apple')
  await write(store, placeAt(2, uuidOf(1, 1)), 'apple')
  await indexed()
  const plan = { ...wholePlan(tenant), projects: [first.project], words: indexedWords('apple') }
  const slices: unknown[] = []
  for await (const slice of store.scan(plan)) slices.push(slice)
  expect(slices).toMatchObject([{ heads: [{ startUs: noonUs + 1 }], looked: 1 }])
  await store.remove(tenant, { kind: 'traces', traces: [placeAt(1)] })
  expect(await looked(store, 'apple')).toEqual([2])
  expect(sql<{ n: number }>("SELECT count(*) AS n FROM word WHERE word MATCH 'x OR y'"))
    .toMatchObject([{ n: 0 }])
  expect(sql<{ id: number }>('SELECT id FROM word_docsize')).toHaveLength(1)
  // The number of the last span is given again.
  await write(store, placeAt(3), 'pears')
  await indexed()
  expect(await looked(store, 'pears')).toEqual([3])
})

it('A data directory gets an index, and so does what an older program writes.', async () => {
  const before = new DatabaseSync(join(directory, 'traces.db'))
  before.exec(`PRAGMA journal_mode = WAL; ${traceSchema[0]!.sql}; PRAGMA user_version = 1`)
  before.close()
  const off = open(false)
  await write(off, placeAt(1), 'apple')
  await indexed()
  expect(await looked(off, 'bananas')).toEqual([1])
  expect(sql('SELECT id FROM word_docsize')).toEqual([])
  await off.close()
  const on = open()
  await on.locate(tenant, [])
  await write(on, placeAt(2), 'pears')
  await indexed()
  expect(await looked(on, 'apple')).toEqual([1])
  sql(`INSERT INTO span (tenant, id, project, start_us, trace, trace_us, name)
    SELECT tenant, x'00000000000000000000000000000009', project, start_us + 8, trace, 0, 'Berry'
    FROM span WHERE start_us = ${noonUs + 1}`)
  expect(await looked(on, 'berry')).toEqual([9])
  await write(on, placeAt(4), 'pears')
  await indexed()
  expect([await looked(on, 'berry'), await looked(on, 'pears')]).toEqual([[9], [4, 2]])
  await on.close()
  const again = open(false)
  await write(again, placeAt(5), 'x')
  await indexed()
  expect(sql('SELECT id FROM word_docsize')).toEqual([])
  expect(await looked(again, 'apple')).toEqual([9, 5, 4, 2, 1])
})

it('A span with very many words is looked at by each question.', async () => {
  const store = open()
  await write(store, placeAt(1), Array.from({ length: 20_001 }, (_, n) => `w${n}`).join(' '))
  await write(store, placeAt(2), 'pears')
  await indexed()
  expect(await looked(store, 'bananas')).toEqual([1])
})
