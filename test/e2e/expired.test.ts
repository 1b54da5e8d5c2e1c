/** A thread whose time to live has ended never comes back, whenever its server is killed. */

import { expect, it } from 'vitest'
import { isNight } from '../support/repeats.ts'
import { say } from '../support/run-events.ts'
import { oneWorker } from '../support/server-process.ts'
import { clientOf, useServer } from '../support/server.ts'
import { ask } from '../support/wire.ts'

/** Its own: it is killed. */
const server = useServer({ project: 'conformance', args: oneWorker })

/** So often, at moments around the end of the thread. */
const kills = isNight ? [-1_500, -300, 0, 40, 150] : [-300, 150]

const waiting = { interval: 20 }
const lifeMs = 2_000

async function isGone(id: string): Promise<boolean> {
  const { threads, runs } = clientOf(server.url)
  const { status } = await ask(server.url, 'GET', `/threads/${id}`)
  const found = await threads.search({ ids: [id] })
  const late = await ask(server.url, 'PATCH', `/threads/${id}`, { metadata: { late: true } })
  const run = await runs.list(id).then(() => 200, () => 404)
  return status === 404 && found.length === 0 && late.status === 404 && run === 404
}

it.runIf(isNight)('is gone after every kill, and a new thread with its id has nothing of it',
  async () => {
    const ends: string[] = []
    for (const afterMs of kills) {
      const { threads, runs } = clientOf(server.url)
      const { thread_id: id } = await threads.create()
      await runs.wait(id, 'echo', { input: say('x') })
      await threads.update(id, { ttl: lifeMs / 60_000 })
      const atMs = Date.now() + lifeMs
      ends.push(id)
      await expect.poll(() => Date.now() >= atMs + afterMs, waiting).toBe(true)
      await server.process.kill('SIGKILL')
      await server.process.restart()
      await expect.poll(() => isGone(id), waiting).toBe(true)
    }
    const { threads } = clientOf(server.url)
    for (const id of ends) expect(await isGone(id)).toBe(true)
    await threads.create({ threadId: ends[0]! })
    await server.process.kill('SIGKILL')
    await server.process.restart()
    expect(await clientOf(server.url).threads.getHistory(ends[0]!)).toEqual([])
    for (const id of ends.slice(1)) expect(await isGone(id)).toBe(true)
  })
