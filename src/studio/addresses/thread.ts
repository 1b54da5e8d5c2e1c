/** The address of a thread: which step is shown, what it is compared with, and how. */

import { oneOf, searchOf, text } from './search.ts'

/** The views of the middle. */
export const threadViews = ['chat', 'state', 'events', 'runs', 'trace'] as const
/** The panes of a narrow window. */
export const threadPanes = ['line', 'middle', 'graph'] as const

/** Reads what a thread shows. */
export const readThreadSearch = searchOf({
  /** Id of the chosen checkpoint; the newest one without it. */
  at: text,
  /** Id of the checkpoint to compare with. */
  vs: text,
  view: oneOf(threadViews),
  /** Id of the chosen node of the graph, such as `research:plan`. */
  node: text,
  pane: oneOf(threadPanes),
  /** The part that has the window to itself. */
  alone: oneOf(['graph']),
  /** Id of the assistant that answers, if it is not the one that made the thread. */
  assistant: text,
  /** The kind of events that are shown, such as `updates`. */
  mode: text,
  /** Id of the run that is looked at. */
  run: text,
  /** The question about that run. */
  ask: oneOf(['copy']),
})

/** Search parameters of the page of a thread, each absent if its text is invalid. */
export type ThreadSearch = ReturnType<typeof readThreadSearch>
