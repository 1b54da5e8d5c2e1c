/** Room that is taken and given back. */

import { describe, expect, it } from 'vitest'

import { ByteSemaphore } from '../../../../../src/store/cassandra/index/byte-semaphore.ts'

async function isOpen(semaphore: ByteSemaphore): Promise<boolean> {
  return await Promise.race([semaphore.open().then(() => true),
    new Promise<false>((resolve) => setImmediate(() => resolve(false)))])
}

describe('room', () => {
  it('is open until it is full, and again once enough was given back', async () => {
    const semaphore = new ByteSemaphore(100)
    semaphore.take(99)
    expect(await isOpen(semaphore)).toBe(true)
    semaphore.take(50)
    expect(await isOpen(semaphore)).toBe(false)
    const waited = semaphore.open()
    semaphore.leave(49)
    expect(await isOpen(semaphore)).toBe(false)
    semaphore.leave(50)
    await waited
    expect(await isOpen(semaphore)).toBe(true)
  })
})
