/** What a recorder adds to a run of ten calls: one graph without it, off and recorded, in turns. */

import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'

import { openReceiver } from '../support/receiver.ts'
import { clientOf } from '../support/server.ts'
import { oneWorker, startServer } from '../support/server-process.ts'
import { progress } from './progress.ts'
import type { Line } from './report.ts'
import { quantile, ratios, spreadOf } from './statistics.ts'

const caller = resolve(import.meta.dirname, '../support/projects/recorded/caller.ts')
/** Bytes of an answer, as a model gives it. */
const answer = JSON.stringify({ text: 'word '.repeat(400) })
const callsOfRun = 10

/** Lines for a server that records nothing, and for one that records all runs. */
export async function recordingLines({ quick }: { readonly quick: boolean }): Promise<Line[]> {
  const [rounds, runs] = quick ? [3, 10] : [15, 40]
  const receiver = await openReceiver((_, response) => response.end(answer))
  const bare = await mkdtemp(join(tmpdir(), 'heddle-bench-'))
  await writeFile(join(bare, 'langgraph.json'), JSON.stringify({ graphs: {
    caller: `${caller}:caller`,
  } }))
  const starts = [
    { name: 'without', project: bare, args: oneWorker },
    { name: 'off', project: 'recorded', args: [...oneWorker, '--record', 'off'] },
    { name: 'recorded', project: 'recorded', args: [...oneWorker, '--record', 'all'] },
  ]
  const servers = await Promise.all(starts.map(({ name: _, ...start }) => startServer(start)))
  try {
    const took = starts.map(() => [] as number[])
    const calls = Array.from({ length: callsOfRun },
      (_, at) => ({ url: receiver.url,
        body: JSON.stringify({ at, messages: 'said '.repeat(400 * (at + 1)) }) }))
    for (let round = -2; round < rounds; round++) {
      progress(`recordings, round ${round}`)
      for (const [at, server] of servers.entries()) {
        const client = clientOf(server.url)
        const ms: number[] = []
        for (let run = 0; run < runs; run++) {
          const beganMs = performance.now()
          await client.runs.wait(null, 'caller', { input: { calls } })
          ms.push(performance.now() - beganMs)
        }
        // The first rounds are a warm-up.
        if (round >= 0) took[at]!.push(quantile(ms, 0.5))
      }
    }
    const shown = (at: number) => `${starts[at]!.name} ${quantile(took[at]!, 0.5).toFixed(1)} ms`
    const lineOf = (at: number, than: number, aim: number): Line => ({
      measure: `a run of ten calls, ${starts[at]!.name}`,
      unit: 'times',
      figures: [shown(than), shown(at)],
      ratio: spreadOf(ratios(took[at]!, took[than]!)),
      aim: { sign: '≤', value: aim },
    })
    return [lineOf(1, 0, 1), lineOf(2, 1, 1.05)]
  } finally {
    await Promise.all(servers.map((server) => server.close()))
    await receiver.close()
    await rm(bare, { recursive: true })
  }
}
