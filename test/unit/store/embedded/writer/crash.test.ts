/** A process that is killed while it appends loses nothing that was acknowledged. */

import type { ChildProcess } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { expect, it } from 'vitest'

import { embeddedPlace } from '../../../../contract/embedded-place.ts'
import { isNight } from '../../../../support/repeats.ts'
import { expectWhole, startAppending } from '../tables/appended.ts'

/**
 * Kills the process once it has printed `count` lines and it was looked at; returns the newest row
 * of each branch.
 */
async function killAfter(child: ChildProcess, count: number,
  look: () => Promise<void>): Promise<Map<string, number>> {
  const acknowledged = new Map<string, number>()
  const exited = once(child, 'exit')
  let lines = 0
  for await (const line of createInterface({ input: child.stdout! })) {
    const [id = '', seq] = line.split(' ')
    acknowledged.set(id, Number(seq))
    if (++lines !== count) continue
    await look()
    child.kill('SIGKILL')
  }
  await exited
  return acknowledged
}

/** After how many lines each life ends. By day one: to begin takes long. */
const lives = isNight ? [1, 400, 37, 1_500] : [200]

it('A killed process loses nothing that was acknowledged, kill after kill.', async () => {
  const place = embeddedPlace()
  const branchIds = Array.from({ length: 8 }, () => randomUUID())
  let epoch = 0
  for (const lines of lives) {
    const child = startAppending(place.directory, branchIds)
    const acknowledged = await killAfter(child, lines, async () => {
      // It holds its directory.
      await expect(place.open()).rejects.toMatchObject({ code: 'not_owner' })
    })
    const store = await place.open()
    for (const id of branchIds) await expectWhole(store, id, acknowledged.get(id) ?? 0)
    const busy = await store.threads.count({ tenant: 'local', status: 'busy' })
    expect((await store.unfinished()).length).toBe(busy)
    const claimed = await store.claimEpoch()
    expect(claimed).toBeGreaterThan(epoch + 1)
    epoch = claimed
    await store.close()
  }
  await place.remove()
})
