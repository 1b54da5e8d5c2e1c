/** What callers have stored in a namespace: threads, items, assistants, crons, traces. */

/** The data of namespaces. All methods throw HeddleError. */
export interface NamespaceData {
  /** True if there are no threads, no items and no projects. */
  isEmpty(namespace: string): Promise<boolean>
  /**
   * Removes all that is there. Returns how much it found: 0 says that nothing is left. It may be
   * called again, by several members at once too.
   */
  remove(namespace: string): Promise<number>
}
