/** Graphs that are called as tools. The names are those that the conformance tests of MCP call. */

import { Annotation, END, interrupt, START, StateGraph } from '@langchain/langgraph'

const Words = Annotation.Root({
  message: Annotation<string>(),
  said: Annotation<string[]>({
    reducer: (kept, added) => kept.concat(added),
    default: () => [],
  }),
})

type Node = (state: typeof Words.State) => Partial<typeof Words.State>

const oneNode = (run: Node) =>
  new StateGraph(Words).addNode('run', run).addEdge(START, 'run').addEdge('run', END).compile()

/** Says a sentence. */
export const simple = oneNode(() => ({ said: ['This is a simple text response for testing.'] }))

/** Fails. */
export const failing = oneNode(() => {
  throw new Error('This tool intentionally returns an error for testing')
})

/** Takes three steps. */
export const slow = new StateGraph(Words)
  .addSequence([['first', () => ({ said: ['1'] })], ['second', () => ({ said: ['2'] })], ['third',
    () => ({ said: ['3'] })]])
  .addEdge(START, 'first')
  .addEdge('third', END)
  .compile()

/** Graphs of today take a schema for the answer. */
const askFor = interrupt as (value: unknown, options: object) => Record<string, string>

const textOf = (name: string) => ({ type: 'object', properties: { [name]: { type: 'string' } },
  required: [name] })

/** Asks for a name. */
export const asking = oneNode(({ message }) => {
  const { name } = askFor(message ?? 'What is your name?', { responseSchema: textOf('name') })
  return { said: [`Hello, ${name}!`] }
})

/** Asks for a name, then for a color. */
export const twice = oneNode(() => {
  const { name } = askFor('Step 1: What is your name?', { responseSchema: textOf('name') })
  const { color } = askFor('Step 2: Which color?', { responseSchema: textOf('color') })
  return { said: [`${name} likes ${color}.`] }
})

const fields = (properties: object) => ({ type: 'object', properties })

const asksForm = (properties: object) =>
  oneNode(() => ({ said: [JSON.stringify(askFor('Please fill in.', {
    responseSchema: fields(properties),
  }))] }))

/** Asks with a value in each field. */
export const filled = asksForm({
  name: { type: 'string', default: 'John Doe' },
  age: { type: 'integer', default: 30 },
  score: { type: 'number', default: 95.5 },
  status: { type: 'string', enum: ['active', 'inactive', 'pending'], default: 'active' },
  verified: { type: 'boolean', default: true },
})

const options = ['option1', 'option2', 'option3']
const titled = [{ const: 'value1', title: 'First' }, { const: 'value2', title: 'Second' }, {
  const: 'value3',
  title: 'Third',
}]

/** Asks for one of a few texts, and for several. */
export const choosing = asksForm({
  untitledSingle: { type: 'string', enum: options },
  titledSingle: { type: 'string', oneOf: titled },
  legacyEnum: { type: 'string', enum: ['opt1', 'opt2', 'opt3'],
    enumNames: ['Option One', 'Option Two', 'Option Three'] },
  untitledMulti: { type: 'array', items: { type: 'string', enum: options } },
  titledMulti: { type: 'array', items: { anyOf: titled } },
})
