/** Graphs whose nodes follow a script in their state, so that a thread can go any way. */

import { Annotation, Command, DeltaChannel, END, MessagesAnnotation, Send, START, StateGraph,
  interrupt } from '@langchain/langgraph'
import type { LangGraphRunnableConfig } from '@langchain/langgraph'
import { AIMessage, RemoveMessage } from '@langchain/core/messages'

/** One instruction to a node. */
export type Act =
  | { readonly say: string }
  | { readonly ask: string }
  | { readonly boom: string }
  | { readonly mark: string }
  | { readonly goto: string }
  | { readonly send: string; readonly text: string }
  | { readonly leave: string }
  | { readonly message: string; readonly text: string }
  | { readonly forget: string }

/** The instructions of each node, in order. */
export type Script = Readonly<Record<string, readonly Act[]>>

const append = (kept: string[], added: string[]) => kept.concat(added)

const common = {
  script: Annotation<Script>(),
  /** Only one task per step may write it. */
  mark: Annotation<string>(),
  inner: Annotation<string[]>({ reducer: (_, last) => last, default: () => [] }),
  text: Annotation<string>(),
  ...MessagesAnnotation.spec,
}

const outer = {
  ...common,
  log: Annotation<string[]>({ reducer: append, default: () => [] }),
  sum: Annotation<number>({ reducer: (sum, added) => sum + added, default: () => 0 }),
}

const Outer = Annotation.Root(outer)

/**
 * The same, with its lines kept as deltas. They are read back in the order of the tasks' ids, which
 * differs from run to run.
 */
const Hoard = Annotation.Root({
  ...outer,
  log: () =>
    new DeltaChannel<string[], string[]>(
      (kept, writes) => kept.concat(...writes).toSorted(),
      { initialValueFactory: () => [], snapshotFrequency: 4 },
    ),
})

const Inner = Annotation.Root({
  ...common,
  /** Bounded, because it is kept. */
  inner: Annotation<string[]>({
    reducer: (kept, added) => kept.concat(added).slice(-6),
    default: () => [],
  }),
})

/** Without the script: two subgraphs that return it would write it twice in one step. */
const { script: _, text: __, ...told } = Inner.spec
const Inside = Annotation.Root(told)

interface Told {
  readonly messages?: readonly { readonly id?: string }[]
  readonly script?: Script
  readonly text?: string
}

/**
 * Includes a channel that the subgraph streams: without one it would not stream its first values,
 * but would do so when it goes on after a crash.
 */
function sent(node: string, script: Script, text: string): Send {
  return new Send(node, { script, text, inner: [] })
}

interface Hold {
  readonly node: string
  readonly url: string
}

function act(name: string, lines: 'log' | 'inner') {
  return async (state: Told, config: LangGraphRunnableConfig) => {
    const { script = {}, text, messages: heard = [] } = state
    const hold = config.configurable?.['hold'] as Hold | undefined
    if (hold?.node === name) await fetch(hold.url, { signal: config.signal ?? null })
    const said: string[] = [text === undefined ? name : `${name} ${text}`]
    const messages: (AIMessage | RemoveMessage)[] = []
    const goto: (string | Send)[] = []
    let graph: string | undefined
    let mark: string | undefined
    for (const told of script[name] ?? []) {
      if ('say' in told) said.push(`${name}: ${told.say}`)
      if ('ask' in told) said.push(`${name} heard ${JSON.stringify(interrupt({ ask: told.ask }))}`)
      if ('boom' in told) throw new TypeError(told.boom)
      if ('mark' in told) mark = told.mark
      if ('goto' in told) goto.push(told.goto)
      if ('send' in told) goto.push(sent(told.send, script, told.text))
      if ('leave' in told) {
        graph = Command.PARENT
        goto.push(told.leave)
      }
      if ('message' in told) messages.push(new AIMessage({ id: told.message, content: told.text }))
      if ('forget' in told && heard.some(({ id }) => id === told.forget)) {
        messages.push(new RemoveMessage({ id: told.forget }))
      }
    }
    const update = { [lines]: said, ...mark !== undefined && { mark },
      ...messages.length > 0 && { messages }, ...lines === 'log' && { sum: 1 } }
    // What it is depends on what it is told.
    return (goto.length > 0
      ? new Command({ goto, update, ...graph !== undefined && { graph } })
      : update) as never
  }
}

const innermost = new StateGraph({ state: Inner, output: Inside })
  .addNode('bottom', act('bottom', 'inner'))
  .addEdge(START, 'bottom')
  .addEdge('bottom', END)
  .compile()

const inner = () =>
  new StateGraph({ state: Inner, output: Inside })
    .addNode('one', act('one', 'inner'), { ends: ['two', 'under'] })
    .addNode('two', act('two', 'inner'))
    .addNode('under', innermost)
    .addEdge(START, 'one')
    .addEdge('one', 'two')
    .addEdge('under', END)
    .addEdge('two', END)

const called = inner().compile()

const ends = ['a', 'b', 'c', 'worker', 'sub', 'kept', 'calls']

function beginOf(script: Script): (string | Send)[] {
  return (script['begin'] ?? [{ goto: 'a' }]).flatMap<string | Send>((told) =>
    'goto' in told ? [told.goto] : 'send' in told ? [sent(told.send, script, told.text)] : []
  )
}

function roam(schema: typeof Outer) {
  return new StateGraph(schema)
    .addNode('a', act('a', 'log'), { ends })
    .addNode('b', act('b', 'log'), { ends })
    .addNode('c', act('c', 'log'), { ends })
    .addNode('worker', act('worker', 'log'))
    .addNode('late', act('late', 'log'), { defer: true })
    .addNode('sub', inner().compile())
    .addNode('kept', inner().compile({ checkpointer: true }))
    .addNode('calls', async ({ script }, config) => {
      const { inner: lines } = await called.invoke({ script, inner: [] }, config)
      return { log: lines.map((line) => `called ${line}`) }
    })
    .addConditionalEdges(START, ({ script = {} }) => beginOf(script) as Send[])
    .addEdge('a', 'b')
    .addEdge('a', 'late')
    .addEdge('sub', 'c')
    .addEdge('kept', 'c')
    .addEdge('c', END)
}

export const roaming = roam(Outer).compile()
export const hoarding = roam(Hoard as unknown as typeof Outer).compile()

/** Its output is a part of its state, and it has a breakpoint of its own. */
export const narrow = new StateGraph(
  { state: Outer, output: Annotation.Root({ log: outer.log, sum: outer.sum }) },
)
  .addNode('a', act('a', 'log'), { ends: ['b', 'worker'] })
  .addNode('b', act('b', 'log'))
  .addNode('worker', act('worker', 'log'))
  .addEdge(START, 'a')
  .addEdge('a', 'b')
  .compile({ interruptBefore: ['worker'] })
