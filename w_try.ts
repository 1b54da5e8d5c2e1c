import { Annotation, MessagesAnnotation, StateGraph, interrupt, MemorySaver } from '@langchain/langgraph'
import { AIMessage } from '@langchain/core/messages'
import { GraphBench } from './test/support/graph-bench.ts'
const g = new StateGraph(MessagesAnnotation).addNode('echo', (s) => ({ messages: [new AIMessage('re: ' + s.messages.at(-1)!.content)] })).addEdge('__start__','echo').addEdge('echo','__end__').compile()
const b = new GraphBench(g)
const r = await b.run({ input: {messages:[{role:'user',content:'hi'}]}, streamModes: ['values','updates','messages-tuple'], config: {metadata:{graph_id:'graph', run_id:'x'}} })
console.log(JSON.stringify(r.outcome), r.departures.length); for (const e of r.events) console.log(e)
console.log(JSON.stringify(b.log.checkpoints,null,1), JSON.stringify(b.log.writes))
const r2 = await b.run({ input: {messages:[{role:'user',content:'again'}]}, streamModes: ['values','updates'] })
for (const e of r2.events) console.log(e)
console.log(JSON.stringify(b.log.values()), b.log.reads)
console.log(await b.ask({kind:'state'}))
console.log(await b.ask({kind:'history'}))
