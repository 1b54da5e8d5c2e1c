/** Experiments of a server under test: datasets, and what became of their examples. */

import { expect, vi } from 'vitest'

import type { Experiment } from '../../src/api/index.ts'
import { ask } from './wire.ts'
import type { JsonAnswer } from './wire.ts'

/** A run of an experiment, as it is read. */
export interface ExperimentRun {
  readonly id: string
  readonly reference_example_id: string
  readonly inputs: Readonly<Record<string, unknown>>
  readonly outputs: Readonly<Record<string, unknown>> | null
  readonly error: string | null
  readonly extra: { readonly metadata: Readonly<Record<string, unknown>> }
  readonly total_tokens: number | null
  readonly feedback_stats:
    | Readonly<Record<string, { readonly n: number; readonly avg: number }>>
    | null
}

/** A server, as its experiments are asked. */
export interface ExperimentWire {
  send(method: string, path: string, body?: unknown): Promise<JsonAnswer>
  /** The id of a new dataset with an example for each question. */
  dataset(name: string, questions: readonly string[]): Promise<string>
  /** An experiment that has begun. */
  begun(body: object): Promise<Experiment>
  get(id: string): Promise<Experiment>
  /** The experiment when it is over. */
  over(id: string, ms?: number): Promise<Experiment>
  runs(experiment: Experiment): Promise<readonly ExperimentRun[]>
}

/** The wire to a server. */
export function experimentWire(server: { readonly url: string }): ExperimentWire {
  const send = (method: string, path: string, body?: unknown) =>
    ask(server.url, method, `/api/v1${path}`, body)
  const get = async (id: string) => (await send('GET', `/experiments/${id}`)).body as Experiment
  return {
    send,
    get,
    dataset: async (name, questions) => {
      const { body } = await send('POST', '/datasets', { name })
      const { id } = body as { readonly id: string }
      const examples = questions.map((question) => ({ dataset_id: id, inputs: { question },
        outputs: { answer: `Answer to ${question}` } })
      )
      expect(await send('POST', '/examples/bulk', examples)).toMatchObject({ status: 200 })
      return id
    },
    begun: async (body) => {
      const answer = await send('POST', '/experiments', body)
      expect(answer).toMatchObject({ status: 202 })
      return answer.body as Experiment
    },
    over: async (id, ms = 60_000) =>
      await vi.waitFor(async () => {
        const experiment = await get(id)
        expect(experiment.finished_at).not.toBeNull()
        return experiment
      }, { timeout: ms, interval: 30 }),
    runs: async ({ session_id: session }) => {
      const found: ExperimentRun[] = []
      let cursor: string | null = null
      do {
        const { body } = await send('POST', '/runs/query', { session: [session], is_root: true,
          limit: 100, ...cursor !== null && { cursor } })
        const page = body as { readonly runs: readonly ExperimentRun[];
          readonly cursors: { readonly next: string | null } }
        found.push(...page.runs)
        cursor = page.cursors.next
      } while (cursor !== null)
      return found
    },
  }
}
