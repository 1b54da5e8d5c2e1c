/** The metrics of graph processes. */

import { expect, it } from 'vitest'

import type { LoadedRevision } from '../../../../src/deployment/index.ts'
import { readServing } from '../../../../src/server/deployments/serving-metrics.ts'
import { Metrics } from '../../../../src/server/metrics/metrics.ts'

it('counts graph processes by state, their memory, starts and deaths', async () => {
  const metrics = new Metrics()
  const one: LoadedRevision = { deployment: 'shop', revision: 'r1', envVersion: 0, state: 'ready',
    executing: 2, memoryBytes: 1_000, deaths: 1 }
  readServing(metrics, { stats: () => ({ starts: 5, deaths: 3 }),
    loaded:
      () => [one, { ...one, state: 'leaving' }, { ...one, state: 'broken', memoryBytes: null,
        executing: 0 }] })
  const text = await metrics.text()
  for (
    const line of ['graph_processes{state="ready"} 1', 'graph_processes{state="loading"} 0',
      'graph_processes{state="broken"} 1', 'graph_processes_memory_bytes 2000',
      'deployed_executions 4', 'graph_processes_started_total 5', 'graph_processes_died_total 3']
  ) expect(text).toContain(`heddle_${line}\n`)
})
