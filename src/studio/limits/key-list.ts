/** Filter of the keys, and the state of each. */

import type { ApiKey } from '../api/keys.ts'

/**
 * valid    it works
 * ending   it works, and ends within a week
 * expired  its time has come
 * revoked  somebody ended it
 */
export type KeyState = 'valid' | 'ending' | 'expired' | 'revoked'

const soonMs = 7 * 86_400_000

/** The state of a key at a time. */
export function keyState({ revoked_at: revoked, expires_at: expires }: ApiKey,
  nowMs: number): KeyState {
  if (revoked !== null) return 'revoked'
  if (expires === null) return 'valid'
  const leftMs = Date.parse(expires) - nowMs
  if (leftMs <= 0) return 'expired'
  return leftMs < soonMs ? 'ending' : 'valid'
}

/** True if a key works. */
export const isValid = (key: ApiKey, nowMs: number): boolean =>
  ['valid', 'ending'].includes(keyState(key, nowMs))

/** The keys that a filter leaves: valid ones, or all, whose name or id has the text in it. */
export function keysFor(keys: readonly ApiKey[],
  options: { readonly find: string; readonly ended: boolean;
    readonly nowMs: number }): readonly ApiKey[] {
  const find = options.find.trim().toLowerCase()
  return keys.filter((key) =>
    (options.ended || isValid(key, options.nowMs)) &&
    (find === '' || key.name.toLowerCase().includes(find) || key.id.startsWith(find))
  )
}

/** "in 3 days", "today"; the date if it is far. */
export function endText(iso: string, nowMs: number): string {
  const days = Math.floor((Date.parse(iso) - nowMs) / 86_400_000)
  if (days < 0) return iso.slice(0, 10)
  if (days === 0) return 'within a day'
  return days < 60 ? `in ${days} ${days === 1 ? 'day' : 'days'}` : iso.slice(0, 10)
}
