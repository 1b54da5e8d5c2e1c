/** The API keys of one tenant, as its admins manage them over the network. */

import { FairSemaphore } from '../../cluster/index.ts'
import type { Env } from '../../cluster/index.ts'
import { HeddleError } from '../errors.ts'
import { keyAdmin } from './key-admin.ts'
import type { KeyAdmin, KeyAdminParts, KeyDetails, KeyRequest } from './key-admin.ts'
import { keyFault } from './key.ts'
import type { KeyRow } from './key.ts'

/** Fields that an admin sets of a new key. `expiresAtMs` is null for a key that never expires. */
export interface TenantKeyRequest extends Pick<KeyRequest, 'name' | 'role' | 'deployment'> {
  readonly expiresAtMs: number | null
}

/** Keys of a tenant that may be valid at a time. */
const validMax = 1_000
/** Keys of a tenant in all: a revoked one keeps its row for ever. */
const keptMax = 10_000
/** Keys that a list shows. */
const listedMax = 1_000

/** A list reads the keys of all tenants, so few are read at once. */
const turns = { inAll: 4, each: 1, waiting: 256, waitingEach: 8,
  full: 'Too many requests about API keys wait already: ask again in a moment.' } as const

/** Manages the keys of tenants at one front door. No method shows another tenant's key. */
export class TenantKeys {
  readonly #table: KeyAdminParts['table']
  readonly #admin: KeyAdmin
  readonly #env: Pick<Env, 'nowMs'>
  readonly #turns = new FairSemaphore(turns)

  constructor(parts: KeyAdminParts) {
    this.#table = parts.table
    this.#env = parts.env
    this.#admin = keyAdmin(parts)
  }

  /** The newest first. */
  list(tenant: string): Promise<readonly KeyDetails[]> {
    return this.#inTurn(tenant, async () => (await this.#admin.list(tenant)).slice(0, listedMax))
  }

  /** `key` is its text, which is returned here and never again. Throws `out_of_quota`. */
  create(tenant: string,
    { expiresAtMs, ...options }: TenantKeyRequest): ReturnType<KeyAdmin['create']> {
    return this.#inTurn(tenant, async () => {
      const nowMs = this.#env.nowMs()
      if (expiresAtMs !== null && expiresAtMs <= nowMs) {
        throw new HeddleError('invalid', 'A key must expire in the future.')
      }
      requireRoom(await this.#table.list(tenant), nowMs)
      const expiresInMs = expiresAtMs === null ? null : expiresAtMs - nowMs
      return await this.#admin.create({ ...options, tenant, expiresInMs })
    })
  }

  /** Revokes a key for ever. Throws `not_found`, also for a key of another tenant. */
  async revoke(tenant: string, id: string): Promise<KeyDetails> {
    await this.get(tenant, id)
    return await this.#admin.revoke(id)
  }

  /** The row of a key. Throws `not_found`, also for a key of another tenant. */
  async get(tenant: string, id: string): Promise<KeyRow> {
    const row = await this.#table.get(id)
    if (row?.tenant === tenant) return row
    throw new HeddleError('not_found', 'There is no API key with this id.')
  }

  async #inTurn<Result>(tenant: string, work: () => Promise<Result>): Promise<Result> {
    const leave = await this.#turns.enter(tenant)
    try {
      return await work()
    } finally {
      leave()
    }
  }
}

function requireRoom(rows: readonly KeyRow[], nowMs: number): void {
  const valid = rows.filter((row) => keyFault(row, nowMs) === undefined).length
  if (valid < validMax && rows.length < keptMax) return
  throw new HeddleError('out_of_quota', valid < validMax
    ? `There were ${keptMax} API keys already, which is the quota of your tenant.`
    : `There are ${validMax} valid API keys already, which is the quota of your tenant: revoke ` +
      'some that you do not need.')
}
