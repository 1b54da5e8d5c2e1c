/** A member: one process that hosts actors, from its start to its end. */

/** The name and the address of one process. */
export interface Member {
  /** Made at each start and never used again. */
  readonly id: string
  /** Address at which other members reach it. */
  readonly address: string
}
