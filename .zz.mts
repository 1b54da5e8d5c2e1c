import { readProject } from './src/graph/project.ts'
import { compileProject } from './src/graph/project-compiler.ts'
import { Worker } from 'node:worker_threads'
const t0 = performance.now()
const project = await readProject(process.argv[2]!)
const t1 = performance.now()
const compiled = await compileProject(project)
const t2 = performance.now()
console.log('read', t1 - t0, 'compile', t2 - t1, compiled.sources.size, compiled.graphs.filter(g => g.failure))
const again = performance.now(); await compileProject(project); console.log('again', performance.now() - again)
const w = new Worker(new URL('./.zw.mts', import.meta.url), { workerData: { compiled, start: performance.timeOrigin + performance.now() } })
w.on('message', m => console.log(m))
