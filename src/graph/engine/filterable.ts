/** The part of a run's `configurable` in its checkpoints' metadata, to filter a history by. */

/** Keys of the engine, of the checkpoint to begin at, and of request headers. */
const unnamed = /^(__|x-|checkpoint_)/
/** Python's engine leaves these out of metadata, too. */
const secretive = /key|token|secret|password|auth/i
/** Longer strings are left out: every superstep stores this, and nobody filters by a prompt. */
const charactersMax = 256

/** The short scalars of `configurable`, secrets left out. */
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
  return typeof value === 'string' ?
    value.length <= charactersMax
    : typeof value === 'number' || typeof value === 'boolean'
}
