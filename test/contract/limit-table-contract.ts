/** What every table of limits promises: what was appended is there for the next counter. */

import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'

import type { LimitAdmit, LimitKey } from '../../src/limits/index.ts'
import { useStore } from './store-place.ts'
import type { MakePlace } from './store-place.ts'

export function describeLimitTable(name: string, makePlace: MakePlace): void {
  describe(`the table of limits of the ${name} store`, () => {
    const store = useStore(makePlace)

    const aKey = (): LimitKey => ({ row: 'tested', who: randomUUID() })
    const append = (key: LimitKey, ...admits: LimitAdmit[]) =>
      Promise.all(admits.map((admit) => store.limits.append(key, { ...admit, keptMs: 60_000 })))
    const since = async (key: LimitKey, sinceMs: number) =>
      (await store.limits.since(key, sinceMs)).toSorted((a, b) =>
        a.atMs - b.atMs || a.tokens - b.tokens
      )

    it('gives back what was let through since a given time, and no more', async () => {
      const key = aKey()
      const admits = [10, 20, 20, 30].map((atMs, index) => ({ atMs, tokens: index + 1 }))
      await append(key, ...admits)
      expect(await since(key, 0)).toEqual(admits)
      expect(await since(key, 20)).toEqual(admits.slice(1))
      expect(await since(key, 31)).toEqual([])
    })

    it('keeps equal entries as separate ones', async () => {
      const key = aKey()
      const admit = { atMs: Date.now(), tokens: 1 }
      await append(key, admit, admit, admit)
      expect(await since(key, 0)).toEqual([admit, admit, admit])
    })

    it('separates keys by row and by caller', async () => {
      const key = aKey()
      await append(key, { atMs: 1, tokens: 1 })
      expect(await since(aKey(), 0)).toEqual([])
      expect(await since({ ...key, row: 'other' }, 0)).toEqual([])
    })

    it('gives back all entries of a long window', async () => {
      const key = aKey()
      const nowMs = Date.now()
      const admits = Array.from({ length: 1_050 }, (_, no) => ({ atMs: nowMs + no, tokens: 1 }))
      for (let first = 0; first < admits.length; first += 100) {
        await append(key, ...admits.slice(first, first + 100))
      }
      expect(await since(key, 0)).toEqual(admits)
    })

    it('deletes entries some time after they have ended, and none before', async () => {
      const key = aKey()
      const nowMs = Date.now()
      const soon = { atMs: nowMs, tokens: 1 }
      await store.limits.append(key, { ...soon, keptMs: 10 })
      await append(key, { atMs: nowMs, tokens: 2 })
      await expect.poll(async () => {
        await append(key, { atMs: Date.now() + 100, tokens: 3 })
        return (await since(key, 0)).some(({ tokens }) => tokens === 1)
      }, { interval: 50 }).toBe(false)
      expect((await since(key, 0)).some(({ tokens }) => tokens === 2)).toBe(true)
    })
  })
}
