/** The sessions that are known to have ended, and the proofs of it. */

import type { Member } from '../member.ts'
import type { SessionPort } from './session-port.ts'

/** The arbiter, and the member in whose name sessions are ended. */
export interface EndedSessionsOptions {
  readonly self: Member
  readonly sessions: Pick<SessionPort, 'fence' | 'state'>
}

/** A read that says that a session has ended is no proof; a fence is one, whoever ended it. */
export class EndedSessions {
  readonly #options: EndedSessionsOptions
  readonly #ended = new Set<string>()
  /** Proofs, finished or under way, by session. */
  readonly #proofs = new Map<string, Promise<boolean>>()

  constructor(options: EndedSessionsOptions) {
    this.#options = options
  }

  /** True if the session is known to have ended. */
  has(id: string): boolean {
    return this.#ended.has(id)
  }

  /** Notes that a session has ended, although that is not proven. */
  note(id: string): void {
    this.#ended.add(id)
  }

  /** True if the session is alive in the store; one that is known to have ended costs no read. */
  async lives(id: string): Promise<boolean> {
    return !this.#ended.has(id) && await this.#options.sessions.state(id) === 'alive'
  }

  /** Ends the session unless it has ended. Resolves when that is proven. */
  async fence(id: string): Promise<void> {
    const { sessions, self } = this.#options
    await sessions.fence(id, self.id)
    this.#ended.add(id)
  }

  /** Notes that `fence` has proven it. */
  noteProven(id: string): void {
    this.#proofs.set(id, Promise.resolve(true))
  }

  /** The proof for the session, made once by `prove`; a `false` and a failure are forgotten. */
  proof(id: string, prove: () => Promise<boolean>): Promise<boolean> {
    const known = this.#proofs.get(id)
    if (known !== undefined) return known
    const proof = prove()
    this.#proofs.set(id, proof)
    const forget = () => this.#proofs.delete(id)
    proof.then((isProven) => {
      if (!isProven) forget()
    }, forget)
    return proof
  }
}
