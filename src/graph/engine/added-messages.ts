/** Adds messages to the state of a graph between two supersteps, and changes nothing else of it. */

import type { Checkpoint, CheckpointMetadata } from '@langchain/langgraph-checkpoint'

import { HeddleError } from '../../errors.ts'
import { listOf, memberOf } from '../../json/index.ts'
import type { ServedGraph } from '../project/graph-export.ts'
import type { HeddleSaver } from '../state/saver.ts'

/** The channel that messages are added to. */
export const messagesChannel = 'messages'

interface Channel {
  fromCheckpoint(value: unknown): Channel
  update(values: readonly unknown[]): boolean
  checkpoint(): unknown
}

/** Messages, the thread that they are added to, and what the checkpoint is made with. */
interface AddedMessages {
  readonly threadId: string
  readonly messages: readonly unknown[]
  readonly nowMs: number
  readonly uuid: () => string
}

/**
 * Puts a checkpoint behind the newest one, with the messages in it as the reducer of their channel
 * adds them. The nodes that come next are the same: it triggers none. Throws `invalid` if the graph
 * does not add up messages, or if tasks of the next superstep have left results already.
 */
export async function addMessages(graph: Pick<ServedGraph, 'channels'>, saver: HeddleSaver,
  { threadId, messages, nowMs, uuid }: AddedMessages): Promise<void> {
  const config = { configurable: { thread_id: threadId, checkpoint_ns: '' } }
  const tuple = await saver.getTuple(config)
  const spec = graph.channels[messagesChannel]
  if (spec?.lc_graph_name !== 'BinaryOperatorAggregate') {
    throw new HeddleError('invalid', 'The graph has no channel `messages` that adds up messages.')
  }
  const { checkpoint } = tuple ?? {}
  const hasSends = listOf(memberOf(checkpoint, 'pending_sends')).length > 0
  if (checkpoint === undefined || hasSends || await isMidStep(saver, threadId)) {
    throw new HeddleError('invalid', 'The graph is not between two supersteps.')
  }
  const { channel_values: values, channel_versions: versions } = checkpoint
  const channel = (spec as unknown as Channel).fromCheckpoint(values[messagesChannel])
  channel.update([messages])
  const version = saver.getNextVersion(Math.max(0, ...Object.values(versions).map(Number)))
  // The clock of the worker that put the newest checkpoint may be ahead.
  const atMs = Math.max(nowMs, Date.parse(checkpoint.ts) || 0)
  const next: Checkpoint = { ...checkpoint, id: idAfter(checkpoint.id, uuid()),
    ts: new Date(atMs).toISOString(),
    channel_values: { ...values, [messagesChannel]: channel.checkpoint() },
    channel_versions: { ...versions, [messagesChannel]: version } }
  const { step = -1, parents = {} } = tuple!.metadata ?? {}
  const metadata: CheckpointMetadata = { source: 'update', step: step + 1, parents }
  await saver.put(tuple!.config, next, metadata, { [messagesChannel]: version })
}

/** True if tasks of the newest checkpoint have work that a checkpoint behind it would repeat. */
async function isMidStep(saver: HeddleSaver, threadId: string): Promise<boolean> {
  if (saver.isMidStep) return true
  for await (const newest of saver.list({ configurable: { thread_id: threadId } }, { limit: 1 })) {
    // A subgraph has written a checkpoint since the newest checkpoint of the graph itself.
    return newest.config.configurable?.checkpoint_ns !== ''
  }
  return false
}

/** A time-ordered UUID that sorts right after another, with the random part of a third. */
function idAfter(id: string, random: string): string {
  const [, high = '', middle = '', low = ''] = /^(\w{8})-(\w{4})-6(\w{3})-/.exec(id) ?? []
  if (low === '') throw new HeddleError('invalid', 'The newest checkpoint has an id of its own.')
  const next = (BigInt(`0x${high}${middle}${low}`) + 1n).toString(16).padStart(15, '0')
  return `${next.slice(0, 8)}-${next.slice(8, 12)}-6${next.slice(12)}-${random.slice(19)}`
}

/** True if a list of messages ends with calls of tools that nobody has answered yet. */
export function hasOpenCalls(messages: unknown): boolean {
  const answered = new Set<unknown>()
  for (const message of listOf(messages).toReversed()) {
    const answer = memberOf(message, 'tool_call_id')
    if (typeof answer === 'string') answered.add(answer)
    else return listOf(memberOf(message, 'tool_calls'))
        .some((call) => !answered.has(memberOf(call, 'id')))
  }
  return false
}
