/** Random graphs whose nodes and reducers change state in every way that code may. */

import { AIMessage } from '@langchain/core/messages'
import type { BaseMessage } from '@langchain/core/messages'
import { Annotation, END, START, StateGraph, interrupt,
  messagesStateReducer } from '@langchain/langgraph'
import fc from 'fast-check'

interface Row {
  id: string
  status: { done: boolean; note: { text: string } }
  tags: unknown[]
  map: Map<string, { in: number }>
}
type Element = Row | AIMessage

/** Two plain channels, and one of each reducer. */
const channels = ['last', 'object', 'append', 'spread', 'messages', 'merge', 'mark',
  'tail'] as const
type Channel = (typeof channels)[number]
type State = Record<Channel | 'turn', unknown>

const action = fc.record({
  channel: fc.constantFrom(...channels),
  /** Which element is changed in place, and how. */
  at: fc.nat(40),
  change: fc.constantFrom('done', 'text', 'tag', 'nested', 'map', 'replace', 'id', 'none'),
  returned: fc.constantFrom('same', 'copy', 'mapped', 'part', 'spread part', 'added', 'nothing'),
  /** A plain channel that gets the same objects as well. */
  shares: fc.constantFrom('last', 'object', null, null),
})
type Action = typeof action extends fc.Arbitrary<infer A> ? A : never

/** A graph, and the runs that it gets. */
export const changingGraph = fc.record({
  nodes: fc.array(fc.array(action, { minLength: 1, maxLength: 3 }), { minLength: 1, maxLength: 3 }),
  /** True for two nodes that run side by side. */
  parallel: fc.boolean(),
  /** The node that asks before it returns. None does if there is no such node. */
  asks: fc.nat(12),
  runs: fc.array(fc.record({
    forget: fc.boolean(),
    durability: fc.constantFrom('async', 'sync', 'exit'),
  }), { minLength: 1, maxLength: 3 }),
  /** Number of elements that come first. */
  long: fc.constantFrom(0, 0, 0, 0, 18),
  watched: fc.boolean(),
})
/** One random graph. */
export type ChangingGraph = typeof changingGraph extends fc.Arbitrary<infer G> ? G : never

/** A reducer that changes old elements in place and returns the same list. */
function merge(rows: Row[], update: Row[]): Row[] {
  for (const each of update) {
    const old = rows.find(({ id }) => id === each.id)
    if (old) Object.assign(old, each)
    else rows.push(each)
  }
  return rows
}

/** A reducer that changes old elements in place and returns a new list. */
function mark(rows: Row[], update: Row[]): Row[] {
  for (const old of rows) old.tags[0] = Number(old.tags[0]) + 1
  return [...rows, ...update]
}

const State = Annotation.Root({
  turn: Annotation<number>,
  last: Annotation<Row[]>,
  object: Annotation<{ rows: Row[] }>,
  append: Annotation<Row[]>({ reducer: (a, b) => a.concat(b), default: () => [] }),
  spread: Annotation<Row[]>({ reducer: (a, b) => [...a, ...b], default: () => [] }),
  messages: Annotation<BaseMessage[]>({ reducer: messagesStateReducer as never,
    default: () => [] }),
  merge: Annotation<Row[]>({ reducer: merge, default: () => [] }),
  mark: Annotation<Row[]>({ reducer: mark, default: () => [] }),
  tail: Annotation<Row[]>({ reducer: (a, b) => a.concat(b).slice(-5), default: () => [] }),
})

const plain: readonly Channel[] = ['last', 'object']
/** Reducers under which a returned element stands beside the old one. */
const growing: readonly Channel[] = ['append', 'spread', 'mark', 'tail']
/**
 * Length of a list up to which it is appended to, so that unreturned changes are always checked.
 */
const shortMax = 8

function element(channel: Channel, id: string): Element {
  if (channel === 'messages')
    return new AIMessage({
      id,
      content: [{ type: 'text', text: id }],
      additional_kwargs: { k: [0] },
      tool_calls: [{ name: 'search', id: `call ${id}`, args: { q: id, deep: { n: 0 } } }],
    })
  return { id, status: { done: false, note: { text: id } }, tags: [0, ['b', { deep: 0 }]],
    map: new Map([['m', { in: 0 }]]) }
}

function listIn(state: State, channel: Channel): Element[] {
  const value = state[channel]
  return channel === 'object' ? (value as { rows: Element[] }).rows : value as Element[]
}

function asUpdate(channel: Channel, list: readonly unknown[]): unknown {
  return channel === 'object' ? { rows: unrelated(list as Row[]).slice(0, shortMax / 2) } : list
}

/**
 * Rows without those that share an object with an earlier one. Inside of one value, a structured
 * clone keeps what is shared, and the library's serializer does not.
 */
function unrelated(rows: readonly Row[]): Row[] {
  const seen = new Set<unknown>()
  return rows.filter((row) => {
    const parts = [row, row.status, row.tags, row.map]
    if (parts.some((part) => seen.has(part))) return false
    for (const part of parts) seen.add(part)
    return true
  })
}

