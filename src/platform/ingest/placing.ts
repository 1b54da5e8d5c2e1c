/** Finds out where the spans of a request are, with no read for those that say it themselves. */

import type { Reader } from './ended/ended-span.ts'
import { firstPlaces } from '../spans/first-places.ts'
import type { SpanStore } from '../spans/span-port.ts'
import type { SpanFields, SpanPlace, Uuid } from '../spans/span.ts'
import type { Operation, ProjectInput } from './operation.ts'
import { draftOf } from './place.ts'
import type { Draft, KnownSpan } from './place.ts'
import type { KnownProject, ProjectCache } from './project-cache.ts'
import { spansOfTraceMax } from './trace-memory.ts'
import type { TraceMemory } from './trace-memory.ts'

/** An operation that can be written. */
export interface PlacedOperation {
  readonly operation: Operation
  readonly place: SpanPlace
  readonly fields: SpanFields
  /** Seconds that the span lives. */
  readonly timeToLiveS: number
  /** True if nothing named the project. */
  readonly isGuess?: boolean
  readonly readers?: readonly Reader[]
}

/** Store, caches and memory that places are found with. */
export interface PlacingParts {
  readonly store: SpanStore
  readonly projects: ProjectCache
  readonly memory: TraceMemory
}

/**
 * Pause of work now and then: others have their turn if it has worked for some milliseconds.
 * Between operations only a promise is awaited, because awaiting nothing has a price, too.
 */
export type Pause = () => Promise<void> | undefined

/** The operations of one tenant in one request. */
export interface OperationsOfRequest {
  readonly pause: Pause
  readonly tenant: string
  readonly nowUs: number
  readonly operations: readonly Operation[]
}

/** Places operations, in their order. One that cannot be placed has a reason instead. */
export async function placeOperations(parts: PlacingParts,
  request: OperationsOfRequest): Promise<readonly (PlacedOperation | string)[]> {
  const { tenant, operations, pause } = request
  const drafts = await draftAll(parts, request)
  const resolve = await parts.projects.resolve(tenant,
    drafts.map(({ project, place: { startUs } }) => ({ project, startUs })))
  const placed: (PlacedOperation | string)[] = []
  for (const [index, draft] of drafts.entries()) {
    const turn = pause()
    if (turn !== undefined) await turn
    placed.push(placedAt(parts.memory, tenant, operations[index]!, draft, resolve(draft.project)))
  }
  return placed
}

function placedAt(memory: TraceMemory, tenant: string, operation: Operation, draft: Draft,
  project: KnownProject | string): PlacedOperation | string {
  if (typeof project === 'string') return project
  const place = { tenant, project: project.id, ...draft.place }
  const isGuess = draft.isGuess === true
  if (!memory.hasRoom(place, isGuess)) return `The trace has ${spansOfTraceMax} spans already.`
  if (operation.order === null && !isGuess) memory.rememberPlace({ place, order: draft.order })
  const fields = { ...operation.fields, dottedOrder: draft.order, parent: draft.parent,
    root: draft.root, endUs: endOf(operation, place) }
  const { timeToLiveS, readers } = project
  return { operation, place, fields, timeToLiveS, ...isGuess && { isGuess },
    ...readers && { readers } }
}

/**
 * Ends are in milliseconds and starts in microseconds, so that a short span would end before it
 * starts.
 */
function endOf({ fields: { endUs } }: Operation, { startUs }: SpanPlace): number | null {
  const isRounded = endUs !== null && endUs < startUs && startUs - endUs < 1000
  return isRounded ? startUs : endUs
}

