/** Seals secrets, so that stored bytes reveal nothing of them. */

import { createCipheriv, createDecipheriv } from 'node:crypto'

import { HeddleError } from '../../../errors.ts'

/** Owner and name of a secret. They are sealed with it: it cannot be opened as another one. */
export interface SecretName {
  readonly tenant: string
  readonly name: string
}

/** Bytes of a key of secrets. */
export const secretsKeyBytes = 32

/** The keys in a file: the first seals, all open. */
export function keysIn(bytes: Uint8Array): readonly Uint8Array[] {
  return Array.from({ length: Math.floor(bytes.length / secretsKeyBytes) },
    (_, index) => bytes.subarray(index * secretsKeyBytes, (index + 1) * secretsKeyBytes))
}

const cipher = 'aes-256-gcm'
const [nonceBytes, tagBytes] = [12, 16]

/** The sealed value, in base64. `random` are at least 12 bytes that are used once. */
export function sealed(key: Uint8Array, place: SecretName, value: string,
  random: Uint8Array): string {
  const nonce = random.subarray(0, nonceBytes)
  const box = createCipheriv(cipher, key, nonce).setAAD(boundTo(place))
  const bytes = Buffer.concat([box.update(value, 'utf8'), box.final()])
  return Buffer.concat([nonce, box.getAuthTag(), bytes]).toString('base64')
}

/** A value, and which of the keys opened it. */
export interface Opened {
  readonly value: string
  readonly keyIndex: number
}

/** Opens a value. Throws `invalid` if it was sealed with no such key, or for another place. */
export function opened(keys: readonly Uint8Array[], place: SecretName, box: string): Opened {
  const bytes = Buffer.from(box, 'base64')
  for (const [keyIndex, key] of keys.entries()) {
    const value = openedWith(key, place, bytes)
    if (value !== undefined) return { value, keyIndex }
  }
  throw new HeddleError('invalid', `The secret ${place.name} was stored with another key than ` +
    'that of `--secrets-key`: set it anew.')
}

function openedWith(key: Uint8Array, place: SecretName, bytes: Uint8Array): string | undefined {
  try {
    const open = createDecipheriv(cipher, key, bytes.subarray(0, nonceBytes))
      .setAAD(boundTo(place))
      .setAuthTag(bytes.subarray(nonceBytes, nonceBytes + tagBytes))
    const value = open.update(bytes.subarray(nonceBytes + tagBytes))
    return Buffer.concat([value, open.final()]).toString()
  } catch {
    return undefined
  }
}

function boundTo({ tenant, name }: SecretName): Uint8Array {
  return Buffer.from(JSON.stringify([tenant, name]))
}
