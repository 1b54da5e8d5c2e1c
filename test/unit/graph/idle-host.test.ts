/** A host that executes nothing: how executions that wait there end. */

import { expect, it } from 'vitest'

import { idleHost } from '../../../src/graph/index.ts'
import type { ExecutionOutcome } from '../../../src/graph/index.ts'
import { executionOf } from './project/host-project.ts'

it('ends an execution that is stopped, and no other', () => {
  const host = idleHost()
  const ended = new Map<number, ExecutionOutcome['status']>()
  const execute = (id: number, more = {}) =>
    host.execute(
      { ...executionOf({ id, threadId: 't', graphId: 'g', runId: 'r', input: {} }), ...more },
      {} as never,
      { steps: async () => {}, ended: ({ status }) => void ended.set(id, status), lost: () => {} },
    )
  for (const id of [1, 2, 3]) execute(id)
  execute(4, { stops: true })
  host.abort(1)
  for (const id of [1, 2]) host.stop(id)
  expect([...ended]).toEqual([[4, 'aborted'], [2, 'aborted']])
})
