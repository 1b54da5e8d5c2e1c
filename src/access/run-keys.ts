/** Keys of runs: what the code of a graph calls its own server with, while it is executed. */

import type { Env } from '../../cluster/index.ts'
import { hashOf } from './key.ts'

/**
 * The keys of the executions of this process. They are in memory only: a graph is executed beside
 * the server that it calls. A run is started by whoever may change its data, so that a key gives
 * that, in the namespace of the run, and nothing else. Where a project has a login, a key goes as
 * the user who has started the run.
 */
export class RunKeys<User = unknown> {
  readonly #env: Pick<Env, 'uuid' | 'secret'>
  /** By the hash of the key. */
  readonly #runs = new Map<string,
    { readonly namespace: string; readonly user: User | undefined }>()

  constructor(env: Pick<Env, 'uuid' | 'secret'>) {
    this.#env = env
  }

  /** Makes a key. It has the form of all keys, so that it is hidden wherever these are. */
  issue(namespace: string, user?: User): string {
    const id = this.#env.uuid().replaceAll('-', '').slice(0, 16)
    const key = `hdl_run_${id}_${this.#env.secret()}`
    this.#runs.set(hashOf(key), { namespace, user })
    return key
  }

  /** Ends a key. Nothing is done with one that has ended. */
  revoke(key: string): void {
    this.#runs.delete(hashOf(key))
  }

  /** The namespace of a key; undefined for a key of no run, or one that has ended. */
  find(key: string): string | undefined {
    return this.#of(key)?.namespace
  }

  /** The user of the run of a key; undefined if nobody is asked for that run. */
  userOf(key: string): User | undefined {
    return this.#of(key)?.user
  }

  #of(key: string) {
    return key.startsWith('hdl_run_') ? this.#runs.get(hashOf(key)) : undefined
  }
}
