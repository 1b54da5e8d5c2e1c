/** Asks whether a due cron may make its run, as the user who has made the cron. */

import type { Log } from '../../../cluster/index.ts'
import type { AssistantClient } from '../../assistants/index.ts'
import type { GraphHosts } from '../../graph/index.ts'
import type { ThreadClient } from '../../thread/index.ts'
import type { AdmitCron } from '../operations/index.ts'
import { runAdmission } from './admit-run.ts'
import { asker } from './ask.ts'
import { loginOf } from './login-of.ts'
import { assistantAdmission } from './run-assistant.ts'

/** Parts with which it is asked. */
export interface CronAdmissionParts {
  readonly threads: Pick<ThreadClient, 'get'>
  readonly assistants: Pick<AssistantClient, 'get'>
  readonly graphs: Pick<GraphHosts, 'of'>
  readonly env: { readonly log: Pick<Log, 'error'>; uuid7(): string }
}

/** Makes the function that asks. A cron of an operator, or of a project without login, is not. */
export function cronAdmission(
  { threads, assistants, graphs, env }: CronAdmissionParts,
): AdmitCron {
  const ask = asker(env.log)
  const admitAssistant = assistantAdmission(ask, {
    graphIds: async (tenant) => graphs.of(tenant).graphs().map(({ graphId }) => graphId),
    get: async (tenant, assistantId) => await assistants.get({ tenant, assistantId }),
  })
  const admit = runAdmission({ ask, admitAssistant, newRunId: () => env.uuid7(),
    metadataOf: async (tenant, threadId) => (await threads.get(tenant, threadId, true)).row })
  return async ({ tenant, threadId }, user, asked) => {
    const login = user && await loginOf(graphs.of(tenant))
    const by = { commandId: '', headers: {} }
    const { body } = await admit({ tenant, user, login }, {
      threadId: threadId === '' ? null : threadId,
      body: asked,
      by,
    })
    return body
  }
}
