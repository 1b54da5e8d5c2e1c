/** A route of an app through the server, beside the same app alone under Node: in turns. */

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

import { oneWorker, startServer } from '../support/server-process.ts'
import { BareClient } from './bare-client.ts'
import { progress } from './progress.ts'
import type { Bench } from './report.ts'
import { quantile, spreadOf } from './statistics.ts'

/** Measures one client that asks again and again. */
export async function benchApp({ quick }: { readonly quick: boolean }): Promise<Bench> {
  const [rounds, calls] = quick ? [5, 50] : [60, 200]
  const bare = spawn(process.execPath, [fileURLToPath(new URL('./bare-app.ts', import.meta.url))], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const server = await startServer({ project: 'routes', args: oneWorker })
  try {
    const [port] = await once(bare.stdout, 'data') as [Buffer]
    const targets = { bare: new BareClient(new URL(`http://127.0.0.1:${String(port).trim()}`)),
      served: new BareClient(new URL(server.url)) }
    const medians = { bare: [] as number[], served: [] as number[] }
    for (let round = -2; round < rounds; round++) {
      progress(`round ${round}`)
      for (const name of round % 2 === 0
        ? ['bare', 'served'] as const
        : ['served', 'bare'] as const) {
        const took: number[] = []
        for (let call = 0; call < calls; call++) {
          const began = performance.now()
          const { status } = await targets[name].ask('GET', '/hello?name=a')
          if (status !== 200) throw new Error(`${name} answered ${status}`)
          took.push(performance.now() - began)
        }
        if (round >= 0) medians[name].push(quantile(took, 0.5))
      }
    }
    const more = medians.served.map((ms, round) => ms - medians.bare[round]!)
    return { title: 'A route of an app', file: '',
      notes: `${rounds} rounds of ${calls} calls of one client, in turns.`,
      lines: [{ measure: 'what the server adds to the bare app', unit: 'ms',
        figures: Object.entries(medians).map(([name, all]) =>
          `${name} ${quantile(all, 0.5).toFixed(3)} ms`
        ), ratio: spreadOf(more), aim: { sign: '≤', value: 0.5 } }] }
  } finally {
    bare.kill()
    await server.close()
  }
}
