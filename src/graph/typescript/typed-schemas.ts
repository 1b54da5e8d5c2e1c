/** Schemas known at run time, completed by those that types say. Pure. */

import { memberOf, objectOf } from '../../json/index.ts'
import type { GraphSchemas } from '../execution.ts'
import type { TypedNode, TypedSchemas } from './graph-types.ts'
import type { JsonSchema } from './type-schema.ts'

/** True if types could add to the schemas: a field may be anything, or no schema is known. */
export function lacksTypes({ input_schema, output_schema, state_schema }: GraphSchemas): boolean {
  return [input_schema, output_schema, state_schema].some((schema) =>
    isEmpty(schema) || Object.values(propertiesOf(schema)).some(isEmpty)
  )
}

/**
 * Fills in what is not known at run time. The fields stay those of run time: types may be wider, as
 * those of a graph that a function makes.
 */
export function withTypes(schemas: GraphSchemas, typed: TypedSchemas | undefined): GraphSchemas {
  if (typed === undefined) return schemas
  const { input, output, state, context } = typed
  return {
    input_schema: filled(schemas.input_schema, input),
    output_schema: filled(schemas.output_schema, output),
    state_schema: filled(schemas.state_schema, state),
    config_schema: schemas.config_schema ?? context ?? null,
    context_schema: schemas.context_schema ?? context ?? null,
  }
}

/**
 * The types of the subgraph at a namespace: of the graph that is added under this name and has the
 * same fields. Undefined if several fit that differ.
 */
export function nodeTypes(nodes: readonly TypedNode[], namespace: string, schemas: GraphSchemas):
  | TypedSchemas
  | undefined {
  const name = namespace.split('|').at(-1)
  const fields = fieldsOf(schemas.state_schema)
  const fitting = nodes.filter(({ node, schemas: { state } }) =>
    node === name && fieldsOf(state) === fields
  ).map(({ schemas }) => JSON.stringify(schemas))
  return new Set(fitting).size === 1 ? JSON.parse(fitting[0]!) as TypedSchemas : undefined
}

function filled(schema: unknown, typed: JsonSchema | undefined): unknown {
  if (typed === undefined) return schema
  if (isEmpty(schema)) return typed
  const own = propertiesOf(schema)
  const known = propertiesOf(typed)
  if (!Object.entries(own).some(([name, value]) => isEmpty(value) && !isEmpty(known[name]))) {
    return schema
  }
  const properties = Object.fromEntries(
    Object.entries(own).map(([name, value]) => [name, isEmpty(value) ? known[name] ?? {} : value]),
  )
  const { definitions } = typed
  return { ...objectOf(schema), properties, ...definitions !== undefined && { definitions } }
}

function propertiesOf(schema: unknown): Readonly<Record<string, unknown>> {
  return objectOf(memberOf(schema, 'properties'))
}

function fieldsOf(schema: unknown): string {
  return JSON.stringify(Object.keys(propertiesOf(schema)).toSorted())
}

/** True if a schema is missing or has no members. */
function isEmpty(schema: unknown): boolean {
  return schema == null || Object.keys(schema).length === 0
}
