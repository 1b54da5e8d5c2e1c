import { expect, it } from 'vitest'
import { Annotation, START, StateGraph } from '@langchain/langgraph'
import { GraphBench } from '../../support/graph-bench.ts'
const S = Annotation.Root({ w: Annotation<unknown>() })
it.each([
  ['plain', () => ({ code: 7, why: 'no' })], ['text', () => 'just text'], ['null', () => null], ['undefined', () => undefined],
  ['number', () => 5], ['nameless', () => Object.assign(new Error('m'), { name: undefined })], ['emptyname', () => Object.assign(new Error('m'), { name: '' })],
  ['nomsg', () => new Error()], ['frozen', () => Object.freeze({ a: 1 })], ['frozenError', () => Object.freeze(new Error('x'))], ['withmsg', () => ({ message: 'hello', name: 'Odd' })], ['nullproto', () => Object.assign(Object.create(null), {a:1})],
  ['bool', () => false], ['array', () => [1, 2]], ['sym', () => Symbol('x')], ['fn', () => () => 1], ['class', () => new (class Foo { x = 1 })()],['bigint', ()=>5n], ['boxed', ()=>Object(5)],['errwithcause', ()=> new TypeError('t', {cause: 'c'})],
])('%s', async (name, thrown) => {
  const bench = new GraphBench(new StateGraph(S).addNode('a', () => { throw thrown() }).addEdge(START, 'a').compile())
  const { outcome, events } = await bench.run({ input: { w: 1 }, streamModes: ['values', 'updates', 'tasks', 'debug'] })
  const [a] = await bench.ask({ kind: 'state' })
  process.stderr.write(name + ' ' + JSON.stringify(outcome.error) + ' TASK ' + JSON.stringify((JSON.parse(a!.json)).tasks.map((t: {error: unknown}) => t.error)) + ' w:'+outcome.waiting+ ' EV '+ events.filter(e=>/error/.test(e.json)).map(e=>e.name+(/"error":("[^"]*"|[^,]*)/.exec(e.json)?.[0])).join(';') + '\n')
  expect(1).toBe(1)
})
