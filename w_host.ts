import { startGraphHost, readProject, compileProject } from './src/graph/index.ts'
import { systemEnv } from './cluster/index.ts'
import { ModelLog } from './test/support/model-log.ts'
const env = systemEnv({ level: 'debug' })
const project = await compileProject(await readProject('test/support/projects/conformance'))
const t0 = performance.now()
const host = await startGraphHost({ project, env, workers: 2 })
console.log('ready', performance.now() - t0, host.graphs().map(g => [g.graphId, g.plain]))
let id = 0
export function run(graphId: string, input: unknown, over: any = {}, log = new ModelLog()) {
  return new Promise<any>((resolve) => {
    const n = ++id; const events: any[] = []
    host.execute({ id: n, kind: 'run', tenant: 'local', threadId: over.threadId ?? 'thread-' + n, graphId, runId: '00000000-0000-4000-8000-' + String(n).padStart(12, '0'), attempt: 1, headId: log.headId,
      request: { kind: 'run', input: JSON.stringify(input), command: null, config: '{"configurable":{}}', context: null, streamModes: ['updates'], streamSubgraphs: false, interruptBefore: null, interruptAfter: null, durability: 'async', checkpoint: null, told: [], ...over } }, log,
      { steps: async (b) => { log.append(b.steps); events.push(...b.events) }, ended: (outcome) => resolve({ outcome, events, log }), lost: (r) => resolve({ lost: r, log }) })
  })
}
const r = await run('echo', { messages: [{ role: 'user', content: 'hi' }] }, { streamModes: ['values', 'updates', 'messages-tuple', 'messages', 'custom', 'debug', 'tasks', 'checkpoints', 'events'] })
console.log(r.outcome, r.events.map((e: any) => e.name))
const r1 = await run('echo', { messages: [{ role: 'user', content: 'hi' }] }, { threadId: 'x' })
const r2 = await run('echo', { messages: [{ role: 'user', content: 'hi' }] }, { threadId: 'x' }, r1.log)
console.log(r2.outcome, r2.log.reads, r2.log.checkpoints.length)
console.log(await host.ask('echo', { tenant: 'local', threadId: 'x', headId: null }, { kind: 'state', ns: '', checkpointId: null, subgraphs: false }, r2.log))
console.log(JSON.stringify(await host.schemas('echo')).slice(0, 200))
console.log(JSON.stringify(await host.drawable('echo', false)).slice(0, 200))
const t1 = performance.now(); for (let i = 0; i < 300; i++) await run('echo', { messages: [{ role: 'user', content: 'hi' }] })
console.log('c1 µs', (performance.now() - t1) / 300 * 1000)
const t2 = performance.now(); let k = 0; await Promise.all(Array.from({ length: 32 }, async () => { while (k++ < 1500) await run('echo', { messages: [{ role: 'user', content: 'hi' }] }) }))
console.log('c32 µs', (performance.now() - t2) / 1500 * 1000)
await host.close()
