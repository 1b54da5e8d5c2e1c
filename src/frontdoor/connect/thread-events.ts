/** The events of a thread over the typed API. */

import type { MessageInitShape } from '@bufbuild/protobuf'
import { timestampFromMs } from '@bufbuild/protobuf/wkt'
import type { HandlerContext } from '@connectrpc/connect'

import type { FollowThreadRequest,
  ThreadEventSchema } from '../../../proto/gen/frontdoor/v1/thread_pb.js'
import { getThread, streamThreadEvents } from '../../api/index.ts'
import type { EventFilter } from '../../api/index.ts'
import type { ThreadEvent } from '../../thread/index.ts'
import type { RouteParts } from '../http/route.ts'
import { whenAborted } from '../http/when-aborted.ts'
import { eventTest } from '../protocol-v2/index.ts'
import { checkerOf } from '../schema/validation.ts'
import { callerOf, tenantOf } from './caller-value.ts'
import { EventQueue } from './event-queue.ts'
import { bytesOf } from './json-bytes.ts'
import { endUnread } from './unread.ts'

type Parts = Pick<RouteParts, 'threads' | 'ticker' | 'quotas'>

const allChannels = ['values', 'updates', 'messages', 'tools', 'lifecycle', 'input', 'checkpoints',
  'tasks', 'custom']

/** Yields the events of a thread until it is deleted. Throws `not_found` if there is none. */
export async function* followThread({ threads, ticker, quotas }: Parts,
  request: FollowThreadRequest, context: HandlerContext) {
  const { thread_id: threadId } = checkerOf(getThread.params)({ thread_id: request.threadId })
  const filter = filterOf(request)
  const passes = eventTest(filter)
  using _stream = quotas.stream(tenantOf(context))
  const queue = new EventQueue<ThreadEvent>({ stillValid: callerOf(context).stillValid,
    charactersOf: ({ data }) => data.length, ended: () => endUnread(context) })
  using _ = whenAborted(context.signal, () => queue.abandon())
  ticker.add(queue, { kind: 'rpc', runId: threadId })
  let unfollow = () => {}
  try {
    unfollow = await threads.followExisting(callerOf(context), threadId, filter.since ?? null, {
      events: (batch) => queue.events(batch.filter(passes)),
      ready: () => queue.ready(),
      ended: (how) => queue.ended(how),
    })
    for await (const event of queue.emitted()) yield { event: eventMessage(event) }
  } finally {
    ticker.remove(queue)
    unfollow()
  }
}

function filterOf({ afterSeq, channels, namespaces, depth }: FollowThreadRequest): EventFilter {
  return checkerOf(streamThreadEvents.body)({
    channels: channels.length > 0 ? channels : allChannels,
    namespaces: namespaces.map((name) => name === '' ? [] : name.split('|')),
    depth,
    since: afterSeq === undefined ? undefined : Number(afterSeq),
  })
}

function eventMessage(
  { id, seq, runId, method, namespace, timestampMs, node, data }: ThreadEvent,
): MessageInitShape<typeof ThreadEventSchema> {
  return { id, seq: BigInt(seq), runId, method, namespace: [...namespace],
    producedAt: timestampFromMs(timestampMs), node, dataJson: bytesOf(data) }
}
