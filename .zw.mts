import { workerData, parentPort } from 'node:worker_threads'
const t = () => performance.timeOrigin + performance.now() - workerData.start
const a = t()
const { GraphLibrary } = await import('./src/graph/library.ts')
const b = t()
const lib = await GraphLibrary.open(workerData.compiled)
const c = t()
console.log({ boot: a, library: b - a, open: c - b })
console.log(await lib.describe(), lib.failures.map(f => f.error.message))
console.log('described', t() - c)
for (const d of await lib.describe()) if (!lib.failures.some(f => f.graphId === d.graphId)) { console.log(d.graphId, JSON.stringify(await lib.schemas(d.graphId)).slice(0, 300)); console.log(JSON.stringify(await lib.drawable(d.graphId, 2)).length) }
