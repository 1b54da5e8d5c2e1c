/** Data that callers have stored in a namespace: threads, items, assistants, crons, traces. */

/** The data of namespaces. All methods throw HeddleError. */
export interface NamespaceData {
  /** True if there are no threads, no items and no projects. */
  isEmpty(namespace: string): Promise<boolean>
  /**
   * Removes all data of a namespace. Returns the number of things found: 0 says that nothing is
   * left. It may be called again, by several members at once too.
   */
  remove(namespace: string): Promise<number>
}
