/** Files that settings name: what is in them, or a message that says which one is at fault. */

import { readFileSync } from 'node:fs'

import { HeddleError, messageOf } from '../errors.ts'
import { namesOf } from './known-settings.ts'
import type { SettingName } from './known-settings.ts'

/** Reads the file that a setting names. Throws HeddleError `invalid` if it cannot be read. */
export function readSettingFile(name: SettingName, file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    throw new HeddleError('invalid',
      `${namesOf(name)}: ${file} cannot be read: ${messageOf(error)}.`, {}, {
      cause: error,
    })
  }
}
