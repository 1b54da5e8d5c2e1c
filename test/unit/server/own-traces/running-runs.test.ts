/** Runs that have not ended, by their ids: which are looked for, and where. */

import { expect, it } from 'vitest'

import type { RunRow } from '../../../../proto/gen/storage/v1/row.ts'
import { HeddleError } from '../../../../src/errors.ts'
import type { Project } from '../../../../src/platform/index.ts'
import type { RunSearchQuery } from '../../../../src/search/index.ts'
import { runningRuns } from '../../../../src/server/own-traces/running-runs.ts'

const madeMs = 0x0193a6b0_0000
const [own, ended, gone] = ['1', '2', '3'].map((n) =>
  `0193a6b0-0000-7000-8000-00000000000${n}`
) as [string, string, string]
const foreign = '0193a6b0-0000-4000-8000-000000000009'
const repeated = '0193a6b0-0000-5000-8000-000000000009'
const row = (runId: string, status = 'running') =>
  ({ tenant: 't', threadId: 'x', runId, assistantId: 'a', status, planJson: '{"graphId":"agent"}',
    metadataJson: '', startedAtMs: 0, createdAtMs: 5, updatedAtMs: 9 }) as RunRow

it('Runs are looked for in the time that their ids say, and ids of others are not.', async () => {
  const queries: RunSearchQuery[] = []
  const find = runningRuns({
    runs: { search: async (query) => {
      queries.push(query)
      return { rows: [own, ended, gone].map((id) => row(id)), next: undefined }
    } },
    threads: { getRun: async (_, __, id) => {
      if (id === gone) throw new HeddleError('not_found')
      return row(id, id === ended ? 'success' : 'running')
    } },
    projects: () => ({
      filed: async (_, runs) =>
        runs.map(({ name }) => ({ project: { name, id: `of ${name}` } as Project, isNew: false,
          isDeleted: false })
        ),
    }),
  })
  expect(await find({ tenant: 't', ids: [own, ended, gone, foreign] })).toEqual([{
    project: 'of agent',
    run: { id: own, thread: 'x', assistant: 'a', graph: 'agent', startMs: 5, endMs: null,
      failed: false, metadataJson: '' },
  }])
  expect(queries).toMatchObject([{ status: 'running', createdAfterMs: madeMs - 60_000,
    createdBeforeMs: madeMs + 60_000 }])
  expect(await find({ tenant: 't', ids: [foreign] })).toEqual([])
  expect(queries).toHaveLength(1)
  await find({ tenant: 't', ids: [own, repeated] })
  expect(queries[1]).not.toHaveProperty('createdAfterMs')
})
