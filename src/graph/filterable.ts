/** What checkpoints say of how their run was configured, for a history to be filtered by. */

/** The engine's own, where the run begins, and what the headers of its request said. */
const otherwise = /^(__|x-|checkpoint_)/
/** Python's engine leaves these out of metadata, too. */
const secretive = /key|token|secret|password|auth/i
/** Every superstep stores it, and nobody looks for a whole prompt. */
const charactersMax = 256

/** Of `configurable` the values that are no lists or objects, secrets left out. */
export function filterable(configurable: Readonly<Record<string, unknown>>):
Record<string, unknown> {
  return Object.fromEntries(Object.entries(configurable).filter(([name, value]) =>
    !otherwise.test(name) && !secretive.test(name) && isScalar(value)))
}

function isScalar(value: unknown): boolean {
  return typeof value === 'string' ? value.length <= charactersMax
    : typeof value === 'number' || typeof value === 'boolean'
}
