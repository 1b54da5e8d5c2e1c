/** What a server should have, as far as the steps of a sequence specify it. */

import type { RunRow } from '../../../proto/gen/storage/v1/row.ts'
import type { FeedbackToken, SpanPlace } from '../../../src/platform/index.ts'
import type { Chance } from '../chance.ts'
import { tenant } from './platform-house.ts'

/** Days for which spans of the two tiers are kept. */
export const [shortestDays, longestDays] = [14, 400] as const
const dayMs = 86_400_000
/** Days of a sequence: notes of removals live for 400. */
const daysMax = 390

/** A project, under its present name. */
export interface ModelProject {
  name: string
  id: string | undefined
  retentionDays: number
  isDeleted: boolean
  /** True if it has so many spans that a rule needs many passes for them. */
  isFull?: boolean
}

/** A span in a project, with what belongs to it. Another project may have a span of its id. */
export interface ModelSpan {
  readonly id: string
  /** The name in its last patch. */
  name: string
  readonly startMs: number
  readonly trace: string
  readonly traceStartMs: number
  readonly project: ModelProject
  readonly feedback: Set<string>
  /** Ids of feedback that rules give it soon. */
  readonly awaited: Set<string>
  /** Arrival of its last operation. */
  arrivedMs: number
  hasFile: boolean
  /** Arrival of its first operations and its file, which have an end of their own in Cassandra. */
  readonly filedMs: number
  /** True if its first operations have reached their end, and a later one has not. */
  hasLostFirst?: boolean
  /** The row of a run of this server, in its thread until the run is deleted. */
  readonly row?: RunRow
  isGone: boolean
  /**
   * The store has removed it, to free space or at the end of its life: a client that sends more of
   * it makes a new one.
   */
  isFreed: boolean
}

/** Recorded calls of a run. */
export interface ModelRecording {
  readonly run: string
  readonly deployment: string
  readonly days: number
  readonly atMs: number
  end: 'deleted' | 'freed' | undefined
}

/** A token for feedback. It is deleted with the last span of its id that a request removes. */
export interface ModelToken {
  readonly token: FeedbackToken
  isGone: boolean
}

/** A dataset, by the number of its examples. */
export interface ModelDataset {
  readonly id: string
  examples: number
  isDeleted: boolean
}

/** A rule that gives feedback to each span of a project that ends. */
export interface ModelRule {
  readonly id: string
  readonly project: ModelProject
  name: string
  isEnabled: boolean
  isDeleted: boolean
}

/** What a server should have. */
export class PlatformModel {
  readonly projects: ModelProject[] = []
  readonly spans: ModelSpan[] = []
  readonly datasets: ModelDataset[] = []
  readonly rules: ModelRule[] = []
  readonly recordings: ModelRecording[] = []
  readonly tokens: ModelToken[] = []
  /** Own runs that their threads have deleted. */
  readonly deletedRuns = new Set<string>()
  /** True if the store removes the oldest spans by itself. */
  readonly hasQuota: boolean
  /** True if each row has an end of life of its own, as in Cassandra. */
  readonly hasOwnEnds: boolean
  readonly #chance: Chance
  /** Traces that were deleted from a project. */
  readonly #goneTraces = new Set<string>()
  #version = 0
  #days = 0

  constructor(chance: Chance, { hasQuota, hasOwnEnds }: StoreTraits) {
    this.#chance = chance
    this.hasQuota = hasQuota
    this.hasOwnEnds = hasOwnEnds
  }

  /** A number that no other call returns. */
  nextVersion(): number {
    return ++this.#version
  }

  /** The project of a name, which its first span makes. */
  projectNamed(name: string): ModelProject {
    const known = this.projects.find((each) => !each.isDeleted && each.name === name)
    if (known !== undefined) return known
    const made: ModelProject = { name, id: undefined, retentionDays: shortestDays,
      isDeleted: false }
    this.projects.push(made)
    return made
  }

  aProject(): ModelProject | undefined {
    return this.#oneOf(this.projects.filter(({ isDeleted }) => !isDeleted))
  }

  aDataset(): ModelDataset | undefined {
    return this.#oneOf(this.datasets.filter(({ isDeleted }) => !isDeleted))
  }

  aRule(): ModelRule | undefined {
    return this.#oneOf(this.rules.filter(({ isDeleted }) => !isDeleted))
  }

  aLiveSpan(): ModelSpan | undefined {
    return this.#oneOf(this.spans.filter(({ isGone }) => !isGone))
  }

  /** A live span of whose id another project has a span, too. */
  aSharedSpan(): ModelSpan | undefined {
    const live = this.spans.filter(({ isGone }) => !isGone)
    const shared = [...Map.groupBy(live, ({ id }) => id).values()].filter(({ length }) =>
      length > 1
    )
    return this.#oneOf(shared.flat())
  }

