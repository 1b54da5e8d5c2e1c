/** What may wait for a client that does not keep up, and how long, before it is disconnected. */

export const backlog = { events: 1_000, characters: 1024 * 1024, ticks: 60 } as const
