/**
 * Takes over spans whose project was guessed: a patch came before its post, and named no project.
 * Both writers look for the other after their own write, so that one of them moves the span. A move
 * may be repeated.
 */

import type { BlockId, Feedback, SpanPlace, SpanWrite } from '../../../platform/index.ts'
import type { Connection, Row } from '../driver/connection.ts'
import type { BlockTable } from './block-table.ts'
import type { BucketTable } from './bucket-table.ts'
import type { FeedbackTable } from './feedback-table.ts'
import type { FileTable } from './file-table.ts'
import type { LocationTable } from './location-table.ts'
import type { RollUpTable } from './roll-up-table.ts'
import { guessesOf } from './rows/operation-cell.ts'
import type { GuessedOperation } from './rows/operation-cell.ts'
import { minuteOf } from './rows/partition-key.ts'
import type { SpanTable } from './span-table.ts'
import { StatementBatches } from './statement-batches.ts'
import type { Guess, WaitingFeedback } from './waiting-feedback.ts'

/** Feedback of a span that is moved. */
const feedbackMax = 1_000
/** Spans of a block that are read at a time. */
const membersAtOnce = 500

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
  timeToLiveS: number): Promise<readonly Feedback[] | undefined> {
  const { spans, waiting } = parts
  const { tenant } = place
  const former: SpanPlace = { tenant, project: guess.project, id: guess.span, ...guess.at }
  const isInPlace = isSameRow(former, place) && isSameTrace(former, place)
  let marks: readonly Feedback[] | undefined
  for (;;) {
    const row = await spans.row(former)
    const all = row === undefined ? [] : guessesOf({ tenant, project: guess.project, row })
    // Guesses of other traces have notes of their own.
    const guessed = all.filter(({ operation }) => isSameTrace(operation.place, former))
    // The writer of the guess has yet to write its operation, and looks for this place after that.
    if (row === undefined || guessed.length === 0) return marks
    if (!isSameRow(former, place) && all.length < Object.keys(row.ops ?? {}).length) {
      await waiting.removeGuess(tenant, guess)
      return marks
    }
    await waiting.addMove(tenant, { span: place.id, project: place.project })
    if (isInPlace) {
      await waiting.removeGuess(tenant, guess)
      return []
    }
    if (marks !== undefined) await waiting.addGuess(tenant, guess)
    const moved = await moveSpan(parts, { former, place, row, guessed, timeToLiveS })
    marks = [...marks ?? [], ...moved]
    // Another operation may have been written at the former place since its row was read.
    await waiting.removeGuess(tenant, guess)
  }
}

/** A span with operations that are moved to another place. */
interface SpanMove {
  readonly former: SpanPlace
  readonly place: SpanPlace
  readonly row: Row
  readonly guessed: readonly GuessedOperation[]
  readonly timeToLiveS: number
}

/**
 * Moves the operations that were read, with their terms, marks, files and blocks. Operations that
 * were written since stay. Returns the feedback that moves with them.
 */
async function moveSpan(parts: TakeoverParts, move: SpanMove): Promise<readonly Feedback[]> {
  const { former, place, row, guessed } = move
  const { connection, spans, locations, files, feedback, rollUps } = parts
  const { tenant } = place
  const copiedFiles = await copySpan(parts, move)
  const listed = await feedback.list({ tenant, spans: [place.id], limit: feedbackMax, offset: 0 })
  const marks = listed.filter(({ project }) => [null, former.project].includes(project))
    .map((each) => ({ ...each, project: place.project, trace: place.trace }))
  for (const each of marks) await feedback.put({ row: each, place })
  await connection.repeatableBatch([
    ...guessed.map(({ key }) => spans.operationRemoval(former, key)),
    ...isSameRow(former, place) ? [] : [
      ...(row.terms ?? []).map((term) => spans.termRemoval(former, term)),
      ...Object.keys(row.feedback ?? {}).map((id) => spans.mark(former, { id, data: null })),
    ],
  ])
  if (former.project !== place.project) {
    await files.remove(former, copiedFiles)
    await connection.repeatableBatch([locations.removal(former)])
  }
  await removeBlocks(parts, former, guessed.map(({ operation }) => operation.block))
  await rollUps.touch([former, place])
  return marks
}

/** Removes blocks of the former trace that no operation in it needs any more. */
async function removeBlocks({ spans, blocks }: TakeoverParts, former: SpanPlace,
  ids: readonly (BlockId | null)[]): Promise<void> {
  const minute = minuteOf(former.traceStartUs)
  await blocks.removeBlocks(former, new Set(ids), async (id, members) => {
    for (let at = 0; at < members.length; at += membersAtOnce) {
      const left = await spans.placesWith(members.slice(at, at + membersAtOnce),
        ({ trace, traceStartUs, block }) =>
          block === id && trace === former.trace && minuteOf(traceStartUs) === minute)
      if (left.length > 0) return true
    }
    return false
  })
}

/** Writes a span and all that belongs to it at another place. Returns the names of its files. */
async function copySpan({ connection, spans, buckets, blocks, locations, files }: TakeoverParts,
  { former, place, row: { terms }, guessed, timeToLiveS }: SpanMove): Promise<ReadonlySet<string>> {
  const { tenant } = place
  const life = () => timeToLiveS
  const writes = guessed.map(({ operation }): SpanWrite => ({ ...operation, place, indexed: 0 }))
  const batches = new StatementBatches()
  spans.add(batches, writes, life)
  if (terms != null) spans.addTerms(batches, place, terms, timeToLiveS)
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
  const moved = former.project === place.project ? [] : (await Promise.all(
    (await files.find(former)).map(({ name }) => files.find(former, name)),
  )).flat()
  if (moved.length > 0) {
    const others = (await locations.find(tenant, [place.id]))
      .some(({ project }) => project !== former.project && project !== place.project)
    await files.add(batches, tenant,
      moved.map((file) => ({ ...file, project: place.project, ownerTrace: place.trace })), {
      timeToLiveS: life,
      isShared: () => others,
    })
  }
  await batches.write(connection)
  hoursWritten()
  return new Set(moved.map(({ name }) => name))
}

/** True if the heads of two places of a span are one row. */
function isSameRow(a: SpanPlace, b: SpanPlace): boolean {
  return a.project === b.project && a.startUs === b.startUs
}

function isSameTrace(a: SpanPlace, b: SpanPlace): boolean {
  return a.trace === b.trace && a.traceStartUs === b.traceStartUs
}
