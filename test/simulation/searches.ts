/** Searches for lists: what was acknowledged before must be found, whoever owns the list. */

import type { Checker } from './checker.ts'
import type { Member } from './member.ts'

/** Searches the list at each of the members, of which the owner answers. */
export function searchAll(list: string, members: readonly Member[], checker: Checker,
  isHurting: () => boolean): void {
  for (const { process, found } of members) {
    const asked = checker.ask(list)
    const hear = (items: readonly string[] | undefined) => {
      if (items && isHurting()) checker.searched(asked, items)
    }
    process.after(process.world.chance.between(0.1, 2), () => void found(list).then(hear, () => {}))
  }
}
