/** Views that a person saved: a name and an address, kept on this machine. */

import { readThreadListSearch } from './threads.ts'
import type { ThreadListSearch } from './threads.ts'

/** A filter of the list of threads that was saved under a name. */
export interface SavedView {
  readonly name: string
  readonly search: ThreadListSearch
}

const storageKey = 'studio.views'
const viewsMax = 100

/** Reads what is stored. Anything may be there. */
export function viewsIn(text: string | null): readonly SavedView[] {
  let stored: unknown
  try {
    stored = JSON.parse(text ?? '[]')
  } catch {
    return []
  }
  if (!Array.isArray(stored)) return []
  return stored.flatMap((each: { name?: unknown; search?: unknown } | null) =>
    typeof each?.name === 'string' && typeof each.search === 'object' && each.search !== null
      ? [{ name: each.name, search: readThreadListSearch({ ...each.search }) }]
      : []
  )
}

/** The views with one more; one of the same name is replaced. */
export function withView(views: readonly SavedView[], view: SavedView): readonly SavedView[] {
  return [...views.filter(({ name }) => name !== view.name), view].slice(-viewsMax)
}

/** The views of this machine. Without storage there are none. */
export function readViews(): readonly SavedView[] {
  try {
    return viewsIn(localStorage.getItem(storageKey))
  } catch {
    return []
  }
}

/** Stores the views. Returns false if the browser refuses. */
export function storeViews(views: readonly SavedView[]): boolean {
  try {
    localStorage.setItem(storageKey, JSON.stringify(views))
    return true
  } catch {
    return false
  }
}
