/** The address of a thread: which step is shown, what it is compared with, and how. */

import { oneOf, textIn } from './search.ts'
import type { RawSearch } from './search.ts'

/** The views of the middle. */
export const threadViews = ['chat', 'state', 'events', 'runs'] as const
/** The panes of a narrow window. */
export const threadPanes = ['line', 'middle', 'graph'] as const

/** What a thread shows. */
export interface ThreadSearch {
  /** Id of the chosen checkpoint; the newest one without it. */
  readonly at?: string | undefined
  /** Id of the checkpoint to compare with. */
  readonly vs?: string | undefined
  readonly view?: typeof threadViews[number] | undefined
  /** Id of the chosen node of the graph, such as `research:plan`. */
  readonly node?: string | undefined
  readonly pane?: typeof threadPanes[number] | undefined
  /** Id of the assistant that answers, if it is not the one that made the thread. */
  readonly assistant?: string | undefined
  /** The kind of events that are shown, such as `updates`. */
  readonly mode?: string | undefined
  /** Id of the run that is looked at. */
  readonly run?: string | undefined
}

/** Reads it. */
export function readThreadSearch(raw: RawSearch): ThreadSearch {
  return {
    at: textIn(raw, 'at'),
    vs: textIn(raw, 'vs'),
    view: oneOf(raw, 'view', threadViews),
    node: textIn(raw, 'node'),
    pane: oneOf(raw, 'pane', threadPanes),
    assistant: textIn(raw, 'assistant'),
    mode: textIn(raw, 'mode'),
    run: textIn(raw, 'run'),
  }
}
