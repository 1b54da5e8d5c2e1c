/** Answers of the query thread about statistics. */

import type { Env } from '../../../../cluster/index.ts'
import type { ScanParts } from '../matching.ts'
import type { SpanStore } from '../../spans/span-port.ts'
import { answerGroups } from './conversations.ts'
import type { StatisticsParts } from './count.ts'
import { HourRollUps } from './hour-roll-ups.ts'
import { answerSeries } from './series.ts'
import { answerProjectStats, answerStats } from './statistics.ts'

type Answer<Parts> = <Question>(
  answer: (parts: Parts, question: Question, signal?: AbortSignal) => Promise<Uint8Array>,
) => (parts: ScanParts, question: Question, signal?: AbortSignal) => Promise<Uint8Array>

/** The answers over a store. */
export function statisticsAnswers(store: SpanStore, env: Pick<Env, 'nowMs'>) {
  const rollUps = new HourRollUps(store, env)
  const over: Answer<StatisticsParts> = (answer) => (parts, question, signal) =>
    answer({ ...parts, store, rollUps }, question, signal)
  return { stats: over(answerStats), series: over(answerSeries), groups: over(answerGroups),
    projectStats: over(answerProjectStats) }
}
