/** What stateless runs leave in the memory of a member. */

import type { ServerProcess } from '../support/server-process.ts'
import type { ProbedMemory } from './heap-mark.ts'
import { memoryOf } from './idle-actors.ts'
import { within } from './patience.ts'
import { progress } from './progress.ts'
import type { Line } from './report.ts'
import { Served } from './served.ts'
import { spreadOf } from './statistics.ts'
import { graphId, turn } from './target.ts'

export interface StatelessPlan {
  readonly runs: number
  /** Runs before: code and buffers are allocated then. */
  readonly warmUp: number
  readonly clients: number
}

const answerMs = 60_000

/** The server must answer a signal with its memory. */
export async function statelessLines(server: ServerProcess,
  { runs, warmUp, clients }: StatelessPlan): Promise<Line[]> {
  progress(`${runs} stateless runs`)
  const served = new Served('member', server.url)
  try {
    await all(served, warmUp, clients)
    const before = await memoryOf(server)
    await all(served, runs, clients)
    const after = await memoryOf(server)
    const line = (name: string, bytes: (memory: ProbedMemory) => number): Line => ({
      measure: `${runs} stateless runs, ${name} that they leave`,
      unit: 'bytes',
      figures: [`${megabytes(bytes(before))} before, ${megabytes(bytes(after))} after`],
      ratio: spreadOf([bytes(after) - bytes(before)]),
      ...name === 'resident memory' && { aim: { sign: '≤', value: 60_000_000 } },
    })
    return [line('heap of the main thread', ({ heapUsed }) => heapUsed),
      line('heap of other threads', usedByOthers), line('buffers', ({ external }) => external),
      line('resident memory', ({ rss }) => rss)]
  } finally {
    served.close()
  }
}

function usedByOthers({ others }: ProbedMemory): number {
  return others.reduce((sum, { used }) => sum + used, 0)
}

function megabytes(bytes: number): string {
  return `${Math.round(bytes / 1e6)} MB`
}

async function all(served: Served, runs: number, clients: number): Promise<void> {
  const run = { assistant_id: graphId, input: turn('hello') }
  let left = runs
  await Promise.all(Array.from({ length: clients }, async () => {
    while (left-- > 0) await within(answerMs, 'a run', served.ask('POST', '/runs/wait', run))
  }))
}
