/** The operations as callers may do them: each asks the login of a project, if there is one. */

import type { Env } from '../../../cluster/index.ts'
import type { Operations } from '../operations/index.ts'
import { runAdmission } from './admit-run.ts'
import { asker } from './ask.ts'
import { AllowedAssistants } from './assistants.ts'
import { AllowedCrons } from './crons.ts'
import { assistantAdmission } from './run-assistant.ts'
import { AllowedRuns } from './runs.ts'
import { AllowedStore } from './store.ts'
import { AllowedThreads } from './threads.ts'

/**
 * The operations that every wire calls. They take the caller of the request itself,
 * `request.caller`, and never a bare tenant: so none can be called past the login of a project.
 */
export interface AllowedOperations {
  readonly assistants: AllowedAssistants
  readonly threads: AllowedThreads
  readonly runs: AllowedRuns
  readonly crons: AllowedCrons
  readonly store: AllowedStore
}

/** Puts the question to the login before each operation. */
export function allowedOperations(operations: Operations,
  env: Pick<Env, 'log' | 'uuid7'>): AllowedOperations {
  const { assistants, threads, runs, crons, store } = operations
  const ask = asker(env.log)
  const admitAssistant = assistantAdmission(ask, assistants)
  const admit = runAdmission({ ask, admitAssistant, newRunId: () => env.uuid7(),
    metadataOf: async (tenant, threadId) => (await threads.get(tenant, threadId, [])).row })
  const allowedRuns = new AllowedRuns({ runs, threads, ask, admit })
  return {
    assistants: new AllowedAssistants(assistants, ask),
    threads: new AllowedThreads(threads, ask),
    runs: allowedRuns,
    crons: new AllowedCrons({ crons, threads, admitAssistant, runs: allowedRuns }, ask),
    store: new AllowedStore(store, ask),
  }
}
