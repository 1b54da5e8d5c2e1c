/** How rules act: a judge of a paused deployment is not run. */

import { expect, it } from 'vitest'

import { graphHosts, idleHost } from '../../../src/graph/index.ts'
import { rulePort } from '../../../src/server/evaluation/rule-port.ts'

it('refuses to run a judge while its deployment is paused', async () => {
  const started: string[] = []
  let isPaused = true
  const port = rulePort({
    egress: {} as never,
    graphs: { of: () => ({}) as never, isPaused: () => isPaused },
    runs: { createStatelessAndWait: async (tenant) => {
      started.push(tenant)
      return { row: { runId: 'r' }, result: async () => '{}' } as never
    } },
  })
  const asked = { graphId: 'judge', input: {}, key: 'k', metadata: {} }
  const run = () => port.graphs!.run('t@shop', asked, new AbortController().signal)
  await expect(run()).rejects.toMatchObject({ code: 'not_ready',
    message: expect.stringContaining('paused') as string })
  isPaused = false
  expect([await run(), started]).toEqual([{ runId: 'r', values: {} }, ['t@shop']])
})

it('does not run a judge while it is not known whether its deployment is paused', async () => {
  const deployed = { view: () => undefined } as never
  const port = rulePort({ egress: {} as never, graphs: graphHosts(idleHost(), deployed),
    runs: {} as never })
  const asked = { graphId: 'judge', input: {}, key: 'k', metadata: {} }
  await expect(port.graphs!.run('t@shop', asked, new AbortController().signal))
    .rejects.toMatchObject({ code: 'unavailable' })
})
