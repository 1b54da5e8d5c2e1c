/** The address of the assistants: which one is shown, in which version, and what is done to it. */

import { oneOf, textIn } from './search.ts'
import type { RawSearch } from './search.ts'

/** What the page shows. */
export interface AssistantListSearch {
  readonly id?: string | undefined
  /** The version that is shown; the active one without it. */
  readonly version?: number | undefined
  /** The version that it is compared with; the one before without it. */
  readonly vs?: number | undefined
  readonly act?: 'new' | 'edit' | 'delete' | undefined
  /** The graph of a new assistant. */
  readonly graph?: string | undefined
}

/** Reads it. */
export function readAssistantListSearch(raw: RawSearch): AssistantListSearch {
  return {
    id: textIn(raw, 'id'),
    version: versionIn(raw, 'version'),
    vs: versionIn(raw, 'vs'),
    act: oneOf(raw, 'act', ['new', 'edit', 'delete']),
    graph: textIn(raw, 'graph'),
  }
}

function versionIn(raw: RawSearch, key: string): number | undefined {
  const version = Number(raw[key])
  return Number.isSafeInteger(version) && version > 0 ? version : undefined
}
