/** State of a node of a graph: in a live run, or at the step that is shown. */

/** A node, by its id in the picture, such as `research:plan`. */
export interface NodeState {
  readonly state: 'running' | 'done' | 'failed' | 'waiting' | 'next'
  /** Number of its starts: parallel tasks of one node count up. */
  readonly times: number
  /** By the clock of the server; null where it is not known. */
  readonly startedMs: number | null
  readonly endedMs: number | null
}

/** Nodes by their id in the picture. */
export type NodeStates = Readonly<Record<string, NodeState>>
