/** The namespace at which the project's copy of the engine streams calls of tools. */

import type { GraphLibrary } from '../project/library.ts'

/**
 * Namespace of calls: of the graph from 1.7.0 on, of the task before. The engine's own text says
 * it, also in a copy without a version.
 */
export function toolsAt(
  { CompiledStateGraph }: Pick<GraphLibrary['langgraph'], 'CompiledStateGraph'>,
): 'task' | 'graph' {
  const text = String(Reflect.get(CompiledStateGraph.prototype, '_streamIterator'))
  return text.includes('namespaceOptions') ? 'graph' : 'task'
}
