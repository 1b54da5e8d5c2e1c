/** The replays of a deployment over memory: they go on until a test says otherwise. */

import type { ControlReplay, ControlVerdict } from '../../src/api/index.ts'

type Verdicts = ControlReplay['verdicts']

const noVerdicts: Verdicts = { same: 0, same_result: 0, diverged: 0, fixed: 0, failed: 0,
  unstable: 0, not_replayable: 0 }

const noUsage: ControlReplay['usage'] = { recorded: { tokens: null, cost: null },
  replayed: { tokens: null, cost: null }, is_at_least: false }

/** A verdict on a run; what is not given is that of one that is the same. */
export const runVerdict = (number: number,
  change: Partial<ControlVerdict> = {}): ControlVerdict => ({ thread_id: idOf('7', number),
    run_id: idOf('5', number), stateless: false, graph_id: 'agent', recorded_revision: 'r12',
    verdict: 'same', reason: null, group: null, step: null, node: null, asked: null, recorded: null,
    moved: [], missing: [], first_step: null, usage: noUsage, recorded_calls: 4, calls: 4, ms: 36,
    ...change })

const idOf = (kind: string, number: number) =>
  `0197aaaa-0000-${kind}000-8000-${String(number).padStart(12, '0')}`

/** Replays by their ids, the newest first. */
export class FakeReplays {
  readonly #all: { progress: ControlReplay; runs: readonly ControlVerdict[] }[] = []

  /** Tokens and cost of those that are added. */
  usage = noUsage

  /** Adds one with the verdicts on its runs. */
  add(change: Partial<ControlReplay['replay']> = {},
    runs: readonly ControlVerdict[] = []): ControlReplay {
    const replay: ControlReplay['replay'] = { id: idOf('4', this.#all.length + 1),
      deployment: 'shop', revision: 'r13', by: 'mira', phase: 'done', reason: null,
      started_at: new Date().toISOString(), ended_at: null, controlled: true, runs: runs.length,
      passed: 0, experiment: null, ...change }
    const progress = progressOf(replay, runs, this.usage)
    this.#all.unshift({ progress, runs })
    return progress
  }

  /** Changes one, and gives further verdicts. */
  change(id: string, change: Partial<ControlReplay['replay']>,
    more: readonly ControlVerdict[] = []): ControlReplay {
    const found = this.#of(id)!
    found.runs = [...found.runs, ...more]
    found.progress = progressOf({ ...found.progress.replay, ...change }, found.runs, this.usage)
    return found.progress
  }

  /** The answer to a call. */
  answer(method: string, id: string | undefined, act: string | undefined,
    body: Readonly<Record<string, unknown>>): { readonly status: number;
    readonly answer: unknown } {
    if (id === undefined) {
      return method === 'GET'
        ? { status: 200, answer: { replays: this.#all.map(({ progress }) => progress.replay) } }
        : { status: 202,
          answer: this.add({ revision: String(body['revision']), phase: 'running', runs: null,
            controlled: body['control'] !== false }) }
    }
    const found = this.#of(id)
    if (found === undefined) {
      const detail = 'There is no such replay.'
      return { status: 404, answer: { detail, message: detail, code: 'not_found' } }
    }
    if (act === 'runs') return { status: 200, answer: { runs: found.runs } }
    if (act === undefined) return { status: 200, answer: found.progress }
    return { status: 200,
      answer: this.change(id, { phase: 'cancelled', ended_at: new Date().toISOString() }).replay }
  }

  #of(id: string) {
    return this.#all.find(({ progress }) => progress.replay.id === id)
  }
}

function progressOf(replay: ControlReplay['replay'], runs: readonly ControlVerdict[],
  usage: ControlReplay['usage']): ControlReplay {
  const verdicts = { ...noVerdicts }
  for (const { verdict } of runs) verdicts[verdict] += 1
  const differ = runs.filter((run) => run.group !== null)
  const groups = [...Map.groupBy(differ, ({ group }) => group!)].map(([key, own]) => {
    const [{ verdict, step, node, reason }] = own as [ControlVerdict]
    return { key, verdict, step, node, reason: reason ?? '', runs: own.length }
  })
  const { same, same_result: alike, diverged, fixed, failed } = verdicts
  const compared = same + alike + diverged + fixed + failed
  return { replay, done: runs.length, verdicts, groups, usage,
    diverged_percent: compared === 0 ? null : 100 * (diverged + failed) / compared }
}
