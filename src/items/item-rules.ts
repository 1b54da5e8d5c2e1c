/** Rules for a namespace, a key, a value and a filter, and bounds on their lengths. */

import { HeddleError } from '../errors.ts'

/** Labels of a namespace at most, and characters of a label. */
const [depthMax, labelMax] = [32, 256]
/** Characters of a key. */
const keyMax = 1_024
/** Characters of a value as JSON. */
const valueMax = 512 * 1024
/** Characters of a filter as JSON. Bounded, because it is compared with every item. */
const filterMax = 16 * 1024

/** Not allowed in a label: the separators of namespaces on the wire and in other stores, NUL. */
const forbidden = ['.', ':', '\0'] as const

/** Throws `invalid` unless these can be the first labels of a namespace. */
export function requireLabels(field: string, labels: readonly unknown[]): void {
  if (labels.length > depthMax) throw fault(field, `must not have more than ${depthMax} labels`)
  for (const [index, label] of labels.entries()) {
    const at = `${field}.${index}`
    if (typeof label !== 'string') throw fault(at, 'must be a string')
    if (label === '') throw fault(at, 'must not be empty')
    if (label.length > labelMax) throw fault(at, `must not have more than ${labelMax} characters`)
    requireWellFormed(at, label)
    const wrong = forbidden.find((each) => label.includes(each))
    if (wrong !== undefined) throw fault(at, `must not contain ${JSON.stringify(wrong)}`)
  }
}

/** Throws `invalid` unless items can be put into this namespace. */
export function requireNamespace(labels: readonly unknown[]): void {
  if (labels.length === 0) throw fault('namespace', 'must not be empty')
  requireLabels('namespace', labels)
  if (labels[0] === 'langgraph') throw fault('namespace.0', 'must not be "langgraph"')
}

/** Throws `invalid` unless it can be the key of an item. */
export function requireKey(key: unknown): void {
  if (typeof key !== 'string') throw fault('key', 'must be a string')
  if (key === '') throw fault('key', 'must not be empty')
  if (key.length > keyMax) throw fault('key', `must not have more than ${keyMax} characters`)
  requireWellFormed('key', key)
}

/** Half of a surrogate pair cannot be stored: the next owner would read another character. */
function requireWellFormed(field: string, text: string): void {
  if (!text.isWellFormed()) throw fault(field, 'must be well-formed Unicode')
}

/** Throws `too_large` for a value that is too long for an item. */
export function requireValueFits(valueJson: string): void {
  if (valueJson.length <= valueMax) return
  throw new HeddleError('too_large', `The value has ${valueJson.length} characters of JSON; an ` +
    `item may have ${valueMax}. Split it into several items.`, { bytes: valueJson.length })
}

/** Throws `invalid` for a filter that would take too long to search for. */
export function requireFilterFits(filter: unknown): void {
  if (filter === undefined || JSON.stringify(filter).length <= filterMax) return
  throw fault('filter', `may be ${filterMax} characters of JSON at most`)
}

/** The error for a wrong field. */
export function fault(field: string, message: string): HeddleError {
  return new HeddleError('invalid', `${field}: ${message}.`, { errors: [{ field, message }] })
}
