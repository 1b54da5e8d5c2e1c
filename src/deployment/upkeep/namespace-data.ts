/** Data that callers have stored in a namespace: threads, items, assistants, crons, traces. */

import type { Deployment } from '../deployment.ts'

/** The deployment of a namespace. */
export type NamespaceOwner = Pick<Deployment, 'id' | 'createdAtMs'>

/** The data of namespaces. All methods throw HeddleError. */
export interface NamespaceData {
  /** True if there are no threads, no items, no projects and no recorded calls. */
  isEmpty(namespace: string, owner: NamespaceOwner): Promise<boolean>
  /**
   * Removes all data of a namespace. Returns the number of things found: 0 says that nothing is
   * left. It may be called again, by several members at once too.
   */
  remove(namespace: string, owner: NamespaceOwner): Promise<number>
}
