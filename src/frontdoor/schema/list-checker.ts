/** Checks bodies that are lists of objects. */

import type { Static, TArray, TObject } from 'typebox'

import { HeddleError } from '../../errors.ts'
import { isObject } from '../../json/index.ts'
import type { UndeclaredMembers } from './undeclared.ts'
import { checkerOf, invalid } from './validation.ts'
import type { Checker, Fault } from './validation.ts'

/** The schema of a body that is a list of objects, with both bounds. */
export type ListSchema<Item extends TObject = TObject> = TArray<Item> & {
  readonly minItems: number
  readonly maxItems: number
}

/**
 * The checker of a list. Fields of its objects may be spelled `inCamelCase` too; `in_snake_case`
 * wins. Throws `invalid` with the faults of the first wrong object, whose index begins each field.
 */
export function listCheckerOf<Item extends TObject>(
  { items, minItems, maxItems }: ListSchema<Item>,
  undeclared: UndeclaredMembers = 'dropped',
): Checker<Static<Item>[]> {
  const check = checkerOf(items, undeclared)
  const { 'x-not-offered': unoffered = [] } = items as { 'x-not-offered'?: readonly string[] }
  const spellings = [...Object.keys(items.properties), ...unoffered]
    .map((name) => [name, inCamelCase(name)] as const)
  return (value) => {
    if (!Array.isArray(value) || value.length < minItems || value.length > maxItems) {
      const message = `The body must be an array of ${minItems} to ${maxItems} objects`
      throw invalid([{ field: '', message }])
    }
    return value.map((item, index) => {
      try {
        return check(inSnakeCase(spellings, item))
      } catch (error) {
        throw errorAt(index, error)
      }
    })
  }
}

/** The error about an object of a list: its index is in the message, and before each field. */
export function errorAt(index: number, caught: unknown): HeddleError {
  const { code, message, details, cause } = HeddleError.from(caught)
  const faults = (details as { readonly errors?: readonly Fault[] }).errors
  const errors = faults?.map(({ field, message: about }) => ({
    field: field === '' ? String(index) : `${index}.${field}`,
    message: about,
  }))
  return new HeddleError(code, `${index}: ${message}`, { ...details,
    ...errors !== undefined && { errors } }, { cause })
}

function inCamelCase(name: string): string {
  return name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())
}

/** Takes only what the schema knows: a copy of very many fields takes seconds. */
function inSnakeCase(spellings: readonly (readonly [name: string, camel: string])[],
  item: unknown): unknown {
  if (!isObject(item)) return item
  const said = spellings.map(([name, camel]) =>
    [name, item[name] === undefined ? item[camel] : item[name]] as const
  )
  return Object.fromEntries(said.filter(([, value]) => value !== undefined))
}
