/** The metrics of graph processes. */

import { expect, it, onTestFinished } from 'vitest'

import type { LoadedRevision } from '../../../../src/deployment/index.ts'
import { readRollouts, readServing,
  RolloutCounts } from '../../../../src/server/deployments/serving-metrics.ts'
import { openMetricsServer } from '../../../../src/server/metrics/metrics-port.ts'
import { Metrics } from '../../../../src/server/metrics/metrics.ts'
import { aDeployment } from '../../../support/rollout-records.ts'

it('counts graph processes by state, their memory, starts and deaths', async () => {
  const metrics = new Metrics()
  const one: LoadedRevision = { deployment: 'shop', revision: 'r1', envVersion: 0, state: 'ready',
    executing: 2, memoryBytes: 1_000, deaths: 1 }
  const problem = { deployment: 'shop', revision: 'r1', reason: 'no', isWhole: true, sinceMs: 1 }
  readServing(metrics, { stats: () => ({ starts: 5, deaths: 3 }),
    problems: () => [problem, { ...problem, revision: 'r2' }],
    loaded:
      () => [one, { ...one, state: 'leaving' }, { ...one, state: 'broken', memoryBytes: null,
        executing: 0 }] })
  const text = await metrics.text()
  for (
    const line of ['graph_processes{state="ready"} 1', 'graph_processes{state="loading"} 0',
      'graph_processes{state="broken"} 1', 'graph_processes_memory_bytes 2000',
      'deployed_executions 4', 'graph_processes_started_total 5', 'graph_processes_died_total 3',
      'deployments_not_serving 1']
  ) expect(text).toContain(`heddle_${line}\n`)
})

it('counts roll-outs by their end, and says how old the oldest is', async () => {
  const metrics = new Metrics()
  const ended = new RolloutCounts()
  const under = { id: 'id', kind: 'activate', revision: 'r1', from: null, percent: 100,
    envVersion: 0, phase: 'preparing', members: [], startedAtMs: 1_000, phaseAtMs: 1_000,
    watchMs: 0, prepareMs: 1, by: 'me', message: '' } as const
  const all = [
    aDeployment({ rollout: under }),
    aDeployment({ rollout: { ...under, phase: 'watching', startedAtMs: 1 } }),
    aDeployment({ preview: { of: 'shop', label: 'fix', ttlMs: 1 } }),
  ]
  readRollouts(metrics, { all: () => all }, ended, { nowMs: () => 9_000 })
  ended.add('activate', 'refused')
  ended.add('activate', 'refused')
  ended.add('rollback', 'done')
  const lines = (await metrics.text()).split('\n')
  expect(lines).toEqual(
    expect.arrayContaining(['heddle_rollout_age_seconds 8',
      'heddle_rollouts_total{kind="activate",result="refused"} 2',
      'heddle_rollouts_total{kind="rollback",result="done"} 1',
      'heddle_deployments{kind="preview"} 1', 'heddle_deployments{kind="lasting"} 2']),
  )
  all.length = 0
  expect(await metrics.text()).toContain('heddle_rollout_age_seconds 0\n')
})

it('sends all metrics as JSON from the port of metrics', async () => {
  const metrics = new Metrics()
  metrics.gauge({ name: 'ready', help: 'Ready.' }, () => [{ value: 1 }])
  const server = await openMetricsServer(metrics, { host: '127.0.0.1', port: 0 })
  onTestFinished(() => server.close())
  const read = (query: string) => fetch(`http://127.0.0.1:${server.port}/metrics${query}`)
  expect(await (await read('?format=json')).json()).toContainEqual(
    expect.objectContaining({ name: 'heddle_ready', type: 'gauge',
      values: [expect.objectContaining({ value: 1 })] }),
  )
  expect(await (await read('')).text()).toContain('heddle_ready 1\n')
  expect((await read('?format=xml')).status).toBe(404)
})
