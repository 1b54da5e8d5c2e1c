/** Handlers of the query thread for calls of the main thread. */

import { FairSemaphore, FairTurns } from '../../../cluster/index.ts'
import type { Env } from '../../../cluster/index.ts'
import { HeddleError } from '../../errors.ts'
import { cautiousClock } from '../../limits/index.ts'
import { exampleReads } from '../evaluate/datasets/example-reader.ts'
import { experimentRuns } from '../evaluate/datasets/experiments/experiment-runs.ts'
import { documentReads } from '../records/documents/documents.ts'
import { answerMatched } from '../evaluate/rules/rule-query.ts'
import { queueReads } from '../records/queues/queue-reads.ts'
import { sqlReads } from '../query/sql/sql-answer.ts'
import { exportedLines } from '../query/export/export-answer.ts'
import { promptReads } from '../evaluate/prompts/prompt-handlers.ts'
import type { SpanStore } from '../spans/span-port.ts'
import { statisticsAnswers } from '../query/statistics/statistics-handlers.ts'
import type { Calls } from '../calls/calls.ts'
import { PriceCache } from '../ingest/priced.ts'
import type { QueryHandlers, QueryThreadNeeds } from './platform-calls.ts'
import { answerRun, answerRuns, answerSpanIds, answerTrace,
  answerTraces } from '../query/answers.ts'
import { answerListedRuns } from '../query/listed-runs.ts'
import { deletableTraces } from '../query/deletions/deletable-traces.ts'
import type { ScanParts } from '../query/matching.ts'
import { ownTraces } from '../query/own/own-traces.ts'
import { withRunningRuns } from '../query/own/running-runs.ts'
import { inSlices, payloadsIn } from '../query/payload/payloads.ts'
import { readFilter } from '../query/filter/read-filter.ts'
import { hasRecordings, labelledRecordings, recordedBlocks } from '../query/recorded-blocks.ts'

/** Store and clock of the handlers. */
export interface QueryParts {
  readonly store: SpanStore
  readonly env: Env
  /** The threads of this server; missing if its runs are not traced. */
  readonly needs?: Calls<QueryThreadNeeds>
}

/** Questions that are answered at once. Long ones take turns, slice by slice. */
const questions = { inAll: 8, each: 4, waiting: 1024, waitingEach: 64,
  full: 'Too many questions about traces are waiting: ask again in a moment.' }

/** The handlers over a store. Answers have a buffer of their own, which may be moved. */
export function queryHandlers({ store, env: given, needs }: QueryParts): QueryHandlers {
  // A clock that jumps ahead hides spans, and a deletion would end without them.
  const env = { ...given, nowMs: cautiousClock(given) }
  const turns = new FairSemaphore(questions)
  const slices = new FairTurns(env)
  const prices = needs && new PriceCache(needs, env)
  const readsOf = () => (needs === undefined ? store : withRunningRuns(store, needs))
  /** Answers in turn; each question has payloads of its own. */
  const inTurn = <Question extends { readonly tenant: string }, Answer = Uint8Array>(
    answer: (parts: ScanParts, question: Question, signal?: AbortSignal) => Promise<Answer>,
  ) =>
  async (question: Question, signal?: AbortSignal): Promise<Answer> => {
    const leave = await turns.enter(question.tenant, signal)
    try {
      const payloads = inSlices(payloadsIn(store), slices, question.tenant)
      const own = needs && prices && ownTraces({ needs, stored: payloads, prices })
      return await answer({ store: readsOf(), env, payloads, ...own && { own } }, question, signal)
    } finally {
      leave()
    }
  }
  const { rows, ...exampleAnswers } = exampleReads(store, env)
  const { stats, series, groups, projectStats } = statisticsAnswers(store, env)
  return { ...documentReads(store), ...sqlReads(store, env), ...promptReads, ...exampleAnswers,
    ...queueReads(store), listedRuns: inTurn(answerListedRuns), spanIds: inTurn(answerSpanIds),
    spanFile: async ({ tenant, project, span, name }) => {
      const files = await store.files({ tenant, project, id: span }, name)
      const file = files.find((each) => each.name === name)
      return file && { type: file.type, data: file.data }
    }, runs: inTurn(answerRuns), run: inTurn(answerRun), traces: inTurn(answerTraces),
    trace: inTurn(answerTrace), ruleSpans: inTurn(answerMatched), exported: inTurn(exportedLines),
    stats: inTurn(stats), series: inTurn(series), groups: inTurn(groups),
    projectStats: inTurn(projectStats), deletable: inTurn(deletableTraces),
    experimentRuns: (question) => experimentRuns(rows, inTurn(answerRuns), question),
    locate: ({ tenant, ids, stored = false }) => (stored ? store : readsOf()).locate(tenant, ids),
    validate: async ({ filter }) => wrongWith(filter),
    recordedBlocks: (question) => recordedBlocks(store, question),
    hasRecordings: (question) => hasRecordings(store, question),
    labelledRecordings: (question) => labelledRecordings(store, question),
    getFeedback: ({ tenant, id }) => store.getFeedback(tenant, id),
    listFeedback: (query) => store.listFeedback(query),
    getFeedbackToken: ({ hash, nowMs }) => store.getFeedbackToken(hash, nowMs),
    listFeedbackTokens: ({ tenant, span }) => store.listFeedbackTokens(tenant, span),
    close: () => store.close() }
}

/** Fault of a filter; null if it can be read. */
function wrongWith(filter: string): string | null {
  try {
    readFilter(filter)
    return null
  } catch (error) {
    return HeddleError.from(error).message
  }
}
