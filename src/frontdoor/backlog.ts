/** How much of a run may wait for a reader that does not keep up, before it is sent away. */

export const backlog = { events: 1_000, characters: 1024 * 1024 } as const
