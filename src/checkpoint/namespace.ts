/** Namespaces of graphs within graphs, as `search:1f|grade:2e`; the root's is empty. */

/** The namespace of the graph around the one at `ns`. */
export function namespaceAround(ns: string): string {
  return ns.slice(0, Math.max(0, ns.lastIndexOf('|')))
}
