/** Bounds on the metadata of threads, runs, assistants and crons. */

/** Top-level keys that metadata may have: search keeps an entry for each. */
export const metadataKeysMax = 256

/** Characters of its JSON. Bounded, as each checkpoint repeats it and searches look through it. */
export const metadataCharactersMax = 64 * 1024
