/** Replays of 200 recorded runs of ten steps, and what another caller waits beside them. */

import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'

import type { ControlReplay } from '../../src/api/index.ts'
import { deployedProject } from '../e2e/deploy/deployed-project.ts'
import { DeployTarget } from '../e2e/deploy/deploy-target.ts'
import { openReceiver } from '../support/receiver.ts'
import { oneWorker, startServer } from '../support/server-process.ts'
import { progress } from './progress.ts'
import type { Bench } from './report.ts'
import { Served } from './served.ts'
import { quantile, ratios, spreadOf } from './statistics.ts'

const steps = 10
const answer = JSON.stringify({ text: 'word '.repeat(200) })
/** Between two looks at a replay, which is a request, too; and between two runs of the other. */
const [lookMs, pauseMs] = [200, 20]

const code = `import { Annotation, StateGraph } from '@langchain/langgraph'

const State = Annotation.Root({ url: Annotation, said: Annotation })
const graph = new StateGraph(State)
let last = '__start__'
for (let step = 0; step < ${steps}; step++) {
  graph.addNode('step' + step, async ({ url, said }) => {
    const body = JSON.stringify({ step, said: said.slice(-200) })
    return { said: said + (await (await fetch(url, { method: 'POST', body })).json()).text }
  }).addEdge(last, 'step' + step)
  last = 'step' + step
}
export const agent = graph.compile()
`

/** Measures one server, whose own graph another caller runs with and without a replay. */
export async function benchReplays({ quick }: { readonly quick: boolean }): Promise<Bench> {
  const [rounds, sample] = quick ? [2, 20] : [4, 200]
  const [project, server, receiver] = await Promise.all([
    deployedProject({
      'langgraph.json': JSON.stringify({ graphs: { agent: './agent.ts:agent' },
        heddle: { record: 'all' } }),
    }),
    startServer({ project: 'bench', args: oneWorker }),
    openReceiver((_, response) => response.end(answer)),
  ])
  const other = new Served('server', server.url)
  try {
    const shop = new DeployTarget(server.url, 'shop')
    await shop.create({ limits: { memory_mb: 512, workers: 1 } })
    await shop.deploy(await project.built(code), { watch_s: 0, prepare_s: 600 })
    progress(`${sample} runs to record`)
    for (let run = 0; run < sample; run++) {
      const { thread_id: id } = await shop.client.threads.create()
      await shop.client.runs.wait(id, 'agent', { input: { url: receiver.url, said: `run ${run}.` },
        raiseError: true })
    }
    const asked = receiver.received.length
    const waits = async (until: Promise<unknown>) => {
      const over = new AbortController()
      void until.finally(() => over.abort())
      const ms: number[] = []
      do {
        const beganMs = performance.now()
        await other.wait(randomUUID(), 'hello')
        ms.push(performance.now() - beganMs)
        await pause(pauseMs)
      } while (!over.signal.aborted)
      return quantile(ms, 0.99)
    }
    const [seconds, alone, beside]: number[][] = [[], [], []]
    for (let round = -1; round < rounds; round++) {
      progress(`round ${round}`)
      const beganMs = performance.now()
      await replayed(shop, sample)
      const tookS = (performance.now() - beganMs) / 1_000
      const quiet = await waits(pause(quick ? 1_000 : 15_000))
      const during = await waits(replayed(shop, sample))
      // The first round is a warm-up.
      if (round < 0) continue
      seconds!.push(tookS)
      alone!.push(quiet)
      beside!.push(during)
    }
    if (receiver.received.length > asked) throw new Error('A replay has made a call.')
    return { title: 'Replays', file: '', notes: `${rounds} rounds. Each replay has its control: ` +
      `${2 * sample} executions of ${steps} steps with a call each, the starts of two processes ` +
      'included. The other caller runs a graph of the server itself, and pauses 20 ms after each.',
      lines: [
        { measure: `${sample} replays of ${steps} steps`, unit: 's', figures: [],
          ratio: spreadOf(seconds!), aim: { sign: '≤', value: 20 } },
        { measure: 'p99 of another caller beside a replay', unit: 'times',
          figures: [`alone ${quantile(alone!, 0.5).toFixed(1)} ms`,
            `beside ${quantile(beside!, 0.5).toFixed(1)} ms`],
          ratio: spreadOf(ratios(beside!, alone!)), aim: { sign: '≤', value: 1.1 } },
      ] }
  } finally {
    other.close()
    await server.close()
    await project.remove()
    receiver.close()
  }
}

async function replayed(shop: DeployTarget, sample: number): Promise<void> {
  const begun = await shop.own('POST', '/replays', { revision: 'r1', sample })
  let seen = begun.body as unknown as ControlReplay
  while (seen.replay.phase === 'running') {
    await pause(lookMs)
    seen = (await shop.own('GET', `/replays/${seen.replay.id}`)).body as unknown as ControlReplay
  }
  if (seen.verdicts.same !== sample) throw new Error(JSON.stringify(seen.verdicts))
}
