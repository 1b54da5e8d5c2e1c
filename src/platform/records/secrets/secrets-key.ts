/** The keys of all secrets, from a file that a setting names. */

import { existsSync, linkSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'

import { HeddleError } from '../../../errors.ts'
import { namesOf } from '../../../settings/index.ts'
import { keysIn, secretsKeyBytes } from './secret-box.ts'

/**
 * The keys at the time of a call. The first seals, all open. To seal, a server may make a key that
 * does not exist yet.
 */
export type SecretsKeys = (use?: 'seal') => readonly Uint8Array[]

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
      // The file is being replaced just now, or is wrong.
    }
    return read.keys
  }
}

/**
 * The keys of a server that names no file: they are in a file of its own, which is made when a
 * secret is first sealed, and which its user alone may read. `random` gives the bytes of a key.
 */
export function ownSecretsKeys(file: string, random: () => Uint8Array): SecretsKeys {
  let keys: SecretsKeys | undefined
  return (use) => {
    if (keys === undefined && use === 'seal') makeKey(file, random())
    if (keys === undefined && !existsSync(file)) return []
    keys ??= readSecretsKeys(file)
    return keys()
  }
}

/** Writes a key to a new file, whole at once. An existing file stays. */
function makeKey(file: string, key: Uint8Array): void {
  if (existsSync(file)) return
  const draft = `${file}.${process.pid}`
  writeFileSync(draft, key.subarray(0, secretsKeyBytes), { mode: 0o600, flush: true })
  try {
    linkSync(draft, file)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  } finally {
    rmSync(draft, { force: true })
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
