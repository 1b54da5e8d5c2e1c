/**
 * Selection of the parts of a state: fields by name, `values.<key>` and `metadata.<key>` for single
 * members, `values.<key>[a:b]` for a part of a list, `tasks.lean` for tasks without their writes,
 * `tasks.messages` for such tasks with the messages that they wrote, without what these say,
 * `channels` for the sizes of these writes.
 */

import { boundsOf, isObject, leanMessages, sliceIn } from '../json/index.ts'
import type { ListSlice, SlicePlace } from '../json/index.ts'

/** The selected parts; undefined for everything. */
export type StateSelection = readonly string[] | undefined

type Fields = Readonly<Record<string, unknown>>

const ofValues = 'values.'
const ofMetadata = 'metadata.'

/** The keys of the selected values, or `all`. */
export function keysAskedFor(select: StateSelection): 'all' | readonly string[] {
  if (!select || select.includes('values')) return 'all'
  const keys = membersOf(ofValues, select).map((key) => sliceIn(key)?.name ?? key)
  return [...new Set(keys)]
}

/** The parts of lists that are selected, by key. They hold also if a key is selected whole. */
export function slicesOf(select: StateSelection): ReadonlyMap<string, ListSlice> {
  const slices = membersOf(ofValues, select ?? []).map(sliceIn).filter((each) => each !== undefined)
  return new Map(slices.map(({ name, slice }) => [name, slice]))
}

/** True if the sizes of a step's writes are selected. */
export function selectsSizes(select: StateSelection): boolean {
  return select?.includes('channels') ?? false
}

/** True if writes of tasks are selected: their results, or the writes of the step. */
export function selectsWrites(select: StateSelection): boolean {
  return !select || select.includes('tasks') || select.includes('tasks.messages') ||
    selectsStepWrites(select)
}

/** True if the writes of the step are selected, which are those of the parent's tasks. */
export function selectsStepWrites(select: StateSelection): boolean {
  return !select || select.includes('metadata') || select.includes('metadata.writes')
}

/** True if any part is selected that may be long: values, or writes of tasks. */
export function selectsBodies(select: StateSelection): boolean {
  return selectsWrites(select) || keysAskedFor(select).length > 0
}

/** Selected values, and where the parts of lists among them begin. */
export interface SelectedValues {
  readonly values: unknown
  /** By key. */
  readonly slices: Readonly<Record<string, SlicePlace>>
}

/** The selected values. A value that is not an object has no keys and is returned whole. */
export function selectedValues(values: unknown, select: StateSelection): SelectedValues {
  const keys = keysAskedFor(select)
  if (!isObject(values)) return { values, slices: {} }
  const selected: Record<string, unknown> = keys === 'all' ? { ...values } : only(values, keys)
  const slices: Record<string, SlicePlace> = {}
  for (const [key, slice] of slicesOf(select)) {
    const list = selected[key]
    if (!Array.isArray(list)) continue
    const { from, to } = boundsOf(slice, list.length)
    selected[key] = list.slice(from, to)
    slices[key] = { from, total: list.length }
  }
  return { values: selected, slices }
}

/** The selected fields of a state, apart from its values. */
export function selectedFields(state: Fields, select: StateSelection): Fields {
  if (!select) return state
  const { metadata, tasks } = state
  const keys = membersOf(ofMetadata, select)
  return {
    ...select.includes('tasks.lean') && { tasks: Array.isArray(tasks) ? tasks.map(lean) : [] },
    ...select.includes('tasks.messages') &&
      { tasks: Array.isArray(tasks) ? tasks.map(withMessages) : [] },
    ...keys.length > 0 && { metadata: isObject(metadata) ? only(metadata, keys) : {} },
    ...only(state, select),
  }
}

/** A task without what it read and wrote. */
function lean({ id, name, error, interrupts, path }: Fields): Fields {
  return { id, name, error, interrupts, path }
}

function withMessages(task: Fields): Fields {
  return { ...lean(task), messages: leanMessages(task['result']) }
}

function membersOf(prefix: string, select: readonly string[]): string[] {
  return select.filter((name) => name.startsWith(prefix)).map((name) => name.slice(prefix.length))
}

function only(fields: object, names: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([name]) => names.includes(name)))
}
