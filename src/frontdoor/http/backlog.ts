/** Bounds on what waits for a slow client before the client is disconnected. */

/** Events, characters, and ticks without progress that a client may have waiting. */
export const backlog = { events: 1_000, characters: 1024 * 1024, ticks: 60 } as const
