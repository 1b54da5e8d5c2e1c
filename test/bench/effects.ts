/** What an effect adds to a run: the same call with `once`, with `keep` and plain, in turns. */

import { openReceiver } from '../support/receiver.ts'
import { clientOf } from '../support/server.ts'
import { oneWorker, startServer } from '../support/server-process.ts'
import { embeddedWeight } from './log-weight.ts'
import { progress } from './progress.ts'
import { recordingLines } from './recordings.ts'
import type { Bench, Line } from './report.ts'
import { quantile, ratios, spreadOf } from './statistics.ts'

/** Graphs of the project `effects` that make one call to the receiver, after a first step. */
const ways = [{ name: 'plain', graphId: 'bare' }, { name: 'once', graphId: 'shop' }, {
  name: 'keep',
  graphId: 'drafting',
}] as const

/** Measures one server on its data directory, and then three that record or do not. */
export async function benchEffects({ quick }: { readonly quick: boolean }): Promise<Bench> {
  const [rounds, runs] = quick ? [3, 20] : [15, 60]
  const receiver = await openReceiver((_, response) => response.end('{"id":1}'))
  const server = await startServer({ project: 'effects', args: oneWorker,
    env: { RECEIVER: receiver.url } })
  const weight = embeddedWeight(server.dataDir)
  try {
    const took = ways.map(() => [] as number[])
    const rows = ways.map(() => [] as number[])
    const { threads, runs: calls } = clientOf(server.url)
    for (let round = -2; round < rounds; round++) {
      progress(`round ${round}`)
      for (const [at, { graphId }] of ways.entries()) {
        const ids = await Promise.all(
          Array.from({ length: runs }, async () => (await threads.create()).thread_id),
        )
        const before = await weight.weigh()
        const ms: number[] = []
        for (const id of ids) {
          const beganMs = performance.now()
          await calls.wait(id, graphId, { input: { order: 'a chair' } })
          ms.push(performance.now() - beganMs)
        }
        const after = await weight.weigh()
        // The first rounds are a warm-up.
        if (round < 0) continue
        took[at]!.push(quantile(ms, 0.5))
        rows[at]!.push((after.rows - before.rows) / runs)
      }
    }
    const lines = [lineOf(1), lineOf(2)].flat()
    return { title: 'Effects and recordings', file: '',
      lines: [...lines, ...await recordingLines({ quick })],
      notes: `${rounds} rounds of ${runs} runs of one client, each way in turns.` }

    function lineOf(at: 1 | 2): Line[] {
      const { name } = ways[at]
      const shown = (n: number) =>
        `${ways[n]!.name} ${quantile(took[n]!, 0.5).toFixed(2)} ms, ` +
        `${quantile(rows[n]!, 0.5).toFixed(1)} rows`
      const added = took[at]!.map((ms, i) => ms - took[0]![i]!)
      const addedRows = rows[at]!.map((count, i) => count - rows[0]![i]!)
      return [
        { measure: `a call with ${name}`, unit: 'times', figures: [shown(0), shown(at)],
          ratio: spreadOf(ratios(took[at]!, took[0]!)) },
        { measure: `${name}: milliseconds more`, unit: 'ms', figures: [], ratio: spreadOf(added),
          aim: { sign: '≤', value: 1 } },
        { measure: `${name}: rows more`, unit: 'rows', figures: [], ratio: spreadOf(addedRows),
          aim: { sign: '≤', value: at === 1 ? 1 : 0 } },
      ]
    }
  } finally {
    await weight.close()
    await server.close()
    await receiver.close()
  }
}
