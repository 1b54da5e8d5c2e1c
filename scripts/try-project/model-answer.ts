/** A model of few words: one tool call if there are tools, then a text, or JSON by a schema. */

/** A JSON schema, as far as it is looked at. */
export type Schema = Readonly<Record<string, unknown>>

/** What was asked, in no dialect. */
export interface Question {
  readonly tools: readonly { readonly name: string; readonly schema: Schema | undefined }[]
  /** The tool that must be called. */
  readonly forced: string | undefined
  /** Whether a tool has answered since the person spoke last. */
  readonly hasToolAnswer: boolean
  /** The schema that the answer must have. */
  readonly format: Schema | undefined
}

/** What is answered, in no dialect. */
export type Answer =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'call'; readonly name: string; readonly input: unknown }

const words = 'The stub of models says hello.'

/** The same question has the same answer. */
export function answerTo({ tools, forced, hasToolAnswer, format }: Question): Answer {
  if (format !== undefined) return { kind: 'text', text: JSON.stringify(valueOf(format)) }
  const called = forced === undefined
    ? hasToolAnswer ? undefined : tools[0]
    : tools.find(({ name }) => name === forced) ?? tools[0]
  if (called === undefined) return { kind: 'text', text: words }
  return { kind: 'call', name: called.name, input: valueOf(called.schema ?? {}) }
}

/** The deepest value that is made: a schema may name itself. */
const depthMost = 8

/** The smallest value that fits a schema. */
export function valueOf(schema: Schema, root: Schema = schema, depth = 0): unknown {
  if (depth > depthMost) return null
  const inside = (one: unknown) => valueOf((one ?? {}) as Schema, root, depth + 1)
  if (typeof schema['$ref'] === 'string') return inside(atPointer(root, schema['$ref']))
  if ('const' in schema) return schema['const']
  if ('default' in schema) return schema['default']
  if (Array.isArray(schema['enum'])) return (schema['enum'] as unknown[])[0]
  const [choice] = [schema['anyOf'], schema['oneOf'], schema['allOf']].find(Array.isArray) ?? []
  if (choice !== undefined) return inside(choice)
  const [type] = [schema['type']].flat()
  if (type === 'object' || schema['properties'] !== undefined) {
    const properties = Object.entries((schema['properties'] ?? {}) as Schema)
    const required = (schema['required'] ?? []) as readonly string[]
    return Object.fromEntries(properties.filter(([name]) => required.includes(name))
      .map(([name, one]) => [name, inside(one)]))
  }
  if (type === 'array') return Number(schema['minItems'] ?? 0) > 0 ? [inside(schema['items'])] : []
  if (type === 'number' || type === 'integer') return schema['minimum'] ?? 1
  if (type === 'boolean') return false
  return type === 'null' ? null : 'stub'
}

function atPointer(root: Schema, pointer: string): unknown {
  return pointer.split('/').slice(1).reduce<unknown>(
    (value, step) => (value as Schema | undefined)?.[step],
    root,
  )
}
