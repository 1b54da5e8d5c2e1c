/** Messages for a run that executes, on a server that is killed: each is taken once, in order. */

import { setTimeout as pause } from 'node:timers/promises'

import { afterAll, beforeAll, expect, it } from 'vitest'

import { Chance } from '../simulation/chance.ts'
import { useGates } from '../support/gate.ts'
import { isNight, repeats } from '../support/repeats.ts'
import { say, texts } from '../support/run-events.ts'
import { oneWorker, startServer } from '../support/server-process.ts'
import type { ServerProcess } from '../support/server-process.ts'
import { clientOf } from '../support/server.ts'
import { ask } from '../support/wire.ts'

const rounds = repeats({ day: 3, night: 5 })
const seed = isNight ? Number(process.env['HEDDLE_SEARCH_SEED'] ?? Date.now()) % 1e9 : 7
const gate = useGates()
let server: ServerProcess

beforeAll(async () => {
  server = await startServer({ project: 'conformance', args: oneWorker })
})
afterAll(() => server?.close())

/** True once it is acknowledged; false if it is refused, or if nobody answers. */
async function inject(threadId: string, content: string): Promise<boolean> {
  const params = { namespace: [], message: { role: 'user', content } }
  const answer = await ask(server.url, 'POST', `/threads/${threadId}/commands`, { id: 1,
    method: 'input.inject', params }).catch(() => undefined)
  return (answer?.body as { type?: string } | undefined)?.type === 'success'
}

it(`Over ${rounds} kills none is lost, none is taken twice, and none overtakes another.`,
  async () => {
    const chance = new Chance(seed)
    const joined = { before: 0, unheard: 0 }
    for (let round = 0; round < rounds; round++) {
      const { threads, runs } = clientOf(server.url)
      const hold = gate()
      const { thread_id: id } = await threads.create()
      await runs.create(id, 'held', { input: say(`hold ${hold.url}`) })
      await hold.arrived()
      const sent: string[] = []
      for (let count = chance.between(1, 4); count >= 1; count--) {
        const content = `message ${sent.length} of ${round}`
        expect(await inject(id, content)).toBe(true)
        sent.push(content)
      }
      // Every other time the step ends that takes them, while the server is killed.
      if (round % 2 === 1) hold.open()
      // One more is under way: it may be there, and is if it was acknowledged.
      const last = `the last of ${round}`
      const isLast = inject(id, last)
      await pause(chance.between(0, 40))
      await server.kill('SIGKILL')
      await server.restart()
      hold.open()
      await expect.poll(async () => (await threads.get(id)).status).toBe('idle')
      const found = texts((await threads.getState(id)).values)
        .filter((text) => text.includes(` of ${round}`))
      const wanted = await isLast || found.includes(last) ? [...sent, last] : sent
      expect(found, `seed ${seed}`).toEqual(wanted)
      expect(await runs.list(id, { status: 'pending' })).toEqual([])
      joined[round % 2 === 1 ? 'unheard' : 'before']++
    }
    console.log(`seed ${seed}:`, joined)
  })
