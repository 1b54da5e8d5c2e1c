/** Which members a member's log says are taken for dead, and why. */

export interface TakenForDead {
  readonly session: string
  readonly why: string
}

/** From everything that it printed; a last line that is not whole yet is left out. */
export function takenForDead(output: string): TakenForDead[] {
  return output.split('\n').slice(0, -1)
    .filter((line) => line.includes('"A member is taken for dead'))
    .map((line) => {
      const { member, why } = JSON.parse(line) as { member: { id: string }; why: string }
      return { session: member.id, why }
    })
}
