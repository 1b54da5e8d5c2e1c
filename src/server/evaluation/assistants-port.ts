/** Assistants of this server, as experiments ask them. */

import { HeddleError } from '../../errors.ts'
import type { GraphHosts } from '../../graph/index.ts'
import { isObject, valueIn } from '../../json/index.ts'
import type { AssistantsPort } from '../../platform/index.ts'
import type { RunsOfServer } from '../cron-firing.ts'

/** Parts of the server that experiments use. */
export interface AssistantsPortParts {
  readonly graphs: Pick<GraphHosts, 'isPaused'>
  readonly runs: Pick<RunsOfServer, 'createStatelessAndWait' | 'assistantFor'>
}

/** Seconds after which a deployment that is paused is asked again. */
const pausedSeconds = 60

/** The assistants of this server. */
export function assistantsPort({ graphs, runs }: AssistantsPortParts): AssistantsPort {
  return {
    name: async (tenant, assistant) => {
      const { row: { name, graphId } } = await runs.assistantFor(tenant, {
        assistant_id: assistant,
      })
      return name || graphId
    },
    run: async (tenant, { assistant, input, key, metadata }, signal) => {
      if (graphs.isPaused(tenant)) {
        throw new HeddleError('full', 'The deployment of the assistant is paused.', {
          retryAfterSeconds: pausedSeconds,
        })
      }
      // The thread stays, so that each run can be read, and a repeat finds it.
      const { row: { runId, threadId, createdAtMs }, result } = await runs.createStatelessAndWait(
        tenant,
        { assistant_id: assistant, input, metadata, on_completion: 'keep' },
        { commandId: key, headers: {} },
      )
      const values = valueIn(await result(signal))
      return { run: runId, thread: threadId, startMs: createdAtMs, values, error: errorIn(values) }
    },
  }
}

/** The error of a run in one line; null if it did not fail. */
function errorIn(values: unknown): string | null {
  if (!isObject(values) || !Object.hasOwn(values, '__error__')) return null
  const error = values['__error__']
  if (!isObject(error)) return 'The run failed.'
  const parts = [error['error'] ?? error['name'], error['message']]
  return parts.filter((part) => typeof part === 'string' && part !== '').join(': ') ||
    'The run failed.'
}
