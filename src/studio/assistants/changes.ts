/** Changes of one version of an assistant against another, and assistants by their graphs. */

import type { Assistant } from '../../api/index.ts'
import type { GraphLoad } from '../api/server.ts'
import { isObject } from '../json/is-object.ts'

/** One place in which two versions differ. */
export interface Change {
  /** Keys from the outside in, such as `context`, `model_name`. */
  readonly path: readonly string[]
  readonly kind: 'added' | 'removed' | 'changed'
  readonly before: unknown
  readonly after: unknown
}

const parts = ['name', 'description', 'graph_id', 'context', 'config', 'metadata'] as const

/** Differences between two versions, in the order of the form. */
export function changesBetween(before: Assistant, after: Assistant): readonly Change[] {
  return parts.flatMap((part) =>
    changesIn([part], absentIfNull(before[part]), absentIfNull(after[part]))
  )
}

const absentIfNull = (value: unknown) => value ?? undefined

/** Objects are compared key by key; everything else, lists too, as a whole. */
function changesIn(path: readonly string[], before: unknown, after: unknown): Change[] {
  if (isObject(before) && isObject(after)) {
    const names = new Set([...Object.keys(before), ...Object.keys(after)])
    return [...names].flatMap((name) =>
      changesIn([...path, name], own(before, name), own(after, name))
    )
  }
  if (isSame(before, after)) return []
  const kind = before === undefined ? 'added' : after === undefined ? 'removed' : 'changed'
  return [{ path, kind, before, after }]
}

const own = (value: Record<string, unknown>, name: string) =>
  Object.hasOwn(value, name) ? value[name] : undefined

const isSame = (one: unknown, other: unknown) => JSON.stringify(one) === JSON.stringify(other)

/** Assistants that run one graph. */
export interface GraphGroup {
  readonly graphId: string
  /** The server's sentence why the graph does not load. */
  readonly error: string | undefined
  readonly assistants: readonly Assistant[]
}

/** Assistants by their graphs. The one that was made with the graph stands first. */
export function byGraph(assistants: readonly Assistant[],
  graphs: readonly GraphLoad[]): readonly GraphGroup[] {
  const groups = Map.groupBy(assistants, ({ graph_id: graph }) => graph)
  for (const { graph_id: graph } of graphs) if (!groups.has(graph)) groups.set(graph, [])
  return [...groups].toSorted(([one], [other]) => one.localeCompare(other))
    .map(([graphId, members]) => ({
      graphId,
      error: graphs.find(({ graph_id: graph }) => graph === graphId)?.error,
      assistants: members.toSorted((one, other) =>
        Number(isMadeWithGraph(other)) - Number(isMadeWithGraph(one)) ||
        one.name.localeCompare(other.name)
      ),
    }))
}

/** True for the assistant that every graph has from the start. */
export const isMadeWithGraph = ({ metadata }: Pick<Assistant, 'metadata'>): boolean =>
  metadata['created_by'] === 'system'
