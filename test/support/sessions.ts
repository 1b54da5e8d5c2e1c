/** An issuer of tokens for tests: its keys, and tokens signed by it and by others. */

import { generateKeyPairSync, sign } from 'node:crypto'
import type { KeyObject } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Name of the issuer in its tokens. */
export const issuer = 'https://issuer.example'

type Json = Readonly<Record<string, unknown>>

const base64 = (value: Json) => Buffer.from(JSON.stringify(value)).toString('base64url')

const pair = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const outsider = generateKeyPairSync('ec', { namedCurve: 'P-256' })

/** The JSON web key set of the issuer. */
export const keySet = {
  keys: [{ ...pair.publicKey.export({ format: 'jwk' }), kid: 'one', alg: 'ES256', use: 'sig' }],
}

const folder = mkdtempSync(join(tmpdir(), 'heddle-jwks-'))
process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
let files = 0

/** Path of a file with the issuer's keys. It is removed when the process ends. */
export function keySetFile(content: unknown = keySet): string {
  const path = join(folder, `keys-${++files}.json`)
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content))
  return path
}

/** What a token deviates in from a valid one. */
export interface TokenRequest {
  readonly claims?: Json
  readonly header?: Json
  readonly key?: KeyObject
  readonly nowMs?: number
}

/** A token: by default a valid one, of the user `ann` of `acme`, for ten minutes. */
export function token(
  { claims, header, key = pair.privateKey, nowMs = Date.now() }: TokenRequest = {},
): string {
  const nowS = Math.floor(nowMs / 1_000)
  const head = base64({ alg: 'ES256', kid: 'one', ...header })
  const body = base64({ iss: issuer, sub: 'ann', tenant: 'acme', iat: nowS, exp: nowS + 600,
    ...claims })
  const signature = sign('sha256', Buffer.from(`${head}.${body}`), { key,
    dsaEncoding: 'ieee-p1363' }).toString('base64url')
  return `${head}.${body}.${signature}`
}

/** A token signed by another key. */
export function forgedToken(options: TokenRequest = {}): string {
  return token({ ...options, key: outsider.privateKey })
}

/** A token that is not signed at all. */
export function bareToken(): string {
  const [, body] = token().split('.')
  return `${base64({ alg: 'none' })}.${body!}.`
}

/** A token that has expired. */
export function expiredToken(): string {
  return token({ nowMs: Date.now() - 700_000 })
}
