/**
 * Takes over spans whose project was guessed: a patch came before its post, and named no project.
 * Both writers look for the other after their own write, so that one of them moves the span. A move
 * may be repeated.
 */

import type { SpanPlace, SpanWrite, Term } from '../../../platform/index.ts'
import type { Connection } from '../driver/connection.ts'
import type { BlockTable } from './block-table.ts'
import type { BucketTable } from './bucket-table.ts'
import type { FeedbackTable } from './feedback-table.ts'
import type { FileTable } from './file-table.ts'
import type { LocationTable } from './location-table.ts'
import type { RollUpTable } from './roll-up-table.ts'
import { guessesOf } from './rows/operation-cell.ts'
import type { SpanTable } from './span-table.ts'
import { StatementBatches } from './statement-batches.ts'
import type { Guess, WaitingFeedback } from './waiting-feedback.ts'

/** Feedback of a span that is moved. */
const feedbackMax = 1_000
/** Spans of the former trace that are looked at for whether any of them is left. */
const membersMax = 100_000

/** Tables that a move changes. */
export interface TakeoverParts {
  readonly connection: Connection
  readonly spans: SpanTable
  readonly buckets: BucketTable
  readonly blocks: BlockTable
  readonly locations: LocationTable
  readonly files: FileTable
  readonly feedback: FeedbackTable
  readonly rollUps: RollUpTable
  readonly waiting: WaitingFeedback
}

/**
 * Moves a span from the place of a guess to a place that an operation named, perhaps in the same
 * project. Returns the feedback whose mark the span needs at its place; `undefined` if there was
 * nothing to move.
 */
export async function takeOver(parts: TakeoverParts, guess: Guess, place: SpanPlace,
  timeToLiveS: number): Promise<Awaited<ReturnType<FeedbackTable['list']>> | undefined> {
  const { connection, spans, blocks, locations, files, feedback, rollUps, waiting } = parts
  const { tenant } = place
  const former: SpanPlace = { tenant, project: guess.project, id: guess.span, ...guess.at }
  const isSameProject = former.project === place.project
  const isSameRow = isSameProject && former.startUs === place.startUs
  const row = await spans.row(former)
  const guessed = row === undefined ? [] : guessesOf({ tenant, project: guess.project, row })
  // The writer of the guess has its row still to write, and looks for this place after that.
  if (row === undefined || (isSameRow && guessed.length === 0)) return undefined
  if (!isSameRow && guessed.length < Object.keys(row.ops ?? {}).length) {
    await waiting.removeGuess(tenant, guess)
    return undefined
  }
  await waiting.addMove(tenant, { span: place.id, project: place.project })
  if (isSameRow && former.trace === place.trace && former.traceStartUs === place.traceStartUs) {
    await waiting.removeGuess(tenant, guess)
    return []
  }
  const writes = guessed.map(({ operation }): SpanWrite => ({ ...operation, place, indexed: 0 }))
  await copySpan(parts, { former, place, writes, terms: row.terms, timeToLiveS })
  const listed = await feedback.list({ tenant, spans: [place.id], limit: feedbackMax, offset: 0 })
  const marks = listed.filter(({ project }) => [null, guess.project].includes(project))
    .map((each) => ({ ...each, project: place.project, trace: place.trace }))
  for (const each of marks) await feedback.put({ row: each, place })
  await connection.repeatableBatch(isSameRow
    ? guessed.map(({ key }) => spans.operationRemoval(former, key))
    : [spans.removal(former)])
  if (!isSameProject) {
    await files.remove(former)
    await connection.repeatableBatch([locations.removal(former)])
  }
  const left = (await spans.at(await blocks.members(former, membersMax)))
    .filter(({ trace }) => trace === former.trace)
  if (left.length === 0) await blocks.remove(former)
  await rollUps.touch([former, place])
  await waiting.removeGuess(tenant, guess)
  return marks
}

/** A span that is copied to another place. */
interface SpanCopy {
  readonly former: SpanPlace
  readonly place: SpanPlace
  readonly writes: readonly SpanWrite[]
  readonly terms: readonly Term[] | null
  readonly timeToLiveS: number
}

/** Writes a span and all that belongs to it at another place. */
async function copySpan({ connection, spans, buckets, blocks, locations, files }: TakeoverParts,
  { former, place, writes, terms, timeToLiveS }: SpanCopy): Promise<void> {
  const { tenant } = place
  const life = () => timeToLiveS
  const batches = new StatementBatches()
  spans.add(batches, writes, life)
  if (terms !== null) spans.addTerms(batches, place, terms, timeToLiveS)
  locations.add(batches, [place], life)
  blocks.addMembers(batches, writes, life)
  const hoursWritten = buckets.add(batches, [place], life)
  // Also in the same trace, because the project may keep them for another time.
  const ids = new Set(writes.flatMap(({ block }) => (block === null ? [] : [block])))
  const data = await blocks.read(former, [...ids])
  await blocks.addBlocks(batches, tenant,
    [...data].map(([id, bytes]) => ({ id, trace: place.trace, traceStartUs: place.traceStartUs,
      data: bytes })
    ), life)
  if (former.project !== place.project) {
    const moved = await Promise.all((await files.find(former))
      .map(({ name }) => files.find(former, name)))
    const others = (await locations.find(tenant, [place.id]))
      .some(({ project }) => project !== former.project && project !== place.project)
    await files.add(batches, tenant,
      moved.flat().map((file) => ({ ...file, project: place.project, ownerTrace: place.trace })), {
      timeToLiveS: life,
      isShared: () => others,
    })
  }
  await batches.write(connection)
  hoursWritten()
}
