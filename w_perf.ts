import * as langgraph from '@langchain/langgraph'
import * as messages from '@langchain/core/messages'
import { shapeOf } from './src/graph/library.ts'
import { Outbox } from './src/graph/outbox.ts'
import { execute } from './src/graph/runner.ts'
import { ValueCodec } from './src/graph/value-codec.ts'
import { ThreadMemories } from './src/graph/thread-memory.ts'
import { DrainControl } from './src/graph/drain-control.ts'
const { StateGraph, MessagesAnnotation, MemorySaver } = langgraph
const { AIMessage } = messages
const mk = () => new StateGraph(MessagesAnnotation).addNode('echo', (s) => ({ messages: [new AIMessage('re: ' + s.messages.at(-1)!.content)] })).addEdge('__start__','echo').addEdge('echo','__end__')
const plain = mk().compile()
const serde = new MemorySaver().serde
const codec = new ValueCodec(messages, serde)
const bench: any = { library: { langgraph, messages, get: async () => plain }, codec, serde, describe: () => ({ graphId:'g', description:null, ...shapeOf(plain as any) }) }
const memories = new ThreadMemories({ threads: 1000, bytes: 64e6 })
let n = 0, sent = 0
async function ours(modes = ['values'], thread = 't' + n, headId: string|null = null) {
  n++
  const outbox = new Outbox({ schedule: (f) => void setImmediate(f), send: (d) => { sent += d.steps.length; for (const s of d.steps) if (s.$case==='checkpoint') headId = s.value.id } })
  const memory = memories.take(thread, headId)
  const execution: any = { id: n, kind: 'run', tenant: 'l', threadId: thread, graphId: 'g', runId: '00000000-0000-4000-8000-' + String(n).padStart(12,'0'), attempt: 1, headId,
    request: { kind:'run', input: '{"messages":[{"role":"user","content":"hello there"}]}', command: null, config: JSON.stringify({configurable:{run_id:'x'+n, graph_id:'g', assistant_id:'a'},metadata:{run_id: 'x'+n, graph_id:'g', assistant_id:'a', thread_id: thread}}), context: null, streamModes: modes, streamSubgraphs: false, interruptBefore: null, interruptAfter: null, durability: 'async', checkpoint: null, told: [] } }
  const outcome = await execute(bench, { execution, source: null as any, outbox, memory, entered: () => {}, signal: new AbortController().signal, control: new DrainControl(() => {}) })
  await outbox.finish(outcome)
  if (outcome.status !== 'success') throw new Error(JSON.stringify(outcome))
  memories.keep(thread, memory)
  return headId
}
const mem = mk().compile({ checkpointer: new MemorySaver() })
let m = 0
const theirs = (modes = 'values') => mem.invoke({ messages: [{ role: 'user', content: 'hello there' }] } as any, { configurable: { thread_id: 'm' + m++ } })
async function seq(f: any, k: number) { const t = performance.now(); for (let i = 0; i < k; i++) await f(); return (performance.now() - t) / k * 1000 }
async function par(f: any, k: number, c: number) { const t = performance.now(); let i = 0; await Promise.all(Array.from({length:c}, async () => { while (i++ < k) await f() })); return (performance.now() - t) / k * 1000 }
await seq(ours, 1500); await seq(theirs, 1500)
for (let r = 0; r < 4; r++) {
  const a = await seq(theirs, 800), b = await seq(ours, 800), c = await par(theirs, 800, 32), d = await par(ours, 800, 32)
  console.log(`MemorySaver c1 ${a.toFixed(0)} ours c1 ${b.toFixed(0)} | MemorySaver c32 ${c.toFixed(0)} ours c32 ${d.toFixed(0)}`)
}
// growing thread
let head: any = null
for (let turn = 1; turn <= 1000; turn++) {
  const t = performance.now(); head = await ours(['updates'], 'grow', head)
  if ([20, 21, 100, 101, 500, 501, 999, 1000].includes(turn)) console.log('turn', turn, (performance.now()-t).toFixed(3))
}
