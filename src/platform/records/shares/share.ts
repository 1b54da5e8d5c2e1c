/** Shares: objects that anyone with a token may read, without a key. Pure. */

import { hash } from 'node:crypto'

import { namedId } from '../catalog/named-id.ts'
import type { DocumentPlace } from '../../spans/document-port.ts'
import { uuidOfBytes } from '../../../uuid-bytes.ts'
import type { Uuid } from '../../spans/span.ts'

/** Object that a share shows: a trace, a conversation or a dataset. */
export type SharedObject =
  /** A trace of a project, by its root. */
  | { readonly kind: 'run'; readonly project: Uuid; readonly id: Uuid }
  /** A conversation of a project: all of its traces. */
  | { readonly kind: 'thread'; readonly project: Uuid; readonly id: string }
  | { readonly kind: 'dataset'; readonly id: Uuid }

/** A share, as the record of a catalog keeps it. */
export interface Share {
  readonly tenant: string
  readonly object: SharedObject
  readonly token: string
}

/** Name of the record of a share: an object has one share. */
export function shareName(object: SharedObject): string {
  return JSON.stringify(object.kind === 'dataset'
    ? [object.kind, object.id]
    : [object.kind, object.project, object.id])
}

/** The id of the record of a share. */
export function shareId(object: SharedObject): Uuid {
  return namedId('share', shareName(object))
}

/** A token of 122 random bits: clients refuse all texts but UUIDs. */
export function shareToken(secret: string): string {
  const bytes = hash('sha256', secret, 'buffer').subarray(0, 16)
  bytes[6] = bytes[6]! & 0x0f | 0x40
  bytes[8] = bytes[8]! & 0x3f | 0x80
  return uuidOfBytes(bytes)
}

/**
 * Place of the document that maps a token to its share. It is a hash of the token, so only its
 * holder can compute it.
 */
export function tokenPlace(token: string): DocumentPlace {
  const owner = uuidOfBytes(hash('sha256', `share ${token}`, 'buffer').subarray(0, 16))
  return { tenant: '', kind: 'share_token', owner }
}
