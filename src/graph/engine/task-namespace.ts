/** The namespaces in which the engine keeps the checkpoints of subgraphs. */

/**
 * That of the subgraph which a task of the graph `above` runs, after so many others that it called.
 * That of the root is empty.
 */
export function taskNamespace(above: string, node: string, taskId: string, calls = 0): string {
  return [...above === '' ? [] : [above], `${node}:${taskId}`, ...calls > 0 ? [calls] : []]
    .join('|')
}

/** That of a subgraph with a memory of its own: the same for all tasks of its node. */
export function memoryNamespace(ns: string): string {
  return ns.split('|').map((part) => part.split(':')[0]).join('|')
}
