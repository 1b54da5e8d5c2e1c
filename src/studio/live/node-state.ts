/** What a node of a graph did: of a live run, or of the step that is shown. */

/** A node, by its id in the picture, such as `research:plan`. */
export interface NodeState {
  readonly state: 'running' | 'done' | 'failed' | 'waiting' | 'next'
  /** How often it started: parallel tasks of one node count up. */
  readonly times: number
  /** By the clock of the server; null where it is not known. */
  readonly startedMs: number | null
  readonly endedMs: number | null
}

/** Nodes by their id in the picture. */
export type NodeStates = Readonly<Record<string, NodeState>>
