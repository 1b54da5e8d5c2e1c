/** Metrics of deployments: graph processes, their memory, starts and deaths, and roll-outs. */

import type { Env } from '../../../cluster/index.ts'
import type { LoadState, RolloutKind, RolloutResult, Serving } from '../../deployment/index.ts'
import type { Metrics } from '../metrics/metrics.ts'

const states: readonly LoadState[] = ['loading', 'ready', 'leaving', 'broken']

/** The names of the deployments that problems are about, each once. */
export function notServed(problems: ReturnType<Serving['problems']>): readonly string[] {
  return [...new Set(problems.map(({ deployment }) => deployment))].toSorted()
}

/** Adds the graph processes of deployments. */
export function readServing(metrics: Metrics,
  serving: Pick<Serving, 'loaded' | 'stats' | 'problems'>): void {
  metrics.gauge({ name: 'deployments_not_serving',
    help: 'Deployments whose revision for new runs this member has tried to load in vain.' },
    () => [{ value: notServed(serving.problems()).length }])
  metrics.gauge({ name: 'graph_processes', labels: ['state'],
    help: 'Graph processes of deployments, by what they do; `broken` counts revisions that could ' +
      'not be loaded and are tried again.' }, () => {
    const loaded = serving.loaded()
    return states.map((state) => ({ labels: { state },
      value: loaded.filter((each) => each.state === state).length })
    )
  })
  metrics.gauge({ name: 'graph_processes_memory_bytes',
    help: 'Memory of all graph processes of deployments.' }, () => [{
    value: serving.loaded().reduce((sum, { memoryBytes }) => sum + (memoryBytes ?? 0), 0),
  }])
  metrics.gauge({ name: 'deployed_executions',
    help: 'Runs and edits of deployments that graph processes execute.' },
    () => [{ value: serving.loaded().reduce((sum, { executing }) => sum + executing, 0) }])
  metrics.counter({ name: 'graph_processes_started_total',
    help: 'Graph processes of deployments that were started.' },
    () => [{ value: serving.stats().starts }])
  metrics.counter({ name: 'graph_processes_died_total',
    help: 'Graph processes of deployments that ended by themselves.' },
    () => [{ value: serving.stats().deaths }])
}

/** Counts of ended roll-outs, by kind and result. */
export class RolloutCounts {
  readonly #counts = new Map<string,
    { readonly kind: RolloutKind; readonly result: RolloutResult; count: number }>()

  add(kind: RolloutKind, result: RolloutResult): void {
    const key = `${kind} ${result}`
    const before = this.#counts.get(key) ?? { kind, result, count: 0 }
    before.count++
    this.#counts.set(key, before)
  }

  get all(): readonly { readonly kind: RolloutKind; readonly result: RolloutResult;
    readonly count: number }[] {
    return [...this.#counts.values()]
  }
}

/** Adds roll-outs, and the previews among the deployments. */
export function readRollouts(metrics: Metrics, serving: Pick<Serving, 'all'>, ended: RolloutCounts,
  env: Pick<Env, 'nowMs'>): void {
  metrics.gauge({ name: 'deployments', labels: ['kind'],
    help: 'Deployments of the cluster, as this member knows them.' }, () => {
    const all = serving.all()
    const previews = all.filter(({ preview }) => preview !== null).length
    return [{ labels: { kind: 'preview' }, value: previews }, { labels: { kind: 'lasting' },
      value: all.length - previews }]
  })
  metrics.gauge({ name: 'rollout_age_seconds',
    help: 'For how long the oldest roll-out has not moved its pointer and has not ended; 0 if ' +
      'there is none.' }, () => {
    const begun = serving.all().flatMap(({ rollout }) =>
      rollout === null || rollout.phase === 'watching' ? [] : [rollout.startedAtMs]
    )
    const oldestMs = Math.min(env.nowMs(), ...begun)
    return [{ value: (env.nowMs() - oldestMs) / 1_000 }]
  })
  metrics.counter({ name: 'rollouts_total', labels: ['kind', 'result'],
    help:
      'Roll-outs that ended, on the member that drove them. Only `done` has kept its pointer.' },
    () => ended.all.map(({ count, ...labels }) => ({ labels, value: count })))
}
