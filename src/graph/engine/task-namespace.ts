/** The namespaces in which the engine keeps the checkpoints of subgraphs. */

/**
 * Namespace of a subgraph that a task of the graph `above` runs. `calls` counts the subgraphs that
 * the task called before it. The root has the empty namespace.
 */
export function taskNamespace(above: string, node: string, taskId: string, calls = 0): string {
  return [...above === '' ? [] : [above], `${node}:${taskId}`, ...calls > 0 ? [calls] : []]
    .join('|')
}

/**
 * Namespace of a subgraph with a memory of its own, which is the same for all tasks of its node.
 */
export function memoryNamespace(ns: string): string {
  return ns.split('|').map((part) => part.split(':')[0]).join('|')
}
