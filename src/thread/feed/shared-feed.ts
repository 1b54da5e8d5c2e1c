/** One follow of a run in another member, shared by all followers of that run in this one. */

import type { FollowSharing, SharedFollow } from '../../../cluster/index.ts'
import type { FollowRequest } from '../model/command.ts'
import { fromNow, isAfter, placeOf } from '../model/event-position.ts'
import type { EventPlace } from '../model/event-position.ts'
import type { FeedEvent, FeedListener } from '../model/thread-client.ts'
import { EventStream } from './event-stream.ts'
import type { FeedEntry } from '../model/feed-entry.ts'
import type { FeedPast } from './event-stream.ts'

/**
 * Follows of the same run are shared, if they do not begin behind different checkpoints. One of a
 * whole thread never ends: a member would remember more and more for it.
 */
export const feedSharing: FollowSharing<FeedListener, FollowRequest> = {
  nameOf: ({ runId, follow: { checkpointId = '' } }) =>
    runId === '' ? undefined : `${runId} ${checkpointId}`,
  begin: (request, onEnd) => new SharedFeed(request, onEnd),
}

/** Never read: `join` refuses followers of forgotten events, and all events carry their data. */
const noPast: FeedPast = {
  read: () => {
    throw new Error('nobody joins who asks for what is forgotten')
  },
  values: async () => {
    throw new Error('an event from another member has its values')
  },
}

class SharedFeed implements SharedFollow<FeedListener, FollowRequest> {
  /** Asks for all modes, from where the first follower begins. */
  readonly request: FollowRequest
  readonly listener: FeedListener
  readonly #feed: EventStream
  #lost = false

  constructor({ runId, follow }: FollowRequest, onEnd: () => void) {
    const { after } = follow
    this.request = { runId, follow: { ...follow, modes: null } }
    this.#feed = new EventStream({ graphId: '', endSeen: () => {}, forgotten: placeOf(after) })
    this.listener = {
      events: (batch) => this.#feed.publish(batch.map(entryOf)),
      ended: (how) => {
        onEnd()
        if (how === 'over') return this.#feed.end()
        this.#lost = true
        this.#feed.lose()
      },
    }
  }

  async join({ follow: { after, modes } }: FollowRequest,
    listener: FeedListener): Promise<(() => void) | undefined> {
    const place = placeOf(after)
    if (this.#lost || isAfter(this.#feed.forgotten, place)) return undefined
    const follower = after === fromNow ? listener : behind(place, listener)
    return this.#feed.follow(place, modes, follower, noPast)
  }
}

/** Passes on only events after `place`: a follower may have seen newer ones elsewhere. */
function behind(place: EventPlace, listener: FeedListener): FeedListener {
  let reached = false
  return {
    events: (batch) => {
      const events = reached ? batch : batch.filter(({ id }) => isAfter(placeOf(id), place))
      if (events.length === 0) return
      reached = true
      listener.events(events)
    },
    ended: (how) => listener.ended(how),
  }
}

function entryOf({ id, name, json }: FeedEvent): FeedEntry {
  return { place: placeOf(id), name, json, valuesOf: '' }
}
