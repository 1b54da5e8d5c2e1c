/** Progress of a call: a notification for each task of its graph that starts and ends. */

import { atLatest } from '../../../cluster/index.ts'
import { jsonOf, objectOf } from '../../json/index.ts'
import type { FeedEvent, FeedListener } from '../../thread/index.ts'
import type { Caller } from '../http/caller.ts'
import type { McpParts } from './call.ts'
import { notificationText } from './message.ts'
import type { RequestId } from './message.ts'
import type { RunName } from '../operations/index.ts'

/** Way of the notifications, and how many there were. */
export interface ProgressReport {
  readonly token: RequestId
  /** Notifications so far. It grows, as the protocol wants it. */
  count: number
  send(notification: string, count: number): void
}

/** Milliseconds for which a result waits for the last notifications of its run. */
const lateMs = 1_000

/**
 * The result of a run whose progress is reported until then. Events may come another way than the
 * result, and later: it waits for their end. Without them, the call goes on.
 */
export async function withProgress<Result>({ runs, env }: Pick<McpParts, 'runs' | 'env'>,
  { caller, run, report }: { readonly caller: Caller; readonly run: RunName;
    readonly report: ProgressReport }, result: () => Promise<Result>): Promise<Result> {
  const { promise: allTold, resolve: ended } = Promise.withResolvers<void>()
  let stopped = false
  let unfollow = () => {}
  const listener: FeedListener = {
    events: (batch) => {
      for (const event of batch) if (!stopped) tell(report, event)
    },
    ended: () => ended(),
  }
  runs.follow(caller, run, { after: null, modes: ['tasks-lean'], made: true }, listener)
    .then((stop) => {
      unfollow = stop
      if (stopped) stop()
    }, () => ended())
  try {
    const found = await result()
    await atLatest(env, lateMs, allTold)
    return found
  } finally {
    stopped = true
    unfollow()
  }
}

function tell(report: ProgressReport, { name, json }: FeedEvent): void {
  if (name !== 'tasks-lean') return
  const { event, name: task } = objectOf(jsonOf('The event', json))
  const progress = ++report.count
  report.send(notificationText('notifications/progress', {
    progressToken: report.token,
    progress,
    message: `${String(task)} ${String(event)}`,
  }), progress)
}
