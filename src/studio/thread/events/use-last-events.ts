/** The events of the last run of a thread, as far as the server still has them. */

import { useEffect } from 'react'

import { addressFor } from '../../api/address.ts'
import { follow } from '../../api/event-stream.ts'
import type { StreamEvent } from '../../api/event-stream.ts'
import { isOver, runsOf } from '../../api/runs.ts'
import type { EventLog } from '../../live/event-log.ts'
import { liveModes } from '../../live/live-run.ts'

/** Fills a log that has no events yet, as after a reload. */
export function useLastEvents(threadId: string, log: EventLog): void {
  useEffect(() => {
    if (log.state().events.length > 0) return
    const reading = new AbortController()
    // Without them the log says that there are none.
    void readLast(threadId, log, reading.signal).catch(() => {})
    return () => reading.abort()
  }, [threadId, log])
}

async function readLast(threadId: string, log: EventLog, signal: AbortSignal): Promise<void> {
  const [last] = await runsOf(threadId, 1, 0, signal)
  // One that goes on is followed by the page anyway.
  if (last === undefined || !isOver(last)) return
  const path = addressFor('GET /threads/:thread_id/runs/:run_id/stream', {
    params: { thread_id: threadId, run_id: last.run_id },
    query: { stream_mode: liveModes },
  })
  const events: StreamEvent[] = []
  for await (const event of follow({ path, signal, lastEventId: '-' })) events.push(event)
  if (!signal.aborted && log.state().events.length === 0) log.add(events)
}
