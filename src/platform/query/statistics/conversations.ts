/** Answers questions about conversations: the roots of traces by their thread, newest first. */

import { readCursor, writeCursor } from '../cursor.ts'
import type { Content } from '../payload/content.ts'
import { shownBy } from '../matching.ts'
import { inOrder } from '../payload/order.ts'
import type { Payloads } from '../payload/payloads.ts'
import { errorPreview, previewOf } from '../runs/preview.ts'
import { withSubtreeUsage } from '../subtree-usage.ts'
import type { ScanMark } from '../../spans/span-port.ts'
import type { SpanHead } from '../../spans/span.ts'
import type { RunsQuestion, SpanReads } from '../question.ts'
import { conversationPage } from './conversation-page.ts'
import type { ConversationPage } from './conversation-page.ts'
import { groupJson, threadJson } from './conversation-shape.ts'
import type { ConversationShape } from './conversation-shape.ts'
import { conversationJson, conversationsJson } from './conversation-stats-shape.ts'
import { tallyConversation, tallyConversations } from './conversation-stats.ts'
import type { StatisticsParts } from './count.ts'
import { statsJson } from './run-stats.ts'
import { jsonBytes } from './statistics.ts'

/** A question about conversations, as `SpanReads.groups` takes it. */
export type GroupsQuestion = Parameters<SpanReads['groups']>[0]

/** Conversations of a page of the second API. */
const threadsMax = 100

/** Answers in the form that is asked for. */
export async function answerGroups(parts: StatisticsParts, question: GroupsQuestion,
  signal?: AbortSignal): Promise<Uint8Array> {
  const roots: RunsQuestion = { ...question, rootsOnly: true, order: 'newest' }
  switch (question.form) {
    case 'group': {
      const { offset, limit } = question
      const page = await conversationPage(parts, roots, {
        limit,
        isEarlier: (_, index) => index < offset,
      }, signal)
      return jsonBytes({ groups: await shown(parts, page, groupJson, signal), total: page.total })
    }
    case 'groupStats': {
      const { threads, tally } = await tallyConversations(parts, roots, signal)
      return jsonBytes(question.version === 1
        ? { ...statsJson(tally), group_count: threads }
        : conversationsJson(threads, tally, question.select ?? []))
    }
    case 'threadStats': {
      const { conversation, tally } = await tallyConversation(parts, roots, signal)
      return jsonBytes(conversationJson(conversation, tally, question.select ?? []))
    }
    default:
      return answerThreads(parts, roots, signal)
  }
}

async function answerThreads(parts: StatisticsParts, roots: RunsQuestion,
  signal?: AbortSignal): Promise<Uint8Array> {
  const after = readCursor(roots)
  const page = await conversationPage(parts, roots, {
    limit: Math.min(roots.limit, threadsMax),
    isEarlier: (newest) => after !== undefined && inOrder('newest', newest, after) <= 0,
  }, signal)
  const last: ScanMark | undefined = page.conversations.at(-1)?.newest
  return jsonBytes({ items: await shown(parts, page, threadJson, signal),
    next_cursor: page.hasMore && last !== undefined ? writeCursor(last, roots) : null })
}

/** The conversations of a page, with their first inputs and last outputs. */
async function shown(parts: StatisticsParts, { conversations }: ConversationPage,
  shape: ConversationShape, signal?: AbortSignal): Promise<readonly Record<string, unknown>[]> {
  const payloads = shownBy(parts)
  const roots = conversations.flatMap((each) => each.roots)
  const sums = await withSubtreeUsage(parts.store, roots, signal)
  const usage = new Map(roots.map((root, index) => [root, sums[index]!]))
  const firstInputs = await previews(payloads, conversations.map(({ oldest }) => oldest),
    (content) => previewOf(content, 'inputs'))
  const last = await previews(payloads, conversations.map(({ newest }) => newest), (content) => ({
    inputs: previewOf(content, 'inputs'),
    outputs: previewOf(content, 'outputs'),
  }))
  const lastErrors = await previews(payloads, conversations.flatMap(({ failed }) => failed ?? []),
    errorPreview)
  return conversations.map((conversation) =>
    shape(conversation, {
      firstInputs: firstInputs.get(conversation.oldest) ?? null,
      lastInputs: last.get(conversation.newest)?.inputs ?? null,
      lastOutputs: last.get(conversation.newest)?.outputs ?? null,
      lastError: conversation.failed ? lastErrors.get(conversation.failed) ?? null : null,
      usage: conversation.roots.map((root) => usage.get(root)!),
    })
  )
}

async function previews<Preview>(payloads: Payloads, heads: readonly SpanHead[],
  of: (content: Content) => Preview): Promise<ReadonlyMap<SpanHead, Preview>> {
  const found = new Map<SpanHead, Preview>()
  for await (const [head, content] of payloads.of(heads)) found.set(head, of(content))
  return found
}
