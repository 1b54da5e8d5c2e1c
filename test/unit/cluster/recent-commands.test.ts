/** Commands that come again: done once, answered alike, forgotten in the end. */

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'

import { RecentCommands } from '../../../cluster/recent-commands.ts'
import { HeddleError } from '../../../src/errors.ts'

const bytesOf = (number: number) => Uint8Array.of(number)

describe('recent commands', () => {
  it('do each command once while it is remembered', async () => {
    await fc.assert(fc.asyncProperty(fc.array(fc.integer({ min: 0, max: 20 })), async (ids) => {
      const recent = new RecentCommands({ answers: 21 })
      const done: number[] = []
      for (const id of ids) {
        const reply = await recent.answer(`${id}`, async () => bytesOf(done.push(id)))
        expect(reply).toEqual(bytesOf(done.indexOf(id) + 1))
      }
      expect(done).toEqual([...new Set(ids)])
    }))
  })

  it('join one that is under way', async () => {
    const recent = new RecentCommands()
    const held = Promise.withResolvers<Uint8Array>()
    const first = recent.answer('a', () => held.promise)
    const second = recent.answer('a', () => Promise.reject(new Error('done twice')))
    held.resolve(bytesOf(1))
    expect(await Promise.all([first, second])).toEqual([bytesOf(1), bytesOf(1)])
  })

  it('remember a refusal for good, and try again what failed otherwise', async () => {
    const recent = new RecentCommands()
    const failing = (id: string, error: unknown) =>
      recent.answer(id, () => Promise.reject(error)).catch((caught: unknown) => caught)
    const exists = new HeddleError('exists')
    expect(await failing('a', exists)).toBe(exists)
    expect(await failing('a', new Error('done twice'))).toBe(exists)
    for (const error of [new HeddleError('not_owner'), new HeddleError('unavailable'),
      new HeddleError('full'), new TypeError('a mistake')]) {
      expect(await failing('b', error)).toBe(error)
    }
    expect(await recent.answer('b', async () => bytesOf(2))).toEqual(bytesOf(2))
  })

  it('forget the oldest answers, by number and by weight', async () => {
    for (const bound of [{ answers: 2 }, { bytes: 500 }]) {
      const recent = new RecentCommands(bound)
      let done = 0
      const ask = (id: string) => recent.answer(id, async () => bytesOf(++done))
      for (const id of ['a', 'b', 'c']) await ask(id)
      await ask('c')
      expect(done).toBe(3)
      await ask('a')
      expect(done).toBe(4)
    }
  })

  it('refuse what would be too much under way, and forget none of it', async () => {
    const recent = new RecentCommands({ underWay: 1, answers: 0 })
    const held = Promise.withResolvers<Uint8Array>()
    const first = recent.answer('a', () => held.promise)
    await expect(recent.answer('b', async () => bytesOf(2))).rejects.toMatchObject({ code: 'full' })
    const again = recent.answer('a', () => Promise.reject(new Error('done twice')))
    held.resolve(bytesOf(1))
    expect(await again).toEqual(await first)
  })
})
