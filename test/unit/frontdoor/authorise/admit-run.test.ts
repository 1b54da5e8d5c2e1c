/** Questions to the login of a project about a run, and the ids that it is asked with. */

import { describe, expect, it } from 'vitest'

import type { CreateStatelessRun } from '../../../../src/api/index.ts'
import { runAdmission } from '../../../../src/frontdoor/authorise/admit-run.ts'
import type { Asking } from '../../../../src/frontdoor/authorise/asking.ts'
import type { RunCaller } from '../../../../src/frontdoor/operations/index.ts'

const ann = { tenant: 't', login: {}, user: { identity: 'ann' } } as unknown as Asking

/** The events and ids of a stateless run that is asked for so. */
async function admitted(by: Partial<RunCaller>) {
  const asked: unknown[][] = []
  const admit = runAdmission({
    ask: async (_, event, value) => {
      asked.push([event, value['run_id'] ?? value['thread_id'] ?? null])
      return { value: { ...value, metadata: { ...value['metadata'] as object, [event]: true } },
        filter: undefined }
    },
    metadataOf: () => Promise.reject(new Error('no thread is looked for')),
    newRunId: () => 'new',
    admitAssistant: async () => {},
  })
  const body: CreateStatelessRun = { assistant_id: 'agent' }
  const result = await admit(ann, { threadId: null, body,
    by: { commandId: '', headers: {}, ...by } })
  return { asked, result }
}

describe('the login of a project is asked', () => {
  it('with the id that a run has, or gets', async () => {
    expect((await admitted({})).result.by.runId).toBe('new')
    const { asked, result } = await admitted({ runId: 'mine' })
    expect([asked, result.by.runId]).toEqual([[['threads:create_run', 'mine']], 'mine'])
  })

  it('without one if a key makes it, so that a repeat finds the run', async () => {
    const { asked, result } = await admitted({ commandId: 'key' })
    expect([asked, result.by.runId]).toEqual([[['threads:create_run', null]], undefined])
  })

  it('for the thread as well if it may be kept', async () => {
    const { asked, result } = await admitted({ runId: 'mine', keptMinutes: 60 })
    expect(asked).toEqual([['threads:create_run', 'mine'], ['threads:create', 'mine']])
    expect(result.body.metadata).toEqual({ 'threads:create_run': true, 'threads:create': true })
  })
})
