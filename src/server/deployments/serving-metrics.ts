/** Metrics of deployments: graph processes, their memory, starts and deaths. */

import type { LoadState, Serving } from '../../deployment/index.ts'
import type { Metrics } from '../metrics/metrics.ts'

const states: readonly LoadState[] = ['loading', 'ready', 'leaving', 'broken']

/** Adds the graph processes of deployments. */
export function readServing(metrics: Metrics, serving: Pick<Serving, 'loaded' | 'stats'>): void {
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
