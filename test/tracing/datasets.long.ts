/** Datasets and evaluation with the unmodified client, in the versions that people have. */

import { describe, expect, it } from 'vitest'

import { repeats } from '../support/repeats.ts'
import { useServer } from '../support/server.ts'
import { ask } from '../support/wire.ts'
import { expectToPass, versions } from './drive.ts'

const server = useServer({ project: 'conformance' })

const rows = repeats({ day: 2_000, night: 10_000 })

/** What `evaluate()` prints whenever it begins. */
const starts = /^(Starting (pairwise )?evaluation of( experiment)?: |View results at:? http)\S/

describe.each(versions)('%s', (version) => {
  it('evaluates over datasets', () =>
    expectToPass({
      args: ['datasets-driver.mjs', version, `${server.url}/api/v1`,
        `${version} ${crypto.randomUUID().slice(0, 8)}`],
      env: { LANGSMITH_TRACING: 'true', LANGSMITH_ENDPOINT: `${server.url}/api/v1` },
      says: starts,
    }, 11))
})

it(`An experiment of ${rows} rows is taken in within a minute, and completed if it comes again`,
  async () => {
    const time = '2026-11-26T20:00:00Z'
    const results = Array.from({ length: rows },
      (_, index) => ({ row_id: crypto.randomUUID(),
        inputs: { q: `question ${index} ${'x'.repeat(500)}` }, expected_outputs: { a: index },
        actual_outputs: { a: index }, start_time: time, end_time: time,
        evaluation_scores: [{ key: 'right', score: 1 }, { key: 'short', score: 0 }] }))
    const upload = () =>
      ask(server.url, 'POST', '/api/v1/datasets/upload-experiment', { experiment_name: 'many rows',
        dataset_name: 'of many rows', experiment_start_time: time, experiment_end_time: time,
        results })
    const beganMs = performance.now()
    const first = await upload()
    const tookMs = performance.now() - beganMs
    expect(first).toMatchObject({ status: 200, body: { dataset: { example_count: rows } } })
    expect(tookMs).toBeLessThan(60_000)
    const { dataset, experiment: { id } } = first.body as Readonly<
      Record<'dataset' | 'experiment', { readonly id: string }>
    >
    expect(await upload()).toMatchObject({ status: 200,
      body: { dataset: { id: dataset.id, example_count: rows }, experiment: { id } } })
    const { body } = await ask(server.url, 'GET', `/api/v1/sessions/${id}?include_stats=true`)
    expect(body).toMatchObject({ run_count: rows,
      feedback_stats: { right: { n: rows, avg: 1 }, short: { n: rows, avg: 0 } } })
    console.log(`${Math.round(tookMs)} ms`)
  }, 180_000)
