/** The memory of a server does not grow with the number of stateless runs that it has served. */

import { afterAll, beforeAll, expect, it } from 'vitest'

import type { ProbedMemory } from '../bench/heap-mark.ts'
import { memoryOf, probedEnv } from '../bench/idle-actors.ts'
import { Served } from '../bench/served.ts'
import { graphId, turn } from '../bench/target.ts'
import { startServer } from '../support/server-process.ts'
import type { ServerProcess } from '../support/server-process.ts'

const [runs, clients] = [20_000, 32]

let server: ServerProcess
beforeAll(async () => {
  server = await startServer({ project: 'bench', env: probedEnv })
})
afterAll(() => server.close())

async function serve(): Promise<ProbedMemory> {
  const served = new Served('server', server.url)
  const run = { assistant_id: graphId, input: turn('hello') }
  let left = runs
  await Promise.all(Array.from({ length: clients }, async () => {
    while (left-- > 0) await served.ask('POST', '/runs/wait', run)
  }))
  served.close()
  return memoryOf(server)
}

/** Bytes that objects take after a collection, in the threads that said so both times. */
function usedBy(memory: ProbedMemory, other: ProbedMemory): number {
  const known = new Set(other.others.map(({ thread }) => thread))
  const { heapUsed, external, others } = memory
  return others.filter(({ thread }) => known.has(thread))
    .reduce((sum, { used }) => sum + used, heapUsed + external)
}

it('60 000 stateless runs take no more memory than 40 000', async () => {
  await serve()
  const [second, third] = [await serve(), await serve()]
  const used = [usedBy(second, third), usedBy(third, second)] as const
  console.log({ used, rss: [second.rss, third.rss] })
  expect(second.others.length).toBeGreaterThan(0)
  // What a run leaves in the first rounds, it leaves in the last: 2 KB would be 40 MB.
  expect(used[1] / used[0]).toBeLessThan(1.1)
  expect(third.rss / second.rss).toBeLessThan(1.25)
})
