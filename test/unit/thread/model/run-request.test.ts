/** The request that a thread makes of a graph for a run. */

import { expect, it } from 'vitest'

import type { RunRow } from '../../../../proto/gen/storage/v1/row.ts'
import { noResumePoint, runRequest } from '../../../../src/thread/model/run-request.ts'
import type { RunPlan } from '../../../../src/thread/model/thread-client.ts'

it("The config names the authenticated user, whatever the run's own config says.", () => {
  const configurable = { customer: 'c1', langgraph_auth_user_id: 'alice',
    langgraph_auth_user: { identity: 'alice' }, langgraph_auth_permissions: ['all'] }
  const run = { runId: 'r', threadId: 't', assistantId: 'a', attempt: 1, metadataJson: '{}',
    kwargsJson: JSON.stringify({ config: { configurable } }) } as RunRow
  const emitted = (userId: string) => {
    const plan = { graphId: 'g', headers: {}, userId } as RunPlan
    const { config } = runRequest(run, plan, noResumePoint)
    return (JSON.parse(config) as { configurable: unknown }).configurable
  }
  const ids = { run_id: 'r', thread_id: 't', graph_id: 'g', assistant_id: 'a' }
  expect(emitted('')).toEqual({ customer: 'c1', ...ids })
  expect(emitted('bob')).toEqual({ customer: 'c1', ...ids, langgraph_auth_user_id: 'bob' })
})

it('A resumed attempt gets only the resume values of its command, and the questions since.', () => {
  const command = { resume: { id: 'yes' }, update: { a: 1 }, goto: 'b' }
  const given = (of: unknown, wrote: boolean, asked: string[] | null = ['id']) => {
    const run = { runId: 'r', threadId: 't', assistantId: 'a', attempt: 2, metadataJson: '{}',
      kwargsJson: JSON.stringify({ command: of }), planJson: '{}' } as RunRow
    const plan = { graphId: 'g', headers: {}, userId: '' } as RunPlan
    return runRequest(run, plan, { wrote, emitted: [], asked })
  }
  expect(given(command, false)).toMatchObject({ command: JSON.stringify(command) })
  expect(given(command, true))
    .toMatchObject({ input: 'null', command: '{"resume":{"id":"yes"}}', asked: ['id'] })
  expect(given({ update: { a: 1 } }, true).command).toBe(null)
  expect(given(command, true, null).asked).toEqual([])
  expect(given(command, false, null).asked).toBe(null)
})
