/** Finds the conversations of a page. All roots are looked at, because any may belong to one. */

import { HeddleError } from '../../../errors.ts'
import { matchingHeads } from '../page.ts'
import type { SpanHead } from '../../spans/span.ts'
import type { RunsQuestion } from '../question.ts'
import type { StatisticsParts } from './count.ts'
import { countingMs } from './deadline.ts'
import { addHead, emptyTally } from './tally.ts'
import type { Tally } from './tally.ts'

/** The roots of a thread. */
export interface Conversation {
  readonly thread: string
  readonly newest: SpanHead
  oldest: SpanHead
  /** The newest root that failed. */
  failed: SpanHead | undefined
  /** Time of the last end; null if no root has ended. */
  lastEndUs: number | null
  /** Roots whose traces are summed up, the newest first. */
  readonly roots: SpanHead[]
  /** Tally of all its roots. */
  readonly tally: Tally
}

/** Some conversations, by their newest root. */
export interface ConversationPage {
  readonly conversations: readonly Conversation[]
  /** True if older ones follow. */
  readonly hasMore: boolean
  /** Number of conversations on all pages. */
  readonly total: number
}

/** Bounds of a page of conversations. */
export interface PagePlace {
  readonly limit: number
  /** True for a conversation of an earlier page, by its newest root and its number. */
  isEarlier(newest: SpanHead, index: number): boolean
  /** Called with each root of all conversations. */
  counted?(root: SpanHead): void
}

/** Threads that are counted, and roots of a page whose traces are summed up. */
const [threadsMax, summedMax] = [100_000, 2_000]

/** Finds the page. Throws `invalid` if that takes too long. */
export async function conversationPage(parts: StatisticsParts, question: RunsQuestion,
  { limit, isEarlier, counted }: PagePlace, signal?: AbortSignal): Promise<ConversationPage> {
  /** Conversations by thread; null for those of other pages. */
  const threads = new Map<string, Conversation | null>()
  const conversations: Conversation[] = []
  let [hasMore, summed] = [false, 0]
  for await (const heads of matchingHeads(parts, question, signal, { endMs: countingMs })) {
    for (const head of heads) {
      if (head.thread === null || head.thread === '') continue
      counted?.(head)
      let known = threads.get(head.thread)
      if (known === undefined) {
        requireRoom(threads.size)
        const isOnPage = conversations.length < limit && !isEarlier(head, threads.size)
        known = isOnPage ? begun(head.thread, head) : null
        if (known !== null) conversations.push(known)
        hasMore ||= !isOnPage && conversations.length === limit
        threads.set(head.thread, known)
      }
      if (known === null) continue
      addRoot(known, head, summed < summedMax)
      summed += 1
    }
  }
  return { conversations, hasMore, total: threads.size }
}

function begun(thread: string, newest: SpanHead): Conversation {
  return { thread, newest, oldest: newest, failed: undefined, lastEndUs: null, roots: [],
    tally: emptyTally() }
}

function addRoot(conversation: Conversation, root: SpanHead, isSummed: boolean): void {
  conversation.oldest = root
  if (root.failed === true) conversation.failed ??= root
  if (root.endUs !== null) {
    conversation.lastEndUs = Math.max(conversation.lastEndUs ?? root.endUs, root.endUs)
  }
  if (isSummed) conversation.roots.push(root)
  addHead(conversation.tally, root)
}

function requireRoom(threads: number): void {
  if (threads < threadsMax) return
  throw new HeddleError('invalid', `There are more than ${threadsMax} conversations in this ` +
    'time: narrow the time range.')
}
