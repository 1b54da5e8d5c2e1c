/** Query strings: converts texts to the booleans, numbers and lists of the schema. */

import type { TObject, TSchema } from 'typebox'

type Given = string | readonly string[]

/**
 * Converts a query for its schema. What cannot be converted stays as it is, for the check to
 * report. An empty value is left out: some clients write one for what they do not ask for. The
 * texts of a list that is `x-verbatim` stay as they are, empty ones as well.
 */
export function readQuery(schema: TObject,
  query: Readonly<Record<string, Given>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(query).flatMap(([name, given]) => {
    const property = Object.hasOwn(schema.properties, name) ? schema.properties[name] : undefined
    const shape = property as Shape | undefined
    if (shape?.['x-verbatim']) return [[name, [given].flat()]]
    const value = typeof given === 'string' ? given : given.filter((text) => text !== '')
    if (value.length === 0) return []
    return [[name, shape ? readAs(shape, value) : value]]
  }))
}

type Shape = TSchema & { readonly type?: string; readonly anyOf?: readonly Shape[];
  readonly 'x-verbatim'?: boolean }

/** Reads a list as a repeated key, one text with commas or, as some clients send it, JSON. */
function readAs(shape: Shape, given: Given): unknown {
  if (shape.anyOf !== undefined) {
    const readings = shape.anyOf.map((variant) => readAs(variant, given))
    return readings.find((reading) => reading !== given) ?? given
  }
  if (shape.type === 'array') return [given].flat().flatMap(listIn)
  if (typeof given !== 'string') return given
  if (shape.type === 'integer') return /^-?\d{1,15}$/.test(given) ? Number(given) : given
  if (shape.type === 'boolean') return booleans.get(given) ?? given
  return given
}

function listIn(text: string): readonly unknown[] {
  if (!text.startsWith('[')) return text.split(',')
  try {
    return JSON.parse(text) as unknown[]
  } catch {
    return [text]
  }
}

/** Clients in Python write their own `True` and `False`. */
const booleans = new Map([['true', true], ['True', true], ['1', true], ['false', false], ['False',
  false], ['0', false]])
