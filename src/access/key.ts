/** API keys: their format, what is stored of them, and what they permit. */

import { hash, timingSafeEqual } from 'node:crypto'

import type { Env } from '../../cluster/index.ts'

/**
 * admin      everything
 * developer  everything of a deployment
 * reader     reads, and changes nothing
 * deployer   deploys, and reads no data
 */
export const callerRoles = ['admin', 'developer', 'reader', 'deployer'] as const

/** Role of a caller, which says what it may do. */
export type CallerRole = typeof callerRoles[number]

/** Stored fields of a key, which never include its text. */
export interface KeyRow {
  readonly id: string
  /** The tenant to whose data it gives access. */
  readonly tenant: string
  /** The only deployment that it may call; null for a key of the whole tenant. */
  readonly deployment: string | null
  readonly role: CallerRole
  /** A name for people; may be empty. */
  readonly name: string
  /** SHA-256 of the whole text in hex. The text is random, so no salt is needed. */
  readonly hash: string
  readonly createdAtMs: number
  /** Null if it never expires. */
  readonly expiresAtMs: number | null
  /** Exact to the minute; null if it was never used. */
  readonly usedAtMs: number | null
  /** Null unless it was revoked. */
  readonly revokedAtMs: number | null
}

/** Fields from which a key is made. */
export interface NewKey extends Pick<KeyRow, 'tenant' | 'role' | 'name' | 'expiresAtMs'> {
  readonly region: string
  /** The only deployment that it may call; any by default. */
  readonly deployment?: string | null | undefined
}

const textForm = /^hdl_([a-z]{2,8})_([0-9a-f]{16})_[\w-]{43}$/

/** Finds anything that looks like a key of any region, which must never be shown. */
export const keyLookalike = /hdl_[a-z]{2,8}_[0-9a-f]{16}_/

const tenantForm = /^[A-Za-z0-9][\w.-]{0,63}$/

/**
 * True for a tenant's name: letters, digits, dots, dashes and underscores, up to 64. Tenants are
 * parts of many names.
 */
export function isTenant(text: string): boolean {
  return tenantForm.test(text)
}

/** Makes a key. `text` is shown once and never stored. */
export function makeKey({ region, deployment = null, ...options }: NewKey,
  env: Env): { text: string; row: KeyRow } {
  const id = env.uuid().replaceAll('-', '').slice(-16)
  const text = `hdl_${region}_${id}_${env.secret()}`
  const row = { ...options, deployment, id, hash: hashOf(text), createdAtMs: env.nowMs(),
    usedAtMs: null, revokedAtMs: null }
  return { text, row }
}

/**
 * The tenant of a key as stores have it. With a deployment it is that namespace, so that programs
 * which do not know of deployments give the key access to nothing else.
 */
export function storedTenant(
  { tenant, deployment }: Pick<KeyRow, 'tenant' | 'deployment'>,
): string {
  return deployment === null ? tenant : `${tenant}@${deployment}`
}

/** Reads the text that `storedTenant` made. */
export function readStoredTenant(text: string): Pick<KeyRow, 'tenant' | 'deployment'> {
  const at = text.indexOf('@')
  return at < 0
    ? { tenant: text, deployment: null }
    : { tenant: text.slice(0, at), deployment: text.slice(at + 1) }
}

/** The region and the id in the text of a key; undefined if it is not a key. */
export function readKey(text: string): { region: string; id: string } | undefined {
  const [, region, id] = textForm.exec(text) ?? []
  return region === undefined || id === undefined ? undefined : { region, id }
}

/** SHA-256 of a text, in hex. */
export function hashOf(text: string): string {
  return hash('sha256', text)
}

/** True if the row is of the key with this hash. Takes the same time if it is not. */
export function isHashOf(hashed: string, { hash: kept }: KeyRow): boolean {
  return timingSafeEqual(Buffer.from(hashed, 'hex'), Buffer.from(kept, 'hex'))
}

/** Reason why a key is no longer valid; undefined if it is valid. */
export function keyFault({ revokedAtMs, expiresAtMs }: KeyRow, nowMs: number): string | undefined {
  if (revokedAtMs !== null) return 'This API key was revoked; ask for another.'
  if (expiresAtMs !== null && expiresAtMs <= nowMs) return 'This API key expired; ask for another.'
  return undefined
}
