/** The data directory, which is checked before anything of a project is loaded. */

import { accessSync, constants, mkdirSync } from 'node:fs'

import { HeddleError } from '../../errors.ts'
import { memberOf } from '../../json/index.ts'
import { namesOf } from '../../settings/index.ts'
import type { Settings } from '../../settings/index.ts'

/** Creates the directory if it is missing. Throws HeddleError if it cannot be written to. */
export function requireDataDirectory({ dataDirectory }: Pick<Settings, 'dataDirectory'>): void {
  try {
    mkdirSync(dataDirectory, { recursive: true })
    accessSync(dataDirectory, constants.R_OK | constants.W_OK | constants.X_OK)
  } catch (error) {
    throw new HeddleError('unavailable',
      `The data directory ${dataDirectory} cannot be written (${
        String(memberOf(error, 'code'))
      }): ` +
        `allow this user to write there, or choose another one with ${namesOf('data')}.`, {}, {
      cause: error,
    })
  }
}
