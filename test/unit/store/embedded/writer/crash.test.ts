/** A process that is killed while it appends loses nothing that was acknowledged. */

import type { ChildProcess } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { describe, expect, it } from 'vitest'

import { embeddedPlace } from '../../../../contract/embedded-place.ts'
import { expectWhole, startAppending } from '../tables/appended.ts'

/** Kills the process once it has printed `count` lines; returns the newest row of each branch. */
async function killAfter(child: ChildProcess, count: number): Promise<Map<string, number>> {
  const acknowledged = new Map<string, number>()
  const exited = once(child, 'exit')
  let lines = 0
  for await (const line of createInterface({ input: child.stdout! })) {
    const [id = '', seq] = line.split(' ')
    acknowledged.set(id, Number(seq))
    if (++lines === count) child.kill('SIGKILL')
  }
  await exited
  return acknowledged
}

describe('a killed process', () => {
  it('loses nothing that was acknowledged, kill after kill', async () => {
    const place = embeddedPlace()
    const branchIds = Array.from({ length: 8 }, () => randomUUID())
    let epoch = 0
    for (const lines of [1, 400, 37, 1_500]) {
      const acknowledged = await killAfter(startAppending(place.directory, branchIds), lines)
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

  it('holds its directory until it is killed', async () => {
    const place = embeddedPlace()
    const child = startAppending(place.directory, [randomUUID()])
    await once(child.stdout!, 'data')
    await expect(place.open()).rejects.toMatchObject({ code: 'not_owner' })
    child.kill('SIGKILL')
    await once(child, 'exit')
    await (await place.open()).close()
    await place.remove()
  })
})