function changeMessage(each: AIMessage, how: Action['change'], newId: string): void {
  const content = each.content as { type: string; text: string }[]
  const args = each.tool_calls![0]!.args as { q: string; deep: { n: number } }
  switch (how) {
    case 'done':
      args.deep.n += 1
      break
    case 'text':
      content[0]!.text += '.'
      break
    case 'tag':
      ;(each.additional_kwargs.k as number[]).push(1)
      break
    case 'nested':
      content.push({ type: 'text', text: 'more' })
      break
    case 'map':
      args.q += '!'
      break
    case 'replace':
      each.additional_kwargs = { k: [9] }
      break
    case 'id':
      each.id = each.lc_kwargs.id = newId
      break
    case 'none':
      break
  }
}

function change(each: Element, how: Action['change'], newId: string): void {
  if (AIMessage.isInstance(each)) return changeMessage(each, how, newId)
  const row = each as Row
  switch (how) {
    case 'done':
      row.status.done = !row.status.done
      break
    case 'text':
      row.status.note.text += '.'
      break
    case 'tag':
      row.tags.push('t')
      break
    case 'nested':
      ;((row.tags[1] as unknown[])[1] as { deep: number }).deep += 1
      break
    case 'map':
      row.map.get('m')!.in += 1
      break
    case 'replace':
      row.status = { done: true, note: { text: 'new' } }
      break
    case 'id':
      row.id = newId
      break
    case 'none':
      break
  }
}

/** Another object with the same members. */
function copyOf(each: Element): Element {
  if (!AIMessage.isInstance(each)) return { ...each } as Row
  const { id, content, additional_kwargs, tool_calls } = each
  return new AIMessage({ id: id!, content, additional_kwargs, tool_calls: tool_calls! })
}

/** True if the old element, once changed, is itself in what is returned, or is replaced by it. */
function isReturned({ channel, returned }: Action): boolean {
  switch (returned) {
    case 'same':
    case 'copy':
    case 'part':
      return true
    case 'mapped':
    case 'spread part':
      return !['append', 'spread'].includes(channel)
    case 'added':
      return !['append', 'spread', 'messages'].includes(channel)
    case 'nothing':
      return false
  }
}

function given(list: Element[], each: Element, { channel, returned }: Action, newId: string):
  | Element[]
  | undefined {
  switch (returned) {
    case 'same':
      return list
    case 'copy':
      return [...list]
    case 'mapped':
      return list.map(copyOf)
    case 'part':
      return [each]
    case 'spread part':
      return [copyOf(each)]
    case 'added':
      return [element(channel, newId)]
    case 'nothing':
      return undefined
  }
}

/** Does one thing to the state, and adds what is returned of it to the update. */
function act(state: State, update: Partial<State>, options: Action, newId: string): void {
  const { channel, at, shares } = options
  const list = listIn(state, channel)
  const each = list[at % list.length]
  if (!each) return
  const all = given(list, each, options, newId)
  const isTooLong = all !== undefined && growing.includes(channel)
    && all.length + list.length > Math.max(shortMax, list.length + 1)
  const isShort = list.length <= shortMax
  const found = isTooLong || (all && growing.includes(channel) && !isShort && all.length > 1)
    ? undefined
    : all
  // What a node has changed and meant to return must not be replaced by something else.
  if (!isShort && (found === undefined || !isReturned(options) || channel in update)) return
  change(each, options.change, `${newId} changed`)
  if (found) update[channel] = asUpdate(channel, found)
  if (shares && channel !== 'messages' && isShort) update[shares] = asUpdate(shares, list)
}

/** Makes the graph, without a checkpointer. It begins with elements in each channel. */
export function compileChanging({ nodes, parallel, asks, long, runs }: ChangingGraph) {
  // A run that stores its end only stores what a node did before it asked, which is not returned.
  const mayAsk = long === 0 || runs.every(({ durability }) => durability !== 'exit')
  const graph = new StateGraph(State) as StateGraph<never, never, object, string>
  graph.addNode('seed', (state: State) => (state.turn === 1 ? seeds(long) : {}))
  graph.addEdge(START, 'seed')
  let before = 'seed'
  nodes.forEach((actions, i) => {
    const name = `n${i}`
    const isBeside = parallel && i === 1
    graph.addNode(name, (state: State) => {
      const update: Partial<State> = {}
      actions.forEach((each, k) => {
        if (isBeside && plain.includes(each.channel)) return
        act(state, update, isBeside ? { ...each, shares: null } : each,
          `${String(state.turn)}-${i}-${k}`)
      })
      if (mayAsk && asks === i && !(parallel && i < 2)) interrupt(name)
      return update
    })
    graph.addEdge(isBeside ? 'seed' : before, name)
    if (isBeside) graph.addEdge(name, nodes.length > 2 ? 'n2' : 'end')
    else before = name
  })
  // A step that writes nothing has no event. The last one has one.
  graph.addNode('end', ({ turn }: State) => ({ turn }))
  graph.addEdge(before, 'end')
  graph.addEdge('end', END)
  return graph.compile()
}

function seeds(long: number): Partial<State> {
  const update: Partial<State> = {}
  for (const channel of channels) {
    const length = channel === 'object' || channel === 'tail' ? 2 : 2 + long
    update[channel] = asUpdate(channel, Array.from({ length }, (_, i) =>
      element(channel, `${channel} ${i}`)))
  }
  return update
}