  /** A span of a client, whatever became of it, unless the store or its project removed it. */
  aSentSpan(): ModelSpan | undefined {
    return this.#oneOf(
      this.spans.filter(({ project, row, isFreed }) => !project.isDeleted && !row && !isFreed),
    )
  }

  /** A span of a client or a run of this server, as `aSentSpan`, unless its thread deleted it. */
  aKnownSpan(): ModelSpan | undefined {
    return this.#oneOf(
      this.spans.filter(({ project, id, isFreed }) =>
        !project.isDeleted && !isFreed && !this.deletedRuns.has(id)
      ),
    )
  }

  /** A deleted span of whose id no project has a span. */
  aDeletedSpan(): ModelSpan | undefined {
    const live = new Set(this.spans.filter(({ isGone }) => !isGone).map(({ id }) => id))
    return this.#oneOf(
      this.spans.filter(({ id, isGone, isFreed }) => isGone && !isFreed && !live.has(id)),
    )
  }

  /** The rules that read the spans of a project. */
  rulesOf(project: ModelProject): readonly ModelRule[] {
    return this.rules.filter((rule) =>
      rule.project === project && rule.isEnabled && !rule.isDeleted
    )
  }

  /** A live recording, or one with this end. */
  aRecording(end: ModelRecording['end']): ModelRecording | undefined {
    return this.#oneOf(this.recordings.filter((each) => each.end === end))
  }

  /** Returns true if a sequence has as many days left, and counts them. */
  mayPass(days: number): boolean {
    if (this.#days + days > daysMax) return false
    this.#days += days
    return true
  }

  /** Removes tokens of spans that no project has. A later span of such an id has none. */
  endTokens(): void {
    const live = new Set(this.spans.filter(({ isGone }) => !isGone).map(({ id }) => id))
    for (const each of this.tokens) if (!live.has(each.token.span)) each.isGone = true
  }

  /** True if something reaches its end of life about now. */
  hasEndNear(nowMs: number, nearMs: number): boolean {
    return this.#ends().some((endMs) => Math.abs(endMs - nowMs) < nearMs)
  }

  /** Removes what has reached its end of life. */
  expire(nowMs: number): void {
    for (const span of this.spans) {
      if (span.isGone) continue
      if (this.hasOwnEnds && endOf(span, span.filedMs) <= nowMs) {
        Object.assign(span, { hasFile: false, hasLostFirst: true })
        // A span without its end has not ended for a rule.
        span.awaited.clear()
      }
      if (endOf(span) > nowMs) continue
      span.isFreed = true
      if (this.hasOwnEnds) {
        // Its feedback ends later.
        span.isGone = true
        span.awaited.clear()
      } else removeSpan(span)
    }
    for (const one of this.recordings) {
      if (one.end === undefined && one.atMs + one.days * dayMs <= nowMs) one.end = 'freed'
    }
  }

  #ends(): readonly number[] {
    return [
      ...this.spans.filter(({ isGone }) => !isGone)
        .flatMap((span) => [endOf(span), endOf(span, span.filedMs)]),
      ...this.recordings.filter(({ end }) => end === undefined)
        .map(({ atMs, days }) => atMs + days * dayMs),
    ]
  }

  isGoneTrace(project: ModelProject, trace: string): boolean {
    return this.#goneTraces.has(keyOf(project, trace))
  }

  /** Removes what a project has of a trace. Later operations on the trace are rejected. */
  removeTrace({ trace, project }: Pick<ModelSpan, 'trace' | 'project'>): void {
    this.#goneTraces.add(keyOf(project, trace))
    for (const span of this.spans) {
      if (span.trace === trace && span.project === project && !span.isGone) removeSpan(span)
    }
  }

  #oneOf<Item>(items: readonly Item[]): Item | undefined {
    return items.length === 0 ? undefined : this.#chance.pick(items)
  }
}

/** What the model has to know of a store. */
export interface StoreTraits {
  readonly hasQuota: boolean
  readonly hasOwnEnds: boolean
}

/** The end of life of a span, or of what arrived at another time. */
export function endOf({ arrivedMs, project }: ModelSpan, atMs = arrivedMs): number {
  return atMs + project.retentionDays * dayMs
}

/** Marks a span as removed, with what belongs to it. */
export function removeSpan(span: ModelSpan): void {
  span.isGone = true
  span.feedback.clear()
  span.awaited.clear()
}

/** The place of a span whose project is known. */
export function placeOf({ id, startMs, trace, traceStartMs, project }: ModelSpan): SpanPlace {
  return { tenant, project: project.id!, id, trace, startUs: startMs * 1_000,
    traceStartUs: traceStartMs * 1_000 }
}

function keyOf(project: ModelProject, trace: string): string {
  return `${project.id} ${trace}`
}
