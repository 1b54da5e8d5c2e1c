/** Filters that roll-ups answer: on the name, type and place of a span, and on its start. */

import type { SpanHead } from '../../spans/span.ts'
import { noFields } from '../../spans/span.ts'
import { conditionsOf } from '../conditions.ts'
import type { Filter } from '../filter/filter.ts'
import { conjunctsOf, planOf } from '../plan.ts'
import { spanTest } from '../filter/test-span.ts'
import type { RunsQuestion } from '../question.ts'
import type { CellKey } from './roll-up.ts'

/** Choice of the cells that answer a question. */
export interface CellFilter {
  readonly fromUs: number
  readonly toUs: number
  /** Cells that are wanted: all of them, those of roots, or those that `wants` names. */
  readonly choice: 'all' | 'roots' | 'some'
  wants(key: CellKey): boolean
}

/** The filter of a question; undefined if cells do not answer it. */
export function cellFilter(question: RunsQuestion): CellFilter | undefined {
  const { ids, trace, traceFilter, treeFilter } = question
  if (ids !== undefined || trace !== undefined) return undefined
  if (isGiven(traceFilter) || isGiven(treeFilter)) return undefined
  const filter = conditionsOf(question)
  const parts = conjunctsOf(filter).filter((part) => !isStart(part))
  if (!parts.every(isOfCells)) return undefined
  const { tenant, order } = question
  const { fromUs, toUs } = planOf(filter, { tenant, order, projects: [] }, 0)
  const test = spanTest({ kind: 'all', of: parts })
  return { fromUs, toUs, choice: choiceOf(parts),
    wants: ({ name, type, root }) => test({ ...unknownHead, name, type, root }) === true }
}

function choiceOf(parts: readonly Filter[]): CellFilter['choice'] {
  if (parts.length === 0) return 'all'
  return parts.every(({ kind }) => kind === 'root') ? 'roots' : 'some'
}

function isGiven(text: string | undefined): boolean {
  return text !== undefined && text.trim() !== ''
}

/** A bound of the start, which decides about whole hours. */
function isStart(part: Filter): boolean {
  return part.kind === 'number' && part.field === 'startUs'
}

function isOfCells(part: Filter): boolean {
  switch (part.kind) {
    case 'all':
    case 'any':
      return part.of.every(isOfCells)
    case 'not':
      return isOfCells(part.of)
    case 'root':
      return true
    case 'text':
    case 'present':
      return part.field === 'name' || part.field === 'type'
    case 'number':
      return part.field === 'executionOrder'
    default:
      return false
  }
}

/** A head in which only the fields of cells have values, to test filters with. */
const unknownHead: SpanHead = { ...noFields, tenant: '', project: '', id: '', trace: '', startUs: 0,
  traceStartUs: 0, arrivedUs: 0, terms: [], blocks: [], feedback: [] }
