/** Statistics of conversations: of one, or of all that a filter finds. */

import { HeddleError } from '../../../errors.ts'
import { matchingHeads } from '../page.ts'
import { withSubtreeUsage } from '../subtree-usage.ts'
import type { Uuid } from '../../spans/span.ts'
import type { RunsQuestion } from '../question.ts'
import { conversationPage } from './conversation-page.ts'
import type { Conversation } from './conversation-page.ts'
import type { StatisticsParts } from './count.ts'
import { countingMs } from './deadline.ts'
import { addHead, emptyTally } from './tally.ts'
import type { Tally } from './tally.ts'
import { TraceTally } from './trace-tally.ts'

/** Traces of the conversations of one question. */
const tracesMax = 200_000

/** Number of conversations that a filter finds, and the sums over their traces. */
export async function tallyConversations(parts: StatisticsParts, roots: RunsQuestion,
  signal?: AbortSignal): Promise<{ readonly threads: number; readonly tally: Tally }> {
  const traces = new Set<Uuid>()
  const { total } = await conversationPage(parts, roots, { limit: 0, isEarlier: () => false,
    counted: ({ trace }) => {
      if (traces.size === tracesMax) throw tooManyTraces()
      traces.add(trace)
    } }, signal)
  const tally = new TraceTally()
  const { tenant, projects, order, limit, version, fromUs } = roots
  // Spans below a root begin with it or later, perhaps after the time that is asked for.
  const all: RunsQuestion = { tenant, projects, order, limit, version,
    ...fromUs !== undefined && { fromUs } }
  for await (const heads of matchingHeads(parts, all, signal, { endMs: countingMs })) {
    tally.heads(heads.filter(({ trace }) => traces.has(trace)))
  }
  return { threads: total, tally: tally.tally }
}

/** The conversation that the filter finds, with the sums over its traces. */
export async function tallyConversation(parts: StatisticsParts, roots: RunsQuestion,
  signal?: AbortSignal
): Promise<
  { readonly conversation: Conversation | undefined; readonly tally: Tally }
> {
  const page = await conversationPage(parts, roots, { limit: 1, isEarlier: () => false }, signal)
  const [conversation] = page.conversations
  const tally = emptyTally()
  for (const head of await withSubtreeUsage(parts.store, conversation?.roots ?? [], signal)) {
    addHead(tally, head)
  }
  return { conversation, tally }
}

function tooManyTraces(): HeddleError {
  return new HeddleError('invalid', `There are more than ${tracesMax} traces of conversations in ` +
    'this time: narrow the time range.')
}
