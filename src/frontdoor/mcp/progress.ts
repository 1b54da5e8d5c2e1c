/** Progress of a call: a notification for each task of its graph that starts and ends. */

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

/** Reports the progress of a run until the result is called. Without it, the call goes on. */
export function reportProgress({ runs }: Pick<McpParts, 'runs'>, caller: Caller, run: RunName,
  report: ProgressReport): () => void {
  let stopped = false
  let unfollow = () => {}
  const listener: FeedListener = {
    events: (batch) => {
      for (const event of batch) if (!stopped) tell(report, event)
    },
    ended: () => {},
  }
  runs.follow(caller, run, { after: null, modes: ['tasks-lean'], made: true }, listener)
    .then((stop) => {
      unfollow = stop
      if (stopped) stop()
    }, () => {})
  return () => {
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
