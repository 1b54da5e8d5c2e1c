/** Schemas of run time, completed by types. */

import { describe, expect, it } from 'vitest'

import { lacksTypes, nodeTypes, withTypes } from '../../../../src/graph/typescript/typed-schemas.ts'

const object = (properties: object, more: object = {}) => ({ type: 'object', properties, ...more })
const schemas = (state: unknown, context: unknown = null) => ({ input_schema: state,
  output_schema: state, state_schema: state, config_schema: context, context_schema: context })
const text = { type: 'string' }
const number = { type: 'number' }

describe('types', () => {
  it('fill fields that may be anything, and leave all others', () => {
    const known = schemas(object({ a: {}, b: text, c: {} }, { required: ['b'] }))
    const definitions = { type1: text }
    const typed = object({ a: number, b: number, d: number }, { required: ['a'], definitions })
    expect(withTypes(known, { input: object({}), state: typed })).toEqual({
      ...known,
      state_schema: object({ a: number, b: text, c: {} }, { required: ['b'], definitions }),
    })
  })

  it('stand for a schema that is not known at all', () => {
    const typed = { input: text, output: number, context: object({ model: text }) }
    expect(withTypes(schemas(null), typed)).toEqual({ input_schema: text, output_schema: number,
      state_schema: null, config_schema: typed.context, context_schema: typed.context })
    expect(withTypes(schemas(null, object({ m: number })), typed))
      .toMatchObject({ context_schema: object({ m: number }) })
  })

  it('change nothing if there are none', () => {
    const known = schemas(object({ a: {} }))
    expect(withTypes(known, undefined)).toBe(known)
    expect(withTypes(known, {})).toEqual(known)
  })

  it('are asked for only where something is missing', () => {
    expect(lacksTypes(schemas(object({ a: text })))).toBe(false)
    for (const state of [null, {}, object({ a: text, b: {} })]) {
      expect(lacksTypes(schemas(state))).toBe(true)
    }
  })
})

describe('the types of a subgraph', () => {
  const state = object({ a: text, b: number })
  const known = schemas(object({ b: {}, a: {} }))

  it('are those of a node with its name and its fields', () => {
    const nodes = [{ node: 'sub', schemas: { state: object({ a: text }) } }, { node: 'sub',
      schemas: { state } }, { node: 'other', schemas: { state: known } }]
    expect(nodeTypes(nodes, 'outer|sub', known)).toEqual({ state })
    expect(nodeTypes(nodes, 'nosuch', known)).toBeUndefined()
  })

  it('are not guessed if two graphs fit', () => {
    const twice = [{ node: 'sub', schemas: { state } }, { node: 'sub', schemas: { state } }]
    expect(nodeTypes(twice, 'sub', known)).toEqual({ state })
    const differ = [...twice, { node: 'sub', schemas: { state: object({ a: number, b: text }) } }]
    expect(nodeTypes(differ, 'sub', known)).toBeUndefined()
  })
})
