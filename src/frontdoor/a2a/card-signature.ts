/** Signs agent cards: a JWS over their canonical JSON (RFC 8785), by the key of the server. */

import { createHash, createPrivateKey, createPublicKey, sign } from 'node:crypto'
import type { KeyObject } from 'node:crypto'

import { HeddleError } from '../../errors.ts'
import { isObject } from '../../json/index.ts'
import type { AgentCard } from './agent-card.ts'

/** Adds a signature to cards. */
export type SignCard = (card: AgentCard) => AgentCard

/** Algorithms of JWS by the kind of key: the curve of P-256 alone. */
const algorithms: Readonly<Record<string, string>> = { ec: 'ES256', rsa: 'RS256', ed25519: 'EdDSA' }

/** The signer with a private key in PEM. Throws `invalid` for a key that cannot sign. */
export function cardSigner(pem: string): SignCard {
  const key = keyIn(pem)
  const alg = algorithms[key.asymmetricKeyType ?? '']
  const { crv, kty, e, n, x, y } = createPublicKey(key).export({ format: 'jwk' })
  if (alg === undefined || (alg === 'ES256' && crv !== 'P-256')) throw unfit()
  // As RFC 7638 has it: the members that a key needs, in the order of their names.
  const jwk = kty === 'RSA' ? { e, kty, n } : kty === 'EC' ? { crv, kty, x, y } : { crv, kty, x }
  const kid = createHash('sha256').update(JSON.stringify(jwk)).digest('base64url')
  const header = encoded(JSON.stringify({ alg, typ: 'JOSE', kid }))
  return (card) => {
    const signed = Buffer.from(`${header}.${encoded(canonical(card))}`)
    const signature = sign(alg === 'EdDSA' ? null : 'sha256', signed, { key,
      dsaEncoding: 'ieee-p1363' })
    return { ...card,
      signatures: [{ protected: header, signature: signature.toString('base64url') }] }
  }
}

/** JSON with the members of objects in order, and nothing between them. */
export function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`
  if (!isObject(value)) return JSON.stringify(value) ?? 'null'
  const members = Object.keys(value).filter((name) => value[name] !== undefined).sort()
  return `{${members.map((name) => `${JSON.stringify(name)}:${canonical(value[name])}`).join(',')}}`
}

function keyIn(pem: string): KeyObject {
  try {
    return createPrivateKey(pem)
  } catch {
    throw unfit()
  }
}

function unfit(): HeddleError {
  return new HeddleError('invalid', 'The key of agent cards must be a private key in PEM without ' +
    'a password: an EC key of P-256, an RSA key, or an Ed25519 key.')
}

function encoded(text: string): string {
  return Buffer.from(text).toString('base64url')
}
