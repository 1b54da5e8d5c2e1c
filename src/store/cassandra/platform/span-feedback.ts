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

/** Outcome of looking for what waits for the spans of a request. */
export interface SettledSpans {
  /** Places of spans that were moved, now or by a writer that did not confirm it. */
  readonly moved: readonly SpanPlace[]
  /** Places of guesses that have no location, because one was removed a short time ago. */
  readonly hidden: readonly SpanPlace[]
}

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
      // Feedback that names a project without the span is shown on the span of another project
      // until then.
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

  /** Marks spans with the feedback that came before them, and moves spans of guessed projects. */
  async settleWaiting({ tenant, spans, timeToLiveS }: SpansOfRequest): Promise<SettledSpans> {
    const places = spans.map(({ place }) => place)
    const { feedback, guesses: noted, moves } = await this.#parts.waiting.for(tenant,
      places.map(({ id }) => id))
    await this.#markAll(tenant, places, feedback)
    // Another member that moved a span may have removed the note of a guess in this request.
    const own = new Map(spans.filter(({ isGuess }) => isGuess === true)
      .map(({ place }) => [keyOf(place), place]))
    const guesses = new Map([...own.values()].map((place) => [keyOf(place), guessOf(place)]))
    for (const each of noted) guesses.set(keyOf(placeOf(tenant, each)), each)
    if (guesses.size + moves.length === 0) return { moved: [], hidden: [] }
    const known = new Map(spans.filter(({ isGuess }) => isGuess !== true)
      .map(({ place }) => [place.id, place]))
    const moved = new Map(moves.flatMap(({ span, project }) => {
      const place = known.get(span)
      return place?.project === project ? [[keyOf(place), place]] : []
    }))
    const unknown = [...guesses.values()].filter(({ span }) => !known.has(span))
    const located = unknown.length === 0
      ? []
      : await this.#parts.locations.find(tenant, unknown.map(({ span }) => span))
    const named = Map.groupBy(await this.#named(located), ({ id }) => id)
    await forEachLimit(waitingAtOnce, guesses.values(), async (guess) => {
      const elsewhere = named.get(guess.span) ?? []
      const place = known.get(guess.span) ??
        elsewhere.find(({ project }) => project === guess.project) ?? elsewhere[0]
      if (place === undefined) return
      // The request may know the life in the guessed project only.
      const liveS = timeToLiveS.get(place.project) ?? await this.#parts.spans.lifeLeftS(place)
      if (liveS === undefined) return
      const marks = await takeOver(this.#parts, guess, place, liveS)
      if (marks === undefined) return
      moved.set(keyOf(place), place)
      for (const row of marks) await putMark(this.#parts, row, place)
    })
    const hidden = [...own.values()].filter(({ id, project }) =>
      !known.has(id) && !named.has(id) &&
      !located.some((place) => place.id === id && place.project === project)
    )
    return { moved: [...moved.values()], hidden }
  }

  /** As `SpanPort.confirmMoves`. */
  async confirmMoves(tenant: string, places: readonly SpanPlace[]): Promise<void> {
    await forEachLimit(waitingAtOnce, places,
      ({ id: span, project }) => this.#parts.waiting.removeMove(tenant, { span, project }))
  }

  /**
   * Places of these that an operation named. If such an operation is written but not its location,
   * its writer still moves the span.
   */
  async #named(places: readonly SpanPlace[]): Promise<readonly SpanPlace[]> {
    if (places.length === 0) return []
    return await this.#parts.spans.placesWith(await this.#parts.visibility.of(places),
      ({ isGuess, trace, traceStartUs }, place) =>
        !isGuess && trace === place.trace && traceStartUs === place.traceStartUs)
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
    // While it waits, each write of the span comes here.
    for (const place of named.length > 0 ? named : await this.#unmarked(row, places)) {
      await this.#parts.feedback.put({ row, place })
      await putMark(this.#parts, row, place)
    }
    if (row.project === null) return true
    if (named.length === 0) return false
    const others = (await this.#placesOf(row.tenant, [row.span!]))
      .filter(({ project }) => project !== row.project)
    for (const place of others) await deleteMark(this.#parts, row.id, place)
    return true
  }

  /** Places whose heads do not have the mark of feedback. */
  async #unmarked({ id }: Feedback, places: readonly SpanPlace[]): Promise<readonly SpanPlace[]> {
    const heads = await this.#parts.spans.at(places)
    const marked = new Set(heads.filter(({ feedback }) => feedback.some((mark) => mark.id === id))
      .map(({ project, startUs }) => `${project} ${startUs}`))
    return places.filter(({ project, startUs }) => !marked.has(`${project} ${startUs}`))
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

function guessOf({ id, project, startUs, trace, traceStartUs }: SpanPlace): Guess {
  return { span: id, project, at: { startUs, trace, traceStartUs } }
}

function placeOf(tenant: string, { span, project, at }: Guess): SpanPlace {
  return { tenant, id: span, project, ...at }
}
