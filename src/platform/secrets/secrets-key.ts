/** The keys of all secrets, which a setting names a file of. */

import { readFileSync, statSync } from 'node:fs'

import { HeddleError } from '../../errors.ts'
import { namesOf } from '../../settings/index.ts'
import { keysIn, secretsKeyBytes } from './secret-box.ts'

/** The keys at the time of a call. The first seals, all open. */
export type SecretsKeys = () => readonly Uint8Array[]

/** Keys that a file may hold. */
const keysMax = 8

/**
 * Reads the keys, and again when the file was changed, so that a key is replaced without a stop. A
 * changed file that cannot be used is ignored. Throws `invalid` if the file cannot be read at
 * first, or has another length than one or several keys.
 */
export function readSecretsKeys(file: string): SecretsKeys {
  let read = { keys: keysOf(file), changedMs: changedMsOf(file) }
  return () => {
    try {
      const changedMs = changedMsOf(file)
      if (changedMs !== read.changedMs) read = { keys: keysOf(file), changedMs }
    } catch {
      // Somebody replaces it just now, or has made a mistake.
    }
    return read.keys
  }
}

function keysOf(file: string): readonly Uint8Array[] {
  const bytes = bytesOf(file)
  const count = bytes.length / secretsKeyBytes
  if (Number.isInteger(count) && count >= 1 && count <= keysMax) return keysIn(bytes)
  throw new HeddleError('invalid', `${namesOf('secretsKey')}: ${file} has ${bytes.length} bytes ` +
    `and must have ${secretsKeyBytes} for each of up to ${keysMax} keys: ` +
    `\`head -c ${secretsKeyBytes} /dev/urandom > ${file}\`.`)
}

function changedMsOf(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0
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
