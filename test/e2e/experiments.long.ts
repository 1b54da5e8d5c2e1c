/** Kills in the middle of an experiment: it goes on, and each run of it is there exactly once. */

import { expect, it, vi } from 'vitest'

import { experimentWire } from '../support/experiments.ts'
import { oneWorker, startServer } from '../support/server-process.ts'

/** Examples, repetitions of each, and kills. */
const [examples, repetitions, kills] = [24, 2, 2]

it('An experiment goes on after kill -9, and no example is asked twice or left out', async () => {
  const server = await startServer({ project: 'judging', args: oneWorker })
  const wire = experimentWire(server)
  try {
    const dataset = await wire.dataset('killed', Array.from({ length: examples }, (_, no) =>
      `slowly ${no}`))
    const { id, session_id: session } = await wire.begun({ assistant_id: 'answer',
      input_text: 'question', output_text: 'answer', dataset_id: dataset, repetitions,
      evaluators: [{ graph_id: 'judge' }] })
    let finished = 0
    for (let kill = 0; kill < kills; kill++) {
      finished = await vi.waitFor(async () => {
        const now = await wire.get(id)
        expect(now.finished_runs).toBeGreaterThan(finished)
        return now.finished_runs
      }, { timeout: 60_000, interval: 50 })
      expect(finished).toBeLessThan(examples * repetitions)
      await server.kill('SIGKILL')
      await server.restart()
      expect((await wire.get(id)).finished_runs).toBeGreaterThanOrEqual(finished)
    }
    const over = await wire.over(id, 120_000)
    expect(over).toMatchObject({ status: 'Completed', total_runs: examples * repetitions,
      finished_runs: examples * repetitions, failed_runs: 0, session_id: session,
      verdicts: examples * repetitions })
    const runs = await wire.runs(over)
    const seen = runs.map(({ reference_example_id: example, extra }) =>
      `${example} ${String(extra.metadata['repetition'])}`
    )
    expect(new Set(seen).size).toBe(examples * repetitions)
    expect(seen).toHaveLength(examples * repetitions)
    for (const { feedback_stats: feedback } of runs)
      expect(feedback).toMatchObject({ short: { n: 1 } })
    // Each run of the assistant happened once, too: a repeat finds the run that there is.
    const { body } = await wire.send('POST', '/runs/query', {
      session: [await sessionOf(wire, 'answer')],
      is_root: true,
      limit: 100,
    })
    expect((body as { readonly runs: readonly unknown[] }).runs)
      .toHaveLength(examples * repetitions)
  } catch (error) {
    console.log(`The last that the server said:\n${server.output().slice(-4_000)}`)
    throw error
  } finally {
    await server.close()
  }
}, 300_000)

async function sessionOf(wire: ReturnType<typeof experimentWire>, name: string): Promise<string> {
  const { body } = await wire.send('GET', `/sessions?name=${name}`)
  return (body as readonly { readonly id: string }[])[0]!.id
}
