/** Leaves out the ends of earlier runs for a client that has just started one. Pure. */

import type { UnfinishedRun } from '../../../proto/gen/storage/v1/row.ts'
import { placeOf } from '../model/event-position.ts'
import type { FeedEvent, FeedListener } from '../model/thread-client.ts'

/** Sends a listener all but the ends that were there when the first of these runs was admitted. */
export function withoutOldEnds(
  runs: readonly Pick<UnfinishedRun, 'createdSeq' | 'notBeforeMs'>[],
  nowMs: number,
  listener: FeedListener,
): FeedListener {
  // One that is delayed may begin in days: until then the last end is the news.
  const admitted = runs.filter(({ notBeforeMs }) => notBeforeMs <= nowMs)
    .map(({ createdSeq }) => createdSeq)
  if (admitted.length === 0) return listener
  const first = Math.min(...admitted)
  return {
    events: (batch) => {
      const news = batch.filter((event) => !isEnd(event) || placeOf(event.id).seq >= first)
      if (news.length > 0) listener.events(news)
    },
    ready: () => listener.ready?.(),
    ended: (how) => listener.ended(how),
  }
}

/** The root's, whose name has no namespace behind its four parts. */
function isEnd({ name, json }: FeedEvent): boolean {
  return name.startsWith('lifecycle|') && name.split('|').length === 4 &&
    !json.startsWith('{"event":"running"')
}
