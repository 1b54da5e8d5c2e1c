/** Answers questions about statistics: in all, by group, and of whole projects. */

import { limitConcurrency } from '../../../../cluster/index.ts'
import { HeddleError } from '../../../errors.ts'
import type { SpanHead } from '../../spans/span.ts'
import type { Project } from '../../records/projects/project.ts'
import type { GroupBy, RunsQuestion, SpanReads } from '../question.ts'
import { count } from './count.ts'
import type { StatisticsParts } from './count.ts'
import { Facets } from './facets.ts'
import { countingMs } from './deadline.ts'
import { addMark, feedbackJson } from './feedback-tally.ts'
import type { FeedbackTallies } from './feedback-tally.ts'
import { areOfCells, GroupNames, groupsOf, GroupTallies, largest } from './groups.ts'
import { statsJson } from './run-stats.ts'
import { TraceTally, wholeTraces } from './trace-tally.ts'
import { WholeTally } from './whole-tally.ts'

/** A question about statistics, which may be divided. */
export type StatsQuestion = RunsQuestion & { readonly groupBy?: GroupBy }

/** One object, or one for each group by its name. */
export async function answerStats(parts: StatisticsParts, question: StatsQuestion,
  signal?: AbortSignal): Promise<Uint8Array> {
  const { groupBy, select } = question
  if (groupBy === undefined) {
    const { tally, facets } = await counted(parts, question, signal)
    const stats = statsJson(tally, select)
    return jsonBytes('run_facets' in stats ? { ...stats, run_facets: facets.json() } : stats)
  }
  const { tallies } = await groupTallies(parts, question, groupBy, signal)
  return jsonBytes(Object.fromEntries(largest(tallies, groupBy.maxGroups)
    .map(([group, tally]) => [group, statsJson(tally, select)])))
}

async function counted(parts: StatisticsParts, question: RunsQuestion, signal?: AbortSignal) {
  const traces = wholeTraces(question)
  const tallies = traces === undefined ? new WholeTally() : new TraceTally()
  const facets = new Facets()
  const isShown = ({ root }: Pick<SpanHead, 'root'>) => traces === undefined || root === true
  await count(parts, traces ?? question, { cells: true, keys: traces !== undefined }, {
    cell: (startUs, key, own) => {
      tallies.cell(startUs, key, own)
      if (key !== undefined && isShown(key)) facets.cell(key, own.count)
    },
    heads: (heads) => {
      tallies.heads(heads)
      facets.heads(heads.filter(isShown))
    },
  }, signal)
  return { tally: tallies.tally, facets }
}

/** Groups that are counted. */
const groupsMax = 1_000

async function groupTallies(parts: StatisticsParts, question: RunsQuestion, groupBy: GroupBy,
  signal?: AbortSignal): Promise<GroupTallies> {
  const groups = new GroupTallies(groupBy.attribute, groupsOf(groupBy, parts.payloads),
    new GroupNames(groupsMax))
  await count(parts, question, { cells: areOfCells(groupBy), keys: true }, groups, signal)
  return groups
}

/** Pieces of feedback on an experiment as a whole that are counted: the newest. */
const ownFeedbackMax = 200
/** Projects whose statistics are made at once. */
const projectsAtOnce = 4

/**
 * A list with the statistics of each project, in their order. Null for one with too many runs, and
 * for those whose turn comes late. Traces are counted; tokens, costs and feedback are those of all
 * runs in them.
 */
export async function answerProjectStats(parts: StatisticsParts,
  { tenant, projects }: Parameters<SpanReads['projectStats']>[0],
  signal?: AbortSignal): Promise<Uint8Array> {
  const lateMs = parts.env.monotonicMs() + countingMs
  const inTurn = limitConcurrency(projectsAtOnce)
  return jsonBytes(
    await Promise.all(projects.map((project) =>
      inTurn(async () => {
        signal?.throwIfAborted()
        const isLate = parts.env.monotonicMs() >= lateMs
        return isLate ? null : await projectStats(parts, tenant, project, signal)
      })
    )),
  )
}

async function projectStats(parts: StatisticsParts, tenant: string, project: Project,
  signal?: AbortSignal): Promise<Record<string, unknown> | null> {
  const question: RunsQuestion = { tenant, projects: [project], version: 1, order: 'newest',
    limit: 1 }
  const traces = new TraceTally()
  try {
    await count(parts, question, { cells: true, keys: true }, traces, signal)
  } catch (error) {
    if (HeddleError.from(error).code === 'invalid') return null
    throw error
  }
  const { tally, all: { feedback } } = traces
  return { ...statsJson({ ...tally, feedback }),
    session_feedback_stats: await ownFeedback(parts, tenant, project) }
}

/** Statistics of the feedback on an experiment as a whole; null for other projects. */
async function ownFeedback({ store }: StatisticsParts, tenant: string,
  { id, referenceDatasetId }: Project): Promise<Record<string, unknown> | null> {
  if (referenceDatasetId === null) return null
  const tallies: FeedbackTallies = new Map()
  const given = await store.listFeedback({ tenant, project: id, onProject: true,
    limit: ownFeedbackMax, offset: 0 })
  for (const mark of given) addMark(tallies, mark)
  return feedbackJson(tallies, 1)
}

/** JSON in UTF-8, in a buffer of its own. */
export function jsonBytes(value: unknown): Uint8Array {
  return new TextEncoder().encode(JSON.stringify(value))
}
