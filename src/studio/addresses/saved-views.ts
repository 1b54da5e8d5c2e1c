/** Views that a person saved: a name and an address, kept on this machine. */

import { readThreadListSearch } from './threads.ts'
import type { ThreadListSearch } from './threads.ts'

/** Parameters of a list that were saved under a name. */
export interface SavedView<Search = ThreadListSearch> {
  readonly name: string
  readonly search: Search
  /** Version of what is stored; absent for the first one. */
  readonly version?: number
}

/** A list whose views are saved: where, and how its parameters are read. */
export interface SavedList<Search> {
  readonly storageKey: string
  readonly read: (raw: Readonly<Record<string, unknown>>) => Search
}

/** The views of the list of threads. */
export const threadListViews: SavedList<ThreadListSearch> = { storageKey: 'studio.views',
  read: readThreadListSearch }

/** Version of the views that this page knows. */
const knownVersion = 1
const viewsMax = 100

/** True if a later version of the page saved a view: its parameters may mean something else. */
export const isLater = ({ version = knownVersion }: Pick<SavedView, 'version'>): boolean =>
  version > knownVersion

/** Reads what is stored. Anything may be there; a view of a later version stays as it is. */
export function viewsIn<Search>({ read }: Pick<SavedList<Search>, 'read'>,
  text: string | null): readonly SavedView<Search>[] {
  let stored: unknown
  try {
    stored = JSON.parse(text ?? '[]')
  } catch {
    return []
  }
  if (!Array.isArray(stored)) return []
  return stored.flatMap((each: { name?: unknown; search?: unknown; version?: unknown } | null) => {
    if (typeof each?.name !== 'string' || typeof each.search !== 'object') return []
    if (each.search === null) return []
    const { name, search, version } = each
    return typeof version === 'number' && isLater({ version })
      ? [{ name, search: search as Search, version }]
      : [{ name, search: read({ ...search }) }]
  })
}

/** The views with one more; one of the same name is replaced. */
export function withView<Search>(views: readonly SavedView<Search>[],
  view: SavedView<Search>): readonly SavedView<Search>[] {
  return [...views.filter(({ name }) => name !== view.name), view].slice(-viewsMax)
}

/** The views of this machine. Without storage there are none. */
export function readViews<Search>(list: SavedList<Search>): readonly SavedView<Search>[] {
  try {
    return viewsIn(list, localStorage.getItem(list.storageKey))
  } catch {
    return []
  }
}

/** Stores the views. Returns false if the browser refuses. */
export function storeViews<Search>({ storageKey }: Pick<SavedList<Search>, 'storageKey'>,
  views: readonly SavedView<Search>[]): boolean {
  try {
    localStorage.setItem(storageKey, JSON.stringify(views))
    return true
  } catch {
    return false
  }
}
