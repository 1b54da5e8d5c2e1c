/**
 * Feedback in Cassandra, with the marks that it leaves on its span, and what waits for spans:
 * feedback that came first, and spans whose project was guessed.
 */

import { isSameFeedback } from '../../../platform/index.ts'
import type { Feedback, FeedbackPort, FeedbackQuery, FeedbackToken, SpanPlace, SpansOfRequest,
  Uuid } from '../../../platform/index.ts'
import { forEachLimit } from '../driver/for-each-limit.ts'
import { deleteMark, deleteMarks, putMark } from './feedback-marks.ts'
import { takeOver } from './guess-takeover.ts'
import type { RemovalParts } from './removal.ts'
import type { PlacedFeedback } from './rows/feedback-row.ts'
import type { Guess, Waiting } from './waiting-feedback.ts'

/** Feedback that waited, and is given to its span at a time. */
const waitingAtOnce = 16

/** The feedback of all tenants. */
export class SpanFeedback implements FeedbackPort {
  readonly #parts: RemovalParts

  constructor(parts: RemovalParts) {
    this.#parts = parts
  }

  async putFeedback(feedback: readonly PlacedFeedback[]): Promise<readonly Uuid[]> {
    const refused: Uuid[] = []
    for (const placed of feedback) {
      const { row, place } = placed
      if (await this.#isRemoved(placed)) {
        refused.push(row.id)
        continue
      }
      await this.#parts.feedback.put(placed)
      if (place !== null) await putMark(this.#parts, row, place)
      // Feedback of a project that does not have the span is on that of another one meanwhile.
      const isPlaced = place !== null && [null, place.project].includes(row.project)
      if (row.span !== null && !isPlaced) await this.#awaitSpan(row, row.span)
      if (await this.#dropIfRemoved(placed)) refused.push(row.id)
    }
    return refused
  }

  /** Deletes feedback that was written while its span was removed. */
  async #dropIfRemoved(placed: PlacedFeedback): Promise<boolean> {
    const { row: { tenant, id, span }, place } = placed
    if (!await this.#isRemoved(placed)) return false
    const { feedback, waiting } = this.#parts
    await feedback.remove(placed)
    if (place === null && span !== null) await waiting.remove(tenant, { span, id })
    await deleteMarks(this.#parts, placed)
    return true
  }

  async replaceFeedback(before: Feedback,
    placed: PlacedFeedback): Promise<'replaced' | 'changed' | 'removed'> {
    if (await this.#isRemoved(placed)) return 'removed'
    if (!await this.#parts.feedback.replace(before, placed)) return 'changed'
    let [row, { place }] = [placed.row, placed]
    while (place !== null) {
      await putMark(this.#parts, row, place)
      // The mark of another member's change may have come before this one.
      const now = await this.#parts.feedback.get(row.tenant, row.id)
      if (now === undefined) {
        await deleteMarks(this.#parts, { row, place })
        break
      }
      if (isSameFeedback(now.row, row)) break
      ;[row, { place }] = [now.row, now]
    }
    return await this.#dropIfRemoved(placed) ? 'removed' : 'replaced'
  }

  /** True if feedback is on a span, a trace or a project that was removed. */
  async #isRemoved({ row: { tenant, span, trace, project }, place }: PlacedFeedback): Promise<
    boolean
  > {
    const { visibility, buckets, gone, locations } = this.#parts
    if (place !== null) {
      // Another project may have the span still.
      const places = [place, ...project === null || project === place.project
        ? []
        : [{ ...place, project }]]
      return (await visibility.of(places)).length < places.length
    }
    if (project !== null && await buckets.isRemoved(tenant, project)) return true
    if (span === null) return false
    const found = await gone.find(tenant, trace === null ? [span] : [span, trace])
    if (found.has(span)) return true
    // Another project may have the trace.
    if (found.has(trace ?? '') && (await this.#placesOf(tenant, [trace!])).length === 0) return true
    // The removal of a trace does not find a span under another start of the trace.
    const places = await locations.find(tenant, [span])
    return places.length > 0 && (await visibility.of(places)).length === 0
  }

  /** Marks the span when it is written, or now if it was written concurrently. */
  async #awaitSpan({ tenant, id }: Feedback, span: Uuid): Promise<void> {
    await this.#parts.waiting.add(tenant, { span, id })
    const places = await this.#placesOf(tenant, [span])
    if (places.length > 0) await this.#markWaiting(tenant, places)
  }

  /**
   * Marks spans with the feedback that came before them, and moves spans of guessed projects.
   * Returns the places of spans that were moved, now or by a writer that did not confirm it.
   */
  async settleWaiting({ tenant, spans, timeToLiveS }: SpansOfRequest): Promise<
    readonly SpanPlace[]
  > {
    const places = spans.map(({ place }) => place)
    const { feedback, guesses, moves } = await this.#parts.waiting.for(tenant,
      places.map(({ id }) => id))
    await this.#markAll(tenant, places, feedback)
    if (guesses.length + moves.length === 0) return []
    const known = new Map(spans.filter(({ isGuess }) => isGuess !== true)
      .map(({ place }) => [place.id, place]))
    const moved = moves.flatMap(({ span, project }) => {
      const place = known.get(span)
      return place?.project === project ? [place] : []
    })
    const elsewhere = await this.#namedPlaces(tenant,
      guesses.filter(({ span }) => !known.has(span)))
    await forEachLimit(waitingAtOnce, guesses, async (guess) => {
      const place = known.get(guess.span) ?? elsewhere.get(guess.span)
      if (place === undefined) return
      // The request may know the life in the guessed project only.
      const liveS = timeToLiveS.get(place.project) ?? await this.#parts.spans.lifeLeftS(place)
      const marks = await takeOver(this.#parts, guess, place, liveS)
      if (marks === undefined) return
      moved.push(place)
      for (const row of marks) await putMark(this.#parts, row, place)
    })
    return moved
  }

  /** As `SpanPort.confirmMoves`. */
  async confirmMoves(tenant: string, places: readonly SpanPlace[]): Promise<void> {
    await forEachLimit(waitingAtOnce, places,
      ({ id: span, project }) => this.#parts.waiting.removeMove(tenant, { span, project }))
  }

  /** Places of guessed spans that an operation named. */
  async #namedPlaces(tenant: string,
    guesses: readonly Guess[]): Promise<ReadonlyMap<Uuid, SpanPlace>> {
    if (guesses.length === 0) return new Map()
    const guessed = new Set(
      guesses.map(({ span, project, at }) => keyOf({ tenant, id: span, project, ...at })),
    )
    const places = (await this.#placesOf(tenant, guesses.map(({ span }) => span)))
      .filter((place) => !guessed.has(keyOf(place)))
    const heads = places.length === 0 ? [] : await this.#parts.spans.at(places)
    return new Map(heads.filter(({ isGuess }) => isGuess !== true).map((head) => {
      const { project, startUs, id, trace, traceStartUs } = head
      return [id, { tenant, project, startUs, id, trace, traceStartUs }]
    }))
  }

  /** Marks spans with the feedback that came before them. */
  async #markWaiting(tenant: string, places: readonly SpanPlace[]): Promise<void> {
    const { feedback } = await this.#parts.waiting.for(tenant, places.map(({ id }) => id))
    await this.#markAll(tenant, places, feedback)
  }

  async #markAll(tenant: string, places: readonly SpanPlace[],
    waiting: readonly Waiting[]): Promise<void> {
    if (waiting.length === 0) return
    const visible = Map.groupBy(await this.#parts.visibility.of(places), ({ id }) => id)
    await forEachLimit(waitingAtOnce, waiting, async (each) => {
      const row = (await this.#parts.feedback.get(tenant, each.id))?.row
      const isSettled = row === undefined || row.span !== each.span ||
        await this.#markOne(row, visible.get(each.span) ?? [])
      if (isSettled) await this.#parts.waiting.remove(tenant, each)
    })
  }

  /** Marks spans with feedback. Returns false if it still waits for a span in its own project. */
  async #markOne(row: Feedback, places: readonly SpanPlace[]): Promise<boolean> {
    const named = places.filter(({ project }) => project === row.project)
    for (const place of named.length > 0 ? named : places) {
      await this.#parts.feedback.put({ row, place })
      await putMark(this.#parts, row, place)
    }
    if (row.project === null) return true
    if (named.length === 0) return false
    const others = (await this.#placesOf(row.tenant, [row.span!]))
      .filter(({ project }) => project !== row.project)
    for (const place of others) await deleteMark(this.#parts, row, place)
    return true
  }

  async getFeedback(tenant: string, id: Uuid): Promise<Feedback | undefined> {
    return (await this.#parts.feedback.get(tenant, id))?.row
  }

  listFeedback(query: FeedbackQuery): Promise<readonly Feedback[]> {
    return this.#parts.feedback.list(query)
  }

  async deleteFeedback(tenant: string, id: Uuid): Promise<boolean> {
    const { feedback } = this.#parts
    const placed = await feedback.get(tenant, id)
    if (placed === undefined) return false
    if (placed.place !== null) await deleteMarks(this.#parts, placed)
    await feedback.remove(placed)
    return true
  }

  putFeedbackToken(token: FeedbackToken): Promise<void> {
    return this.#parts.tokens.put(token)
  }

  getFeedbackToken(hash: string, nowMs: number): Promise<FeedbackToken | undefined> {
    return this.#parts.tokens.find(hash, nowMs)
  }

  listFeedbackTokens(tenant: string, span: Uuid): Promise<readonly FeedbackToken[]> {
    return this.#parts.tokens.list(tenant, span)
  }

  deleteFeedbackTokens(tenant: string): Promise<number> {
    return this.#parts.tokens.removeAll(tenant)
  }

  async #placesOf(tenant: string, ids: readonly Uuid[]): Promise<readonly SpanPlace[]> {
    const { locations, visibility } = this.#parts
    return await visibility.of(await locations.find(tenant, ids))
  }
}

function keyOf({ id, project, startUs, trace, traceStartUs }: SpanPlace): string {
  return `${id} ${project} ${startUs} ${trace} ${traceStartUs}`
}
