/** Vectors whose shards come and go: a search by meaning compares all that are there, no others. */

import { randomUUID } from 'node:crypto'

import { afterAll, beforeAll, expect, it } from 'vitest'

import { actorKeyText, shardOf } from '../../../../../cluster/index.ts'
import { ItemRow } from '../../../../../proto/gen/storage/v1/row.ts'
import { itemId } from '../../../../../src/search/index.ts'
import { openScratchStore } from '../../../../../src/store/embedded/index.ts'
import type { ScratchStore } from '../../../../../src/store/embedded/index.ts'
import { embeddedPlace } from '../../../../contract/embedded-place.ts'
import { anItem } from '../../../../contract/rows.ts'
import { virtualEnv } from '../../../../support/env.ts'

const shards = 2

const place = embeddedPlace()
let store: ScratchStore
beforeAll(async () => {
  store = await openScratchStore({ directory: place.directory, env: virtualEnv(), shards })
})
afterAll(async () => {
  await store.close()
  await place.remove()
})

/** An item of a shard, as far from [1, 0] as `off` says. */
function itemIn(shard: number, tenant: string, off: number): ItemRow {
  for (;;) {
    const row = anItem({ tenant, vectors: Buffer.from(Float32Array.of(1, off).buffer), dims: 2 })
    const id = itemId(row.namespace, row.key)
    if (shardOf(actorKeyText({ kind: 'item', tenant, id }), shards) === shard) return row
  }
}

async function loadAll(shard: number, rows: readonly ItemRow[]): Promise<void> {
  await store.load(shard,
    rows.map((row) => ({ table: 'item', body: ItemRow.encode(row).finish() })))
  await store.cover(shard)
}

async function nearest(tenant: string, limit: number): Promise<string[]> {
  const { rows } = await store.items.search({ tenant, prefix: [], vector: [1, 0], nowMs: 1, limit,
    offset: 0 })
  return rows.filter(({ score }) => score !== undefined).map(({ row }) => row.key)
}

it('items are compared that are put after the newest vectors have left with their shard',
  async () => {
    const tenant = randomUUID()
    const [here, gone] = [itemIn(0, tenant, 1), itemIn(1, tenant, 2)]
    await loadAll(0, [here])
    await loadAll(1, [gone])
    expect(await nearest(tenant, 10)).toEqual([here.key, gone.key])
    await store.unload(1)
    const later = itemIn(0, tenant, 3)
    await store.log.append([], [{ table: 'item', row: later }])
    expect(await nearest(tenant, 10)).toEqual([here.key, later.key])
  })

it('what was removed while its shard was away takes no place of a page', async () => {
  const tenant = randomUUID()
  const [removed, kept, last] = [1, 2, 3].map((off) => itemIn(1, tenant, off))
  await loadAll(0, [])
  await loadAll(1, [removed!, kept!, last!])
  expect(await nearest(tenant, 2)).toEqual([removed!.key, kept!.key])
  await store.unload(1)
  await loadAll(1, [kept!, last!])
  expect(await nearest(tenant, 2)).toEqual([kept!.key, last!.key])
})
