/** Keys of runs: what the code of a graph calls its own server with, while it is executed. */

import type { Env } from '../../cluster/index.ts'
import { hashOf } from './key.ts'

/**
 * The keys of the executions of this process. They are in memory only: a graph is executed beside
 * the server that it calls. A run is started by whoever may change its data, so that a key gives
 * that, in the namespace of the run, and nothing else.
 */
export class RunKeys {
  readonly #env: Pick<Env, 'uuid' | 'secret'>
  /** Namespaces by the hash of the key. */
  readonly #namespaces = new Map<string, string>()

  constructor(env: Pick<Env, 'uuid' | 'secret'>) {
    this.#env = env
  }

  /** Makes a key. It has the form of all keys, so that it is hidden wherever these are. */
  issue(namespace: string): string {
    const id = this.#env.uuid().replaceAll('-', '').slice(0, 16)
    const key = `hdl_run_${id}_${this.#env.secret()}`
    this.#namespaces.set(hashOf(key), namespace)
    return key
  }

  /** Ends a key. Nothing is done with one that has ended. */
  revoke(key: string): void {
    this.#namespaces.delete(hashOf(key))
  }

  /** The namespace of a key; undefined for a key of no run, or one that has ended. */
  find(key: string): string | undefined {
    return key.startsWith('hdl_run_') ? this.#namespaces.get(hashOf(key)) : undefined
  }
}
