/** Searches for lists and their runs: what was acknowledged before is found, whoever owns it. */

import type { Checker } from './checker.ts'
import { hasLives } from './life-clients.ts'
import type { LifeClients } from './life-clients.ts'
import type { Member } from './member.ts'

interface Search {
  readonly list: string
  readonly members: readonly Member[]
  readonly checker: Checker
  readonly clients: LifeClients
  readonly isHurting: () => boolean
}

/** Asks each of the members, of which the owner answers, for the list, or for its runs. */
export function searchAll(search: Search): void {
  const ask = hasLives(search.list) ? searchRuns : searchItems
  for (const member of search.members) ask(search, member)
}

function searchItems({ list, checker, isHurting }: Search, { process, found }: Member): void {
  const asked = checker.ask(list)
  const hear = (items: readonly string[] | undefined) => {
    if (items && isHurting()) checker.searched(asked, items)
  }
  process.after(process.world.chance.between(0.1, 2), () => void found(list).then(hear, () => {}))
}

function searchRuns({ list, clients, isHurting }: Search, { process, foundRuns }: Member): void {
  const { world } = process
  const asked = world.nowMs
  const ask = async () => {
    const runs = await foundRuns(list)
    if (runs && isHurting()) clients.searched(list, runs, asked)
  }
  process.after(world.chance.between(0.1, 2), () => void ask().catch(() => {}))
}
