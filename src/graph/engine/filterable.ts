/**
 * The part of a run's `configurable` that checkpoints keep in their metadata, to filter a history
 * by.
 */

/** Keys of the engine, of the checkpoint to begin at, and of request headers. */
const unnamed = /^(__|x-|checkpoint_)/
/** Names of secrets. Python's engine leaves these out of metadata, too. */
const secretive = /key|token|secret|password|auth/i
/** Characters of a value. Longer ones are left out, because every superstep stores this. */
const charactersMax = 256

/** The short scalars of `configurable`, without secrets. */
export function filterable(
  configurable: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(configurable).filter(([name, value]) =>
      !unnamed.test(name) && !secretive.test(name) && isScalar(value)
    ),
  )
}

function isScalar(value: unknown): boolean {
  return typeof value === 'string'
    ? value.length <= charactersMax
    : typeof value === 'number' || typeof value === 'boolean'
}
