/** The key of all secrets, which a setting names a file of. */

import { readFileSync } from 'node:fs'

import { HeddleError } from '../../errors.ts'
import { namesOf } from '../../settings/index.ts'
import { secretsKeyBytes } from './secret-box.ts'

/** Reads the key. Throws `invalid` if the file cannot be read, or has another length. */
export function readSecretsKey(file: string): Uint8Array {
  const bytes = bytesOf(file)
  if (bytes.length === secretsKeyBytes) return bytes
  throw new HeddleError('invalid', `${namesOf('secretsKey')}: ${file} has ${bytes.length} bytes ` +
    `and must have ${secretsKeyBytes}: \`head -c 32 /dev/urandom > ${file}\`.`)
}

function bytesOf(file: string): Uint8Array {
  try {
    return readFileSync(file)
  } catch (error) {
    const { message } = error as Error
    throw new HeddleError('invalid', `${namesOf('secretsKey')}: ${file} cannot be read: ` +
      `${message}.`, {}, { cause: error })
  }
}
