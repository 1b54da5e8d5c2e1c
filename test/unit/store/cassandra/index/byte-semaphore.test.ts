/** Room that is taken and given back. */

import { describe, expect, it } from 'vitest'

import { Room } from '../../../../../src/store/cassandra/index/byte-semaphore.ts'

async function isOpen(room: Room): Promise<boolean> {
  return await Promise.race([room.open().then(() => true),
    new Promise<false>((resolve) => setImmediate(() => resolve(false)))])
}

describe('room', () => {
  it('is open until it is full, and again once enough was given back', async () => {
    const room = new Room(100)
    room.take(99)
    expect(await isOpen(room)).toBe(true)
    room.take(50)
    expect(await isOpen(room)).toBe(false)
    const waited = room.open()
    room.leave(49)
    expect(await isOpen(room)).toBe(false)
    room.leave(50)
    await waited
    expect(await isOpen(room)).toBe(true)
  })
})
