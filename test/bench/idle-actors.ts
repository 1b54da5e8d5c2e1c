/** The cost of an idle thread in the memory of a member. */

import { randomUUID } from 'node:crypto'
import type { ServerProcess } from '../support/server-process.ts'
import { heapMark } from './heap-mark.ts'
import type { ProbedMemory } from './heap-mark.ts'
import { until, within } from './patience.ts'
import { progress } from './progress.ts'
import type { Line } from './report.ts'
import { Served } from './served.ts'
import { spreadOf } from './statistics.ts'

export interface IdlePlan {
  readonly actors: number
  readonly clients: number
}

/** The environment of a server that a signal can ask for its memory. */
export const probedEnv = {
  NODE_OPTIONS: `--import=${new URL('./heap-probe.ts', import.meta.url).href}`,
}

const answerMs = 60_000
const probeMs = 60_000

/** The server must be warmed up: code and buffers are allocated. */
export async function idleLines(server: ServerProcess, plan: IdlePlan): Promise<Line[]> {
  progress(`${plan.actors} idle activations`)
  const before = await memoryOf(server)
  await activate(server.url, plan)
  const after = await memoryOf(server)
  const each = (part: keyof NodeJS.MemoryUsage) => (after[part] - before[part]) / plan.actors
  const line = (name: string, bytes: number): Line => ({
    measure: `${plan.actors} idle activations after one run each, ${name} for each`,
    unit: 'bytes',
    figures: [],
    ratio: spreadOf([bytes]),
  })
  return [
    line('heap', each('heapUsed')),
    line('buffers', each('external')),
    line('resident memory', each('rss')),
  ]
}

async function activate(url: string, { actors, clients }: IdlePlan): Promise<void> {
  const served = new Served('member', url)
  let left = actors
  try {
    await Promise.all(Array.from({ length: clients }, async () => {
      while (left > 0) {
        left -= 1
        await within(answerMs, 'a run', served.wait(randomUUID(), 'hello'))
      }
    }))
  } finally {
    served.close()
  }
}

/** Memory after a collection of garbage in all threads. */
export async function memoryOf(
  server: Pick<ServerProcess, 'pid' | 'output'>,
): Promise<ProbedMemory> {
  const from = server.output().length
  process.kill(server.pid, 'SIGUSR2')
  return until(probeMs, 'what the server says of its memory', async () => {
    const said = server.output().slice(from)
    const line = new RegExp(`^${heapMark}(.*)\n`, 'm').exec(said)?.[1]
    return line === undefined ? undefined : JSON.parse(line) as ProbedMemory
  })
}
