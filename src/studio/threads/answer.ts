/** Answers the questions of a thread: a run that resumes it, in the background. */

import { assistantList } from '../api/assistants.ts'
import { ApiError } from '../api/client.ts'
import { queries } from '../api/query.ts'
import { createRun } from '../api/runs.ts'
import type { Thread } from '../api/threads.ts'

/** Resumes a thread. Throws ApiError, also where no assistant can go on with it. */
export async function resumeThread(thread: Thread, resume: unknown): Promise<void> {
  const assistant = await assistantOf(thread)
  await createRun(thread.thread_id, { assistant_id: assistant, command: { resume },
    strict_resume: true })
}

/** The assistant that ran last on a thread, or one of the same graph. */
async function assistantOf({ metadata }: Thread): Promise<string> {
  const { assistant_id: id, graph_id: graph } = metadata
  if (typeof id === 'string') return id
  if (typeof graph === 'string') return graph
  const [only, ...others] = await queries.fetchQuery(assistantList)
  if (only !== undefined && others.length === 0) return only.assistant_id
  throw new ApiError(422, 'This thread does not say which assistant it belongs to.')
}
