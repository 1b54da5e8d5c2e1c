/** Makes what is not there yet, for a caller that may not see all that is there. */

import { HeddleError } from '../../errors.ts'

/** Steps of it: `find` throws `exists` for what is not seen, and `make` for what is there. */
export interface FoundOrMade<Row> {
  /** Undefined for what is not there for anybody. */
  find(): Promise<Row | undefined>
  make(): Promise<Row>
}

/** Somebody else may make it meanwhile, so that what is there is never returned unseen. */
export async function foundOrMade<Row>({ find, make }: FoundOrMade<Row>): Promise<Row> {
  const found = await find()
  if (found !== undefined) return found
  try {
    return await make()
  } catch (error) {
    if (HeddleError.from(error).code !== 'exists') throw error
    const made = await find()
    if (made === undefined) throw error
    return made
  }
}
