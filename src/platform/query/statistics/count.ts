/** Counts the spans of a question: by roll-ups where they answer it, else one by one. */

import type { FeedbackPort } from '../../spans/feedback-port.ts'
import type { RollUpPort } from '../../spans/roll-up-port.ts'
import type { SpanHead } from '../../spans/span.ts'
import type { ScanParts } from '../matching.ts'
import { matchingHeads } from '../page.ts'
import type { Project } from '../../records/projects/project.ts'
import type { RunsQuestion } from '../question.ts'
import { cellFilter } from './cell-filter.ts'
import type { CellFilter } from './cell-filter.ts'
import { countingMs, Deadline, rollingMs } from './deadline.ts'
import { hourUs, startsIn } from './hour-roll-ups.ts'
import type { HourRollUps } from './hour-roll-ups.ts'
import type { CellKey, KeptRollUp } from './roll-up.ts'
import type { KeptTally } from './tally.ts'

/** Store and roll-ups that statistics are made from. */
export interface StatisticsParts extends ScanParts {
  readonly store: ScanParts['store'] & RollUpPort & Pick<FeedbackPort, 'listFeedback'>
  readonly rollUps: HourRollUps
}

/** Receiver of counted cells and spans. */
export interface Counter {
  /**
   * Takes spans that began in the hour from `startUs`. Without a key, they are spans of any name,
   * type and place.
   */
  cell(startUs: number, key: CellKey | undefined, tally: KeptTally): void
  heads(heads: readonly SpanHead[]): void | Promise<void>
}

/** Details that a question needs of each count. */
export interface Needs {
  /** True if roll-ups have the numbers that are asked for. */
  readonly cells: boolean
  /** True if each cell must name its key. */
  readonly keys: boolean
}

/** The last hour of time, in which no span begins. */
const lastHour = Math.floor(Number.MAX_SAFE_INTEGER / hourUs)

/** Counts all spans that the question matches. Throws `invalid` if that takes too long. */
export async function count(parts: StatisticsParts, question: RunsQuestion, needs: Needs,
  counter: Counter, signal?: AbortSignal): Promise<void> {
  const filter = needs.cells ? cellFilter(question) : undefined
  if (filter === undefined) {
    for await (const heads of matchingHeads(parts, question, signal, { endMs: countingMs })) {
      await counter.heads(heads)
    }
    return
  }
  const deadline = new Deadline(parts.env, rollingMs, signal)
  for (const project of question.projects) {
    await countProject({ parts, needs, counter, deadline, project, tenant: question.tenant,
      filter })
  }
}

interface ProjectCount {
  readonly parts: StatisticsParts
  readonly needs: Needs
  readonly counter: Counter
  readonly deadline: Deadline
  readonly project: Project
  readonly tenant: string
  readonly filter: CellFilter
}

async function countProject(counting: ProjectCount): Promise<void> {
  const { parts, deadline, project, tenant, filter: { fromUs, toUs } } = counting
  const [from, to] = [Math.ceil(fromUs / hourUs), Math.min(Math.floor(toUs / hourUs), lastHour)]
  if (from >= to) return countStarts(counting, fromUs, toUs)
  await countStarts(counting, fromUs, from * hourUs)
  const asked = { tenant, project: project.id, from, to }
  for await (const [hour, rollUp] of parts.rollUps.of(asked, deadline)) {
    await countHour(counting, hour * hourUs, rollUp)
  }
  if (to < lastHour) await countStarts(counting, to * hourUs, toUs)
}

async function countHour(counting: ProjectCount, startUs: number,
  { cells, rest }: KeptRollUp): Promise<void> {
  const { needs, counter, filter } = counting
  // Numbers of spans in no cell need a scan of the hour.
  if (rest.count > 0 && (needs.keys || filter.choice !== 'all')) {
    return countStarts(counting, startUs, startUs + hourUs)
  }
  for (const cell of cells) {
    if (filter.choice === 'all' || filter.wants(cell)) counter.cell(startUs, cell, cell.tally)
  }
  if (rest.count > 0) counter.cell(startUs, undefined, rest)
}

/** Counts the spans of a part of an hour. */
async function countStarts(
  { parts, counter, deadline, tenant, project, filter }: ProjectCount,
  fromUs: number,
  toUs: number,
): Promise<void> {
  const asked = { tenant, project: project.id, fromUs, toUs }
  for await (const heads of startsIn(parts.store, asked, deadline)) {
    await counter.heads(filter.choice === 'all'
      ? heads
      : heads.filter((head) => filter.wants({ ...head, root: head.root === true })))
  }
}
