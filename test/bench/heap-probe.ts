/** Lets a server say how much memory it holds: imported into it, and asked by a signal. */

import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { isMainThread } from 'node:worker_threads'

/** What stands before the figures, in a line of their own. */
export const heapMark = 'heap-probe '

if (isMainThread) {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  process.on('SIGUSR2', () => {
    // What the first one frees may hold what the second one finds.
    collect()
    collect()
    process.stdout.write(`${heapMark}${JSON.stringify(process.memoryUsage())}\n`)
  })
}
