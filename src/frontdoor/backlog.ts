/** What may wait for a reader that does not keep up, and how long, before it is sent away. */

export const backlog = { events: 1_000, characters: 1024 * 1024, ticks: 60 } as const
