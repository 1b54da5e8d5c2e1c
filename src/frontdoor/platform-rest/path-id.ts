/** Ids in paths. */

import { HeddleError } from '../../errors.ts'
import { readUuid } from '../../platform/index.ts'
import type { Uuid } from '../../platform/index.ts'

/** The id. Throws `not_found` for what is no UUID, naming what it should be of. */
export function requireId(text: string, noun: string): Uuid {
  const id = readUuid(text)
  if (id === undefined) throw new HeddleError('not_found', `There is no such ${noun}.`)
  return id
}
