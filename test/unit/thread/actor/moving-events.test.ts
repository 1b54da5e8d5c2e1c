/** Events of a whole thread, of real graphs whose owner changes while they run. */

import { expect, it } from 'vitest'

import { aRun, settled } from '../../../support/thread-house.ts'
import { ThreadChain } from '../../../support/thread-pair.ts'
import { readThread } from '../../../support/thread-reader.ts'
import { hostProject, TestHost } from '../../graph/project/host-project.ts'

const supersteps = 12

const project = `
  export const agent = (() => {
    const graph = new StateGraph(State)
    for (let i = 1; i <= ${supersteps}; i++) {
      graph.addNode('n' + i, async (_, config) => {
        config.writer?.('token ' + i)
        await new Promise((done) => setTimeout(done, 5))
        return { log: [i] }
      })
      graph.addEdge(i === 1 ? START : 'n' + (i - 1), 'n' + i)
    }
    return graph.addEdge('n${supersteps}', END).compile()
  })()`

it.each(['handed over', 'killed'] as const)('No state is lost or doubled if a thread is %s.',
  async (how) => {
    const { host } = await TestHost.start(2, await hostProject(project))
    const chain = new ThreadChain(() => host)
    const reader = await readThread(chain.client, 'x')
    await chain.client.startRun('t', 'x',
      aRun('r', { plan: { ...aRun('r').plan, threadEvents: true, timeoutMs: 1e12 },
        kwargs: { input: {}, stream_mode: [] } }))
    const passing = async (done: () => boolean) => {
      while (!done()) {
        await settled()
        chain.env.advance(50)
      }
    }
    const states = () =>
      reader.all.filter(({ method, namespace }) => method === 'values' && namespace.length === 0)
        .map(({ data }) => JSON.parse(data) as { log: number[] })
    await passing(() => states().length >= 3)
    if (how === 'killed') chain.kill()
    else await chain.handOver()
    await passing(() => reader.lines.at(-1) === 'lifecycle completed')
    expect(states().map(({ log = [] }) => log.length)).toEqual(
      Array.from({ length: supersteps + 1 }, (_, i) => i),
    )
    const begins = reader.lines.filter((line) => line === 'lifecycle running')
    // A thread that is handed over may reach the end of its run where it is.
    expect(begins.length).toBeGreaterThanOrEqual(how === 'killed' ? 2 : 1)
    const seqs = reader.all.map(({ seq }) => seq)
    expect(seqs).toEqual(seqs.toSorted((a, b) => a - b))
    expect(new Set(reader.ids).size).toBe(reader.ids.length)
    expect(reader.lines).toContain('custom')
    reader.stop()

    const later = await readThread(chain.client, 'x')
    await settled()
    const known = new Map(reader.all.map((event) => [event.id, event]))
    for (const event of later.all) expect(event).toEqual(known.get(event.id))
    expect(later.lines.filter((line) => line === 'values')).toHaveLength(supersteps + 1)
  })
