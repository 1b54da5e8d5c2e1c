/** API keys: what they look like, what is kept of them, and what they let one do. */

import { hash, timingSafeEqual } from 'node:crypto'

import type { Env } from '../../cluster/index.ts'

/**
 * admin      everything
 * developer  everything of a deployment
 * reader     looks, and changes nothing
 */
export const callerRoles = ['admin', 'developer', 'reader'] as const

export type CallerRole = typeof callerRoles[number]

/** What is kept of a key. Never its text. */
export interface KeyRow {
  readonly id: string
  /** Whose things it opens. */
  readonly tenant: string
  readonly role: CallerRole
  /** For people to know it by; may be empty. */
  readonly name: string
  /** SHA-256 of the whole text in hex: the text is chance, so that nobody can go back from here. */
  readonly hash: string
  readonly createdAtMs: number
  /** Null where it has none. */
  readonly expiresAtMs: number | null
  /** To the minute; null where it was never used. */
  readonly usedAtMs: number | null
  /** Null while it is good. */
  readonly revokedAtMs: number | null
}

export interface NewKey extends Pick<KeyRow, 'tenant' | 'role' | 'name' | 'expiresAtMs'> {
  readonly region: string
}

const textForm = /^hdl_([a-z]{2,8})_([0-9a-f]{16})_[\w-]{43}$/

/** Looks like a key of any region: never to be shown to anybody. */
export const keyLookalike = /hdl_[a-z]{2,8}_[0-9a-f]{16}_/

const tenantForm = /^[A-Za-z0-9][\w.-]{0,63}$/

/** Letters, digits, dots, dashes and underscores, up to 64: tenants are parts of many names. */
export function isTenant(text: string): boolean {
  return tenantForm.test(text)
}

/** `text` is shown once and kept by nobody here. */
export function makeKey({ region, ...wish }: NewKey, env: Env): { text: string; row: KeyRow } {
  const id = env.uuid().replaceAll('-', '').slice(-16)
  const text = `hdl_${region}_${id}_${env.secret()}`
  const row = { ...wish, id, hash: hashOf(text), createdAtMs: env.nowMs(),
    usedAtMs: null, revokedAtMs: null }
  return { text, row }
}

/** The region and the id in a key's text; undefined where it is none. */
export function readKey(text: string): { region: string; id: string } | undefined {
  const [, region, id] = textForm.exec(text) ?? []
  return region === undefined || id === undefined ? undefined : { region, id }
}

export function hashOf(text: string): string {
  return hash('sha256', text)
}

/** Whether the row is of the key with this hash; takes as long where it is not. */
export function isHashOf(hashed: string, { hash: kept }: KeyRow): boolean {
  return timingSafeEqual(Buffer.from(hashed, 'hex'), Buffer.from(kept, 'hex'))
}

/** Why a key is not good any more; undefined where it is. */
export function keyFault({ revokedAtMs, expiresAtMs }: KeyRow, nowMs: number): string | undefined {
  if (revokedAtMs !== null) return 'This API key was revoked; ask for another.'
  if (expiresAtMs !== null && expiresAtMs <= nowMs) return 'This API key expired; ask for another.'
  return undefined
}
