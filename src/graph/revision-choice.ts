/** Choice of the revision of a deployment that a run takes. Pure. */

import type { DeploymentView } from './deployed.ts'
import { hasNode } from './node-path.ts'

/** A thread that waits for an answer, or for being continued. */
export interface WaitingThread {
  /** The nodes that come next, as paths from the root: `research:ask`. */
  readonly nodes: readonly string[]
  /** The revision whose graph has these nodes. */
  readonly raisedBy: string
}

/** A run that is about to start, and what is known of its deployment. */
export interface ChoiceParts {
  readonly view: DeploymentView
  readonly threadId: string
  readonly graphId: string
  /** The revision that its caller named; null if that is left to the deployment. */
  readonly requested: string | null
  /** Null unless the run continues a thread that waits. */
  readonly waiting: WaitingThread | null
}

/**
 * chosen    this one
 * inactive  no revision of the deployment is active yet
 * unknown   the revision that was named cannot be loaded
 * missing   it does not have these nodes, and `revision`, which has them, cannot be loaded
 */
export type RevisionChoice =
  | { readonly kind: 'chosen'; readonly revision: string }
  | { readonly kind: 'inactive' }
  | { readonly kind: 'unknown'; readonly revision: string }
  | { readonly kind: 'missing'; readonly nodes: readonly string[]; readonly revision: string }

/**
 * The revision that new runs of the thread take; with another one that takes a share, by the hash
 * of the thread's id. A run that continues a thread takes it only if it has every node that waits:
 * otherwise an answer would be lost. The revision that made the thread wait is the next best.
 */
export function chooseRevision(parts: ChoiceParts): RevisionChoice {
  const { view, threadId, requested, waiting } = parts
  if (requested !== null && !view.revisions.has(requested)) {
    return { kind: 'unknown', revision: requested }
  }
  const wanted = requested ?? pointedAt(view, threadId)
  if (wanted === null) return { kind: 'inactive' }
  const { nodes, raisedBy } = waiting ?? { nodes: [], raisedBy: '' }
  const missing = missingIn(parts, wanted, nodes)
  if (missing.length === 0) {
    const kind = view.revisions.has(wanted) ? 'chosen' : 'unknown'
    return { kind, revision: wanted }
  }
  const isKept = requested === null && missingIn(parts, raisedBy, nodes).length === 0
  return isKept
    ? { kind: 'chosen', revision: raisedBy }
    : { kind: 'missing', nodes: missing, revision: raisedBy }
}

/**
 * The revision that a run under way would go on with, because runs move with the pointer. Undefined
 * if that is its own, or if it cannot be known whether its nodes are there.
 */
export function revisionInstead(view: DeploymentView,
  { threadId, graphId, revision }: { readonly threadId: string; readonly graphId: string;
    readonly revision: string }): string | undefined {
  const pointed = view.movesRuns ? pointedAt(view, threadId) : null
  if (pointed === null || pointed === revision) return undefined
  const graph = view.revisions.get(pointed)?.find((each) => each.graphId === graphId)
  return graph?.channels === undefined ? undefined : pointed
}

/** Error message for a refused run, with what its caller can do. */
export function choiceMessage(
  choice: Exclude<RevisionChoice, { readonly kind: 'chosen' }>,
): string {
  switch (choice.kind) {
    case 'inactive':
      return 'The deployment has no active revision: activate one.'
    case 'unknown':
      return `Revision ${choice.revision} of the deployment is not there: name another one.`
    case 'missing': {
      const names = choice.nodes.map((node) => `"${node}"`).join(', ')
      return `The thread waits at ${names} of revision ${choice.revision}, and the graph that ` +
        'the run would take has no such node. Activate a revision that has the node, or update ' +
        'the state to continue elsewhere.'
    }
  }
}

/** The share grows with the percentage: a thread that has moved to the next one stays there. */
function pointedAt({ active, next }: DeploymentView, threadId: string): string | null {
  if (next && hundredthOf(`${next.revision}\n${threadId}`) < next.percent) return next.revision
  return active
}

/** The nodes that a revision lacks. Those of a graph that is made for each use are not known. */
function missingIn({ view, graphId }: ChoiceParts, revision: string,
  nodes: readonly string[]): readonly string[] {
  const graph = view.revisions.get(revision)?.find((each) => each.graphId === graphId)
  if (!graph) return nodes
  return graph.channels === undefined ? [] : nodes.filter((node) => !hasNode(graph, node))
}

/** A number below 100, the same for the same text on every member (FNV-1a, then mixed). */
function hundredthOf(text: string): number {
  let hash = 0x811c9dc5
  for (let i = 0; i < text.length; i++) {
    hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193)
  }
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return ((hash ^ (hash >>> 16)) >>> 0) % 100
}
