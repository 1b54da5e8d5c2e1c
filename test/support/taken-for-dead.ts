/** Which members a member's log says are taken for dead, and why. */

/** A member that another one fenced. */
export interface TakenForDead {
  readonly session: string
  readonly why: string
}

/** Reads them from everything that a member printed. An incomplete last line is left out. */
export function takenForDead(output: string): TakenForDead[] {
  return output.split('\n').slice(0, -1)
    .filter((line) => line.includes('"A member is taken for dead'))
    .map((line) => {
      const { member, why } = JSON.parse(line) as { member: { id: string }; why: string }
      return { session: member.id, why }
    })
}
