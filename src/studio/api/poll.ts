/** Asks again and again while somebody looks, and rests when the server asks for patience. */

import { ApiError } from './client.ts'

/** A `refetchInterval`: the time, or what `Retry-After` says after a refusal. */
export const pollEvery = (ms: number) => ({ state: { error } }: { state: { error: unknown } }) =>
  error instanceof ApiError && error.retryAfterS !== null
    ? Math.max(ms, error.retryAfterS * 1_000)
    : ms
