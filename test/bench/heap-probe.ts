/** Makes a server print how much memory it holds: imported into it, and triggered by a signal. */

import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { isMainThread } from 'node:worker_threads'

/** The prefix of the line with the figures. */
export const heapMark = 'heap-probe '

if (isMainThread) {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  process.on('SIGUSR2', () => {
    // Things freed by the first collection may have kept others alive until the second.
    collect()
    collect()
    process.stdout.write(`${heapMark}${JSON.stringify(process.memoryUsage())}\n`)
  })
}
