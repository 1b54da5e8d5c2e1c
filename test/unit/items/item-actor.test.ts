/** The item actor over a log in memory: time, repeated commands, and what is swept. */

import { beforeEach, expect, it } from 'vitest'

import { ActivationTable } from '../../../cluster/index.ts'
import type { OwnershipCheck } from '../../../cluster/index.ts'
import type { ItemRow } from '../../../proto/gen/storage/v1/row.ts'
import { HeddleError } from '../../../src/errors.ts'
import { itemKind } from '../../../src/items/index.ts'
import type { ItemCommand } from '../../../src/items/item-actor.ts'
import { itemId } from '../../../src/search/index.ts'
import { virtualEnv } from '../../support/env.ts'
import type { VirtualEnv } from '../../support/env.ts'

const place = { namespace: ['a'], key: 'k' }
const key = { kind: 'item', tenant: 'local', id: itemId(place.namespace, place.key) }
const minuteMs = 60_000

let env: VirtualEnv
let table: ActivationTable
let row: ItemRow | undefined
let writes: number

beforeEach(() => {
  env = virtualEnv()
  row = undefined
  writes = 0
  const log = {
    append: async (_: readonly never[],
      [update]: readonly ({ table: string; row?: ItemRow })[]) => {
      writes++
      row = update!.row
    },
  }
  const index = { get: async () => row }
  table = new ActivationTable({ env, kinds: [itemKind({ log: log as never, index, env })] })
})

let commands = 0
const ask = (command: ItemCommand, id = `c${++commands}`) => table.ask(key, 1, command, id)
const put = (n: number, ttlMs = 0, id?: string) =>
  ask({ kind: 'put', place, content: { valueJson: `${n}`, ttlMs, vectors: '', dims: 0 } }, id)
const get = async (refresh = false) =>
  (await ask({ kind: 'get', refresh }) as { valueJson: string } | null)?.valueJson

it('a put keeps the time of the first, unless that has ended', async () => {
  await put(1)
  const first = row!.createdAtMs
  env.advance(5)
  await put(2, 10)
  expect(row).toMatchObject({ createdAtMs: first, updatedAtMs: first + 5 })
  env.advance(10)
  expect(await get()).toBeUndefined()
  await put(3)
  expect(row!.createdAtMs).toBe(first + 15)
})

it('an item ends in its time, which only a read that says so moves', async () => {
  await put(1, minuteMs)
  env.advance(40_000)
  expect(await get(true)).toBe('1')
  env.advance(40_000)
  expect(await get()).toBe('1')
  env.advance(20_000)
  expect(await get(true)).toBeUndefined()
  await ask({ kind: 'refresh' })
  expect([await get(), writes]).toEqual([undefined, 2])
})

it('a read that would move the end by less than a second writes nothing', async () => {
  await put(1, minuteMs)
  env.advance(999)
  await get(true)
  expect(writes).toBe(1)
})

it('a command that was done is not done again, not even after a deletion', async () => {
  await put(1, 0, 'first')
  await put(2)
  await put(1, 0, 'first')
  expect(await get()).toBe('2')
  await ask({ kind: 'delete', place }, 'gone')
  await put(3)
  await ask({ kind: 'delete', place }, 'gone')
  expect(await get()).toBe('3')
  await ask({ kind: 'delete', place })
  await ask({ kind: 'delete', place })
  expect([await get(), writes]).toEqual([undefined, 6])
})

it('a command is still known after thirty others', async () => {
  await put(1, 0, 'first')
  for (let n = 2; n <= 31; n++) await put(n)
  await put(1, 0, 'first')
  expect([await get(), row!.applied.length]).toEqual(['31', 31])
  for (let n = 32; n <= 40; n++) await put(n)
  expect(row!.applied).toHaveLength(32)
})

it('what was deleted keeps no value, and is removed when it is old enough', async () => {
  await put(1)
  env.advance(5)
  const before = env.nowMs()
  await ask({ kind: 'delete', place })
  expect(row).toMatchObject({ valueJson: '' })
  await ask({ kind: 'sweep', beforeMs: before })
  expect(row).toBeDefined()
  await ask({ kind: 'sweep', beforeMs: before + 1 })
  expect(row).toBeUndefined()
  await put(2)
  await ask({ kind: 'sweep', beforeMs: before + minuteMs })
  expect(await get()).toBe('2')
})

it('no actor stays after its command', async () => {
  await put(1)
  await new Promise((turn) => setImmediate(turn))
  expect(table.size).toBe(0)
})

it('an owner that was deposed does not say that there was nothing to do', async () => {
  const gone = () => Promise.reject(new HeddleError('not_owner'))
  const check = { state: 'open', closing: new Promise<void>(() => {}), mark: () => 0,
    confirmed: () => false, confirm: gone } as unknown as OwnershipCheck
  const index = { get: async () => undefined }
  const log = { append: gone }
  const deposed = new ActivationTable({ env, kinds: [itemKind({ log, index, env })], check })
  for (const kind of ['delete', 'refresh'] as const) {
    const asked = deposed.ask(key, 1, { kind, place })
    await expect(asked).rejects.toMatchObject({ code: 'not_owner' })
  }
  await expect(deposed.ask(key, 1, { kind: 'get', refresh: true }, 'd')).rejects.toThrow()
})

it('a deletion of nothing is written where owners change, and only there', async () => {
  await ask({ kind: 'delete', place })
  expect(row).toMatchObject({ ...place, valueJson: '', expiresAtMs: 1 })
  row = undefined
  await table.ask(key, 1, { kind: 'delete', place })
  expect([row, writes]).toEqual([undefined, 1])
})

it('a caller that does not see an item neither replaces nor deletes it', async () => {
  const ofAnn = { kind: 'equals', key: 'owner', value: 'ann' } as const
  const content = (owner: string) => ({ valueJson: JSON.stringify({ owner }), ttlMs: 0, vectors: '',
    dims: 0 })
  await ask({ kind: 'put', place, content: content('ann'), allowed: ofAnn })
  await ask({ kind: 'put', place, content: content('ben') })
  await expect(ask({ kind: 'put', place, content: content('ann'), allowed: ofAnn })).rejects
    .toMatchObject({ code: 'not_found' })
  await ask({ kind: 'delete', place, allowed: ofAnn })
  expect(await get()).toBe('{"owner":"ben"}')
  const here = { kind: 'equals', key: 'key', value: 'k' } as const
  await ask({ kind: 'delete', place, allowed: here })
  expect(await get()).toBeUndefined()
  await ask({ kind: 'put', place, content: content('ann'), allowed: ofAnn })
  expect(await get()).toBe('{"owner":"ann"}')
})
