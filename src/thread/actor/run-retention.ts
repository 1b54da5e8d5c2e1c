/** Keeps the thread of a stateless run until a client has got the run's end, or for a while. */

import type { RunRow } from '../../../proto/gen/storage/v1/row.ts'
import type { ThreadSetting } from '../context/thread-context.ts'
import { planOf } from '../model/run-request.ts'

export class RunLinger {
  readonly #setting: ThreadSetting
  #stopTimer: (() => void) | undefined
  /** Nobody can come back to the run that ended last. */
  #mayGo = false

  constructor(setting: ThreadSetting) {
    this.#setting = setting
  }

  /** A follower has got the end of a run. */
  heard(): void {
    if (this.#mayGo) this.#expire()
  }

  /** The run is over when `answered` resolves; `isHeard`: a client waits for that or follows. */
  ended(run: RunRow, answered: Promise<unknown>, isHeard: boolean): void {
    const { temporary, resumable } = planOf(run)
    // It stays for a client that can come back with a key or an event id.
    const mayGo = temporary && !resumable && run.commandId === ''
    answered.then(() => { this.#mayGo = mayGo }, () => {})
    if (temporary) this.begin(isHeard && mayGo ? answered : undefined)
  }

  /** The thread expires when `heard` resolves, or after a while. */
  begin(heard?: Promise<unknown>): void {
    const { env, limits } = this.#setting.ports
    heard?.then(() => this.#expire(), () => {})
    this.stop()
    this.#stopTimer = env.after(limits.lingerMs, () => this.#expire())
  }

  stop(): void {
    this.#stopTimer?.()
  }

  #expire(): void {
    this.#setting.tell({ type: 'expire' })
  }
}
