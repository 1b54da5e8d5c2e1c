/** Place of the span of an operation. It decides what the operation leaves open. Pure. */

import type { SpanPlace, Uuid } from '../spans/span.ts'
import { segmentOf } from '../spans/dotted-order.ts'
import type { Operation, ProjectInput } from './operation.ts'

/** Project of an operation that names none. */
const defaultProject: ProjectInput = { by: 'name', name: 'default' }

/** A place whose project is still to be resolved, and what it says of the head. */
export interface Draft {
  readonly place: Pick<SpanPlace, 'id' | 'startUs' | 'trace' | 'traceStartUs'>
  readonly project: ProjectInput
  /** The dotted order; null if nobody said it: readers make one. */
  readonly order: string | null
  readonly parent: Uuid | null
  readonly root: boolean | null
  /** True if the project is a guess, because a patch came first and named none. */
  readonly isGuess?: boolean
}

/** A span that is known: from this request, from memory or from the store. */
export type KnownSpan = Pick<Draft, 'place' | 'project' | 'order' | 'isGuess'>

/** Details beside the operation that decide its place. */
export interface Surroundings {
  readonly nowUs: number
  span(id: Uuid): KnownSpan | undefined
  /** The project that spans of a trace are filed under. */
  projectOf(trace: Uuid): ProjectInput | undefined
}

/** Decides where a span is. */
export function draftOf(operation: Operation, around: Surroundings): Draft {
  if (operation.order !== null) return draftInOrder(operation, operation.order, around)
  const known = around.span(operation.id)
  if (operation.kind === 'post') return draftOfPost(operation, known, around)
  if (known !== undefined) {
    return { ...known, ...operation.project && { project: operation.project, isGuess: false },
      order: null, parent: null, root: null }
  }
  // The first that is known of a span, and not from its start. Its post fills in the rest.
  const { id, startUs, trace, parent } = operation
  const start = startUs ?? timeOfId(id) ?? around.nowUs
  const near = [trace, parent].map((each) => (each === null ? undefined : around.span(each)))
    .find((each) => each !== undefined)
  const project = operation.project ?? (near?.isGuess ? undefined : near?.project)
  return {
    place: { id, startUs: start, trace: trace ?? near?.place.trace ?? id,
      traceStartUs: near?.place.traceStartUs ?? start },
    project: project ?? defaultProject,
    order: null,
    parent,
    root: null,
    isGuess: project === undefined,
  }
}

function draftInOrder({ id, kind, project }: Operation, order: NonNullable<Operation['order']>,
  around: Surroundings): Draft {
  const { startUs, trace, traceStartUs, parent, text } = order
  // Older clients name the project in the post alone.
  const found = kind === 'post' ? undefined : around.projectOf(trace) ??
    [id, trace].map((each) => around.span(each)).find((each) => each && !each.isGuess)?.project
  return { place: { id, startUs, trace, traceStartUs }, project: project ?? found ?? defaultProject,
    order: text, parent, root: parent === null,
    isGuess: kind === 'patch' && project === null && found === undefined }
}

function draftOfPost({ id, startUs, parent, trace: said, project }: Operation,
  before: KnownSpan | undefined, around: Surroundings): Draft {
  // The store moves a span whose place was a guess.
  const known = before?.isGuess ? undefined : before
  const above = parent === null ? undefined : around.span(parent)
  const start = known?.place.startUs ?? startUs ?? timeOfId(id) ?? around.nowUs
  const trace = known?.place.trace ?? above?.place.trace ?? said ?? id
  const traceStartUs = known?.place.traceStartUs ?? above?.place.traceStartUs ??
    (trace === id ? start : around.span(trace)?.place.traceStartUs ?? start)
  // Below a span without an order, readers make one.
  const isUnordered = above !== undefined && above.order === null
  const path = above?.order ?? (trace === id ? null : segmentOf(traceStartUs, trace))
  const own = segmentOf(start, id)
  return {
    place: { id, startUs: start, trace, traceStartUs },
    project: known?.project ?? project ?? (above?.isGuess ? undefined : above?.project) ??
      defaultProject,
    order: isUnordered ? null : path === null ? own : `${path}.${own}`,
    parent,
    root: parent === null && trace === id,
  }
}

/** The time in an id of version 7, in microseconds; null if stores could not read it again. */
function timeOfId(id: Uuid): number | null {
  if (id[14] !== '7') return null
  const us = parseInt(id.slice(0, 8) + id.slice(9, 13), 16) * 1000
  return Number.isSafeInteger(us) ? us : null
}
