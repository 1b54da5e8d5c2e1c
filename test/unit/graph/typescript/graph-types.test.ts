/** What the types of a graph say, for each kind of type and each form of export. */

import { describe, expect, it } from 'vitest'

import { programOf } from '../../../../src/graph/typescript/compiler.ts'
import { GraphTypes } from '../../../../src/graph/typescript/graph-types.ts'
import { sharedProject } from '../project/project-files.ts'

const [typed, nested] = ['typed.ts', 'nested.ts'].map((name) => `${sharedProject('typed')}/${name}`)
const { program, read, isOwn } = programOf([typed!, nested!])
const types = new GraphTypes(program)
const propertiesOf = (schema: object | undefined) =>
  (schema as { properties: Record<string, unknown> }).properties

const text = { type: 'string' }
const number = { type: 'number' }
const message = expect.objectContaining({ title: 'Message', required: ['content'] })
const card = (value: object) => ({
  type: 'object',
  properties: { title: { ...text, description: 'What stands on it.', minLength: 3 }, value,
    marks: number },
})

describe('the types of a state', () => {
  const wide = types.exported(typed!, 'wide')

  it('become JSON Schemas', () => {
    expect(propertiesOf(wide?.state)).toEqual({
      messages: { type: 'array', items: message },
      topic: { description: 'What it is about.', type: ['string', 'null'] },
      kind: { anyOf: [{ ...text, const: 'a' }, { ...text, const: 'b' }] },
      card: { ...card(number), required: ['title', 'value'], description: 'A card.' },
      cards: { type: 'object', required: ['x', 'y'],
        properties: { x: card({ ...text, format: 'date-time' }),
          y: card({ ...text, format: 'date-time' }) } },
      tree: expect.objectContaining({
        properties: { name: text,
          children: { type: 'array', items: { $ref: '#/definitions/type1' } } },
      }),
      json: expect.objectContaining({ anyOf: expect.arrayContaining([text]) }),
      pair: { type: 'array', items: [text, number], minItems: 1, maxItems: 2 },
      both: { type: 'object', properties: { a: text, b: number }, required: ['a', 'b'] },
      words: { type: 'array', items: text },
      last: message,
      asked: { type: 'array', items: message },
      bytes: {},
      seen: {},
      url: { ...text, format: 'uri' },
      anything: {},
    })
  })

  it('are defined once if they contain themselves', () => {
    expect(wide?.state?.['definitions']).toMatchObject({
      type1: { properties: { children: { items: { $ref: '#/definitions/type1' } } } },
      type2: { anyOf: expect.arrayContaining([
        { type: 'array', items: { $ref: '#/definitions/type2' } },
      ]) },
    })
  })

  it('may be others for updates, without the means of the engine', () => {
    expect(propertiesOf(wide?.input)).toMatchObject({ words: text,
      card: { required: ['title', 'value'] } })
    expect(wide?.input).not.toHaveProperty('required')
  })

  it('have the context beside them, the texts of a union sorted', () => {
    expect(wide?.context).toEqual({ type: 'object', properties: {
      model: { ...text, enum: ['large', 'small'] },
    } })
    expect(types.exported(typed!, 'narrow')?.context).toBeUndefined()
  })
})

describe('a graph', () => {
  it.each(['narrow', 'made', 'unbuilt', 'promised', 'default', 'renamed'])(
    'has its types exported as %s',
    (name) => {
      const file = name === 'renamed' ? nested : typed
      const { input, output, state } = types.exported(file!, name)!
      expect([input, output, state].map(propertiesOf))
        .toEqual([{ topic: text }, { count: number }, { topic: text, count: number }])
    },
  )

  it('of the functional API has those of its function', () => {
    expect(types.exported(typed!, 'worded')).toMatchObject({ input: text,
      output: { properties: { length: number } }, state: undefined })
    expect(types.exported(typed!, 'numbered')).toMatchObject({ output: number,
      input: { properties: { number, twice: { type: 'boolean' } }, required: ['number'] } })
  })

  it('of an agent has those of the graph in it', () => {
    expect(propertiesOf(types.exported(typed!, 'agent')?.output)['messages'])
      .toMatchObject({ items: message })
  })

  it('that is not there has none', () => {
    expect(types.exported(typed!, 'nosuch')).toBeUndefined()
    expect(types.exported('/nowhere.ts', 'narrow')).toBeUndefined()
  })

  it('is found as a node of another, also where a function calls it', () => {
    expect(types.nodes(isOwn).map(({ node, schemas }) => [node, propertiesOf(schemas.state)]))
      .toEqual([
        ['deep', { said: text, count: number }],
        ['called', { said: text, count: number }],
        ['sub', { said: text }],
      ])
  })
})

it('The files of the project are named, to see when they change.', () => {
  expect(read.map(([file, ms]) => [file.split('/').at(-1), ms > 0]).toSorted())
    .toEqual([['nested.ts', true], ['shapes.ts', true], ['typed.ts', true]])
})

it('Files of a project that is in a folder of packages are its own, but not its packages.', () => {
  const { isOwn: isPart } = programOf(['/a/node_modules/b/graphs/c.ts'])
  const files = ['/a/node_modules/b/graphs/c.ts', '/a/node_modules/b/graphs/d/e.ts', '/a/f.ts',
    '/a/node_modules/b/graphs/node_modules/g/h.d.ts', '/a/node_modules/g/h.d.ts']
  expect(files.map(isPart)).toEqual([true, true, true, false, false])
})