/** Drafts, in the order of the operations. Those with a dotted order are decided first. */
async function draftAll({ store, memory }: PlacingParts,
  { tenant, nowUs, operations, pause }: OperationsOfRequest): Promise<readonly Draft[]> {
  const here = new Map<Uuid, KnownSpan>()
  const ofTraces = projectsOfTraces(operations)
  const projectOf = (trace: Uuid): ProjectInput | undefined => {
    const id = memory.projectOf(tenant, trace)
    return ofTraces.get(trace) ?? (id === undefined ? undefined : { by: 'id', id })
  }
  const elsewhere = await known({ store, memory }, tenant, wantedOf(operations, projectOf))
  const span = (id: Uuid) => here.get(id) ?? elsewhere.get(id)
  const drafts = new Map<Operation, Draft>()
  let hasGuess = false
  for (const operation of operations.toSorted((one, other) => rank(one) - rank(other))) {
    const turn = pause()
    if (turn !== undefined) await turn
    const draft = draftOf(operation, { nowUs, span, projectOf })
    drafts.set(operation, draft)
    hasGuess ||= draft.isGuess === true
    const before = here.get(operation.id)
    here.set(operation.id, { ...draft, order: draft.order ?? before?.order ?? null })
  }
  const inOrder = operations.map((operation) => drafts.get(operation)!)
  return hasGuess ? resolveGuesses(inOrder) : inOrder
}

/** Moves drafts with a guessed project to the first place that another draft of the span names. */
function resolveGuesses(drafts: readonly Draft[]): readonly Draft[] {
  const named = new Map<Uuid, Draft>()
  for (const draft of drafts) {
    if (!draft.isGuess && !named.has(draft.place.id)) named.set(draft.place.id, draft)
  }
  return drafts.map((draft) => {
    const known = draft.isGuess ? named.get(draft.place.id) : undefined
    return known ? { ...draft, place: known.place, project: known.project, isGuess: false } : draft
  })
}

/** With a dotted order first, then posts before patches. */
function rank({ order, kind }: Operation): number {
  return order !== null ? 0 : kind === 'post' ? 1 : 2
}

function projectsOfTraces(operations: readonly Operation[]): ReadonlyMap<Uuid, ProjectInput> {
  const found = new Map<Uuid, ProjectInput>()
  for (const { order, project } of operations) {
    if (order !== null && project !== null) found.set(order.trace, project)
  }
  return found
}

/** Spans that have to be looked up, because operations do not say where they are. */
function wantedOf(operations: readonly Operation[],
  projectOf: (trace: Uuid) => ProjectInput | undefined): readonly Uuid[] {
  const wanted = new Set<Uuid>()
  for (const { id, kind, order, project, trace, parent } of operations) {
    const isPlaced = order !== null &&
      (project !== null || kind === 'post' || projectOf(order.trace) !== undefined)
    if (isPlaced) continue
    for (const each of [id, order?.trace ?? trace, order === null ? parent : null]) {
      if (each !== null) wanted.add(each)
    }
  }
  return [...wanted]
}

/** Spans that memory and the store know. */
async function known({ store, memory }: Pick<PlacingParts, 'store' | 'memory'>, tenant: string,
  wanted: readonly Uuid[]): Promise<ReadonlyMap<Uuid, KnownSpan>> {
  const found = new Map<Uuid, KnownSpan>()
  const unknown: Uuid[] = []
  for (const id of wanted) {
    const remembered = memory.placeOf(tenant, id)
    if (remembered === undefined) unknown.push(id)
    else found.set(id, knownAt(remembered.place, remembered.order))
  }
  if (unknown.length === 0) return found
  const places = [...firstPlaces(await store.locate(tenant, unknown)).values()]
  const heads = places.length === 0 ? [] : await store.heads(places)
  const byId = new Map(heads.map((head) => [head.id, head]))
  for (const place of places) {
    const head = byId.get(place.id)
    found.set(place.id, { ...knownAt(place, head?.dottedOrder ?? null),
      ...head?.isGuess && { isGuess: true } })
  }
  return found
}

function knownAt({ id, startUs, trace, traceStartUs, project }: SpanPlace,
  order: string | null): KnownSpan {
  return { place: { id, startUs, trace, traceStartUs }, project: { by: 'id', id: project }, order }
}
