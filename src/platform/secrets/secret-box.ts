/** Seals secrets, so that what is stored says nothing of them. */

import { createCipheriv, createDecipheriv } from 'node:crypto'

import { HeddleError } from '../../errors.ts'

/** Where a secret belongs. It cannot be opened as if it were another one. */
export interface SecretName {
  readonly tenant: string
  readonly name: string
}

/** Bytes of the key of all secrets. */
export const secretsKeyBytes = 32

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

/** The value. Throws `invalid` if it was sealed with another key, or for another place. */
export function opened(key: Uint8Array, place: SecretName, box: string): string {
  const bytes = Buffer.from(box, 'base64')
  try {
    const open = createDecipheriv(cipher, key, bytes.subarray(0, nonceBytes))
      .setAAD(boundTo(place))
      .setAuthTag(bytes.subarray(nonceBytes, nonceBytes + tagBytes))
    const value = open.update(bytes.subarray(nonceBytes + tagBytes))
    return Buffer.concat([value, open.final()]).toString()
  } catch {
    throw new HeddleError('invalid', `The secret ${place.name} was stored with another key than ` +
      'that of `--secrets-key`: set it anew.')
  }
}

function boundTo({ tenant, name }: SecretName): Uint8Array {
  return Buffer.from(JSON.stringify([tenant, name]))
}
