/** A clock that was two days ahead and is right again: crons go on where they were. */

import { expect, it, onTestFinished } from 'vitest'

import { lastClockJump } from '../../../src/server/clock-jumps.ts'
import { say } from '../../support/run-events.ts'
import { oneWorker } from '../../support/server-process.ts'
import { clientOf } from '../../support/server.ts'
import { startClocked } from './clocked-server.ts'

it('goes on where it was after the clock was two days ahead, also over a restart', async () => {
  const [minute, day] = [60_000, 86_400_000]
  const server = await startClocked(Date.now(), { args: oneWorker })
  onTestFinished(() => server.close())
  const client = clientOf(server.url)
  const { cron_id: id } = await client.crons.create('echo', { schedule: '* * * * *',
    input: say('tick') })
  const nextMs = async () => {
    const [cron] = await client.crons.search({ limit: 5 })
    expect(cron!.cron_id).toBe(id)
    return Date.parse(cron!.next_run_date!)
  }
  const whenAhead = async () => {
    await server.setClock(server.nowMs() + 2 * day)
    await expect.poll(nextMs, { timeout: 90_000 }).toBeGreaterThan(Date.now() + 2 * day - minute)
  }
  await whenAhead()
  await server.setClock(Date.now())
  await expect.poll(nextMs, { timeout: 20_000 }).toBeLessThan(Date.now() + 2 * minute)
  expect(server.output()).toContain('went back')
  expect(lastClockJump(server.dataDir)).toMatchObject({ byMs: expect.any(Number) })
  const before = await nextMs()
  await expect.poll(nextMs, { timeout: 90_000 }).toBeGreaterThan(before)
  await whenAhead()
  await server.setClock(Date.now())
  // Before it looks at its clock again.
  await server.kill('SIGKILL')
  await server.restart()
  await expect.poll(nextMs, { timeout: 20_000 }).toBeLessThan(Date.now() + 2 * minute)
})
