/** Encodes commands to a thread and the events of its runs for other members. */

import type { ActorWire, ListenerCodec } from '../../../cluster/index.ts'
import { rawValues } from '../../json/index.ts'
import type { FollowRequest } from '../model/command.ts'
import type { FeedEvent, FeedListener } from '../model/thread-client.ts'
import { feedSharing } from './shared-feed.ts'

/** One call of a listener. */
interface FeedCall {
  readonly events?: readonly FeedEvent[]
  readonly ended?: Parameters<FeedListener['ended']>[0]
}

/** About this many characters of events go into one call. */
const callLength = 256 * 1024

const feedListeners: ListenerCodec<FeedListener> = {
  sender: (send): FeedListener => ({
    events: (batch) => {
      for (const events of inParts(batch)) send(encode({ events }), false)
    },
    ended: (ended) => send(encode({ ended }), true),
  }),
  notify: (listener, call) => {
    const { events, ended } = rawValues.decode(call) as FeedCall
    if (events !== undefined) listener.events(events)
    if (ended !== undefined) listener.ended(ended)
  },
  end: (listener, how) => listener.ended(how),
}

/** Commands, answers and events of a thread are plain data. */
export const threadWire: ActorWire<FeedListener, FollowRequest> = {
  values: rawValues,
  listeners: feedListeners,
  sharing: feedSharing,
}

function encode(call: FeedCall): Uint8Array {
  return rawValues.encode(call)
}

function* inParts(batch: readonly FeedEvent[]): Generator<readonly FeedEvent[]> {
  let from = 0
  let length = 0
  for (const [index, { json }] of batch.entries()) {
    length += json.length
    if (length < callLength) continue
    yield batch.slice(from, index + 1)
    from = index + 1
    length = 0
  }
  if (from < batch.length) yield batch.slice(from)
}
