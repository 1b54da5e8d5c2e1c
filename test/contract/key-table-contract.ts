/** What every table of API keys promises: rows by id, lists, and lasting revocation. */

import { randomBytes, randomUUID } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'

import type { KeyRow } from '../../src/access/index.ts'
import { useStore } from './store-place.ts'
import type { MakePlace } from './store-place.ts'
import { expectAlways } from '../support/expect-always.ts'

function aKey(more: Partial<KeyRow> = {}): KeyRow {
  return {
    id: randomUUID().replaceAll('-', '').slice(-16),
    tenant: 'acme',
    deployment: null,
    role: 'developer',
    name: 'of a test',
    hash: randomBytes(32).toString('hex'),
    createdAtMs: 1_000,
    expiresAtMs: null,
    usedAtMs: null,
    revokedAtMs: null,
    ...more,
  }
}

const aTime = fc.integer({ min: 1, max: 4_000_000_000_000 })

export function describeKeyTable(name: string, makePlace: MakePlace): void {
  describe(`the key table of the ${name} store`, () => {
    const store = useStore(makePlace)

    it('gives back every field', async () => {
      await expectAlways(fc.asyncProperty(fc.record({
        role: fc.constantFrom('admin', 'developer', 'reader', 'deployer'),
        deployment: fc.constantFrom(null, 'shop', 'shop--pr-1'),
        name: fc.string({ unit: 'grapheme' }),
        createdAtMs: aTime,
        expiresAtMs: fc.option(aTime),
      }), async (fields) => {
        const row = aKey(fields)
        await store.keys.insert(row)
        expect(await store.keys.get(row.id)).toEqual(row)
      }))
      expect(await store.keys.get(aKey().id)).toBeUndefined()
    })

    it('accepts an id once', async () => {
      const row = aKey()
      await store.keys.insert(row)
      await expect(store.keys.insert({ ...aKey({ tenant: 'other' }), id: row.id }))
        .rejects.toMatchObject({ code: 'exists' })
      expect(await store.keys.get(row.id)).toEqual(row)
    })

    it('lists the keys of a tenant, or all, newest first', async () => {
      const [mine, his] = [randomUUID(), randomUUID()]
      const rows = [[mine, 10], [his, 20], [mine, 30], [mine, 20]].map(([tenant, createdAtMs]) =>
        aKey({ tenant: tenant as string, createdAtMs: createdAtMs as number,
          deployment: createdAtMs === 30 ? 'shop' : null })
      )
      for (const row of rows) await store.keys.insert(row)
      expect(await store.keys.list(mine)).toEqual([rows[2], rows[3], rows[0]])
      const all = (await store.keys.list()).map(({ id }) => id)
      for (const { id } of rows) expect(all).toContain(id)
      expect(await store.keys.list(randomUUID())).toEqual([])
    })

    it('revokes a key once and permanently', async () => {
      const row = aKey()
      await store.keys.insert(row)
      expect(await store.keys.revoke(row.id, 5_000)).toEqual({ ...row, revokedAtMs: 5_000 })
      expect(await store.keys.revoke(row.id, 9_000)).toEqual({ ...row, revokedAtMs: 5_000 })
      await store.keys.touch(row.id, 9_500)
      expect(await store.keys.get(row.id)).toMatchObject({ revokedAtMs: 5_000 })
    })

    it('keeps the last use of a key', async () => {
      const row = aKey()
      await store.keys.insert(row)
      for (const atMs of [7_000, 9_000, 8_000]) await store.keys.touch(row.id, atMs)
      expect(await store.keys.get(row.id)).toEqual({ ...row, usedAtMs: 9_000 })
    })

    it('creates no key when an unknown one is revoked or used', async () => {
      const { id } = aKey()
      expect(await store.keys.revoke(id, 5_000)).toBeUndefined()
      await store.keys.touch(id, 5_000)
      expect(await store.keys.get(id)).toBeUndefined()
      expect((await store.keys.list()).map((row) => row.id)).not.toContain(id)
    })
  })
}
