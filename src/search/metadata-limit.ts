/** Bound on the length of the metadata of a thread, a run or an assistant. */

import { HeddleError } from '../errors.ts'
import { metadataCharactersMax } from '../json/index.ts'

/**
 * Throws `invalid` if the metadata is too long, unless what it was made from was as long already.
 */
export function requireShort(metadataJson: string, before: string): void {
  if (metadataJson.length <= Math.max(metadataCharactersMax, before.length)) return
  throw new HeddleError('invalid', 'metadata: with this it would be longer than ' +
    `${metadataCharactersMax / 1024} KB of JSON.`)
}
