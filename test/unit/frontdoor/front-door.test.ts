/** A front door is built before it opens, so that opening it does not block the event loop. */

import { describe, expect, it } from 'vitest'

import { buildDoor, call } from './open-front-door.ts'

describe('A front door that is built', () => {
  it('compiles its routes before it opens', async () => {
    const start = process.cpuUsage()
    const { built } = await buildDoor()
    const build = process.cpuUsage(start)
    const beforeOpen = process.cpuUsage()
    const door = await built.open()
    const open = process.cpuUsage(beforeOpen)
    expect(open.user).toBeLessThan(build.user / 2)
    expect(await call(door, 'GET', '/ok')).toMatchObject({ status: 200 })
  })

  it('is closed without having been opened', async () => {
    const { built } = await buildDoor()
    await expect(built.close()).resolves.toBeUndefined()
  })
})
