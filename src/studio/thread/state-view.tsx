/** The state of a step as a tree, edited, or compared with another step. */

/** Which state. */
export interface StateViewProps {
  readonly threadId: string
  /** The checkpoint that is shown; the newest one without it. */
  readonly at: string | undefined
  /** The checkpoint to compare with. */
  readonly vs: string | undefined
  /** Changes when the thread has a new step: the newest state is asked for again. */
  readonly version: string
  /** The graph whose nodes an edit may be written as. */
  readonly assistantId: string | undefined
  readonly stopComparing: () => void
  /** An edit made this step. */
  readonly edited: (checkpointId: string) => void
}

/** The view. */
export function StateView({ threadId }: StateViewProps) {
  return <p>{threadId}</p>
}
