/** The namespace at which the project's copy of the engine streams calls of tools. */

import type { GraphLibrary } from '../project/library.ts'

/**
 * That of the graph from 1.7.0 on, and that of the task before. The text of the engine tells,
 * whatever version it says it is.
 */
export function toolsAt(
  { CompiledStateGraph }: Pick<GraphLibrary['langgraph'], 'CompiledStateGraph'>,
): 'task' | 'graph' {
  const text = String(Reflect.get(CompiledStateGraph.prototype, '_streamIterator'))
  return text.includes('namespaceOptions') ? 'graph' : 'task'
}
