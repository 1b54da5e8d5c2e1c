/** Makes a server print how much memory it holds: imported into it, and triggered by a signal. */

import { getHeapStatistics, setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { BroadcastChannel, isMainThread, threadId } from 'node:worker_threads'

/** The prefix of the line with the figures. */
export const heapMark = 'heap-probe '

const others = new BroadcastChannel('heap-probe')
others.unref()

if (isMainThread) {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  process.on('SIGUSR2', () => {
    others.postMessage('collect')
    // Things freed by the first collection may have kept others alive until the second.
    collect()
    collect()
    process.stdout.write(`${heapMark}${JSON.stringify(process.memoryUsage())}\n`)
  })
} else {
  // Each thread says what its own heap holds, and how much memory that heap has taken.
  others.addEventListener('message', () => {
    const { used_heap_size: used, total_physical_size: taken, external_memory: external } =
      getHeapStatistics()
    const mb = (bytes: number) => `${Math.round(bytes / 1e6)} MB`
    console.log(`heap of thread ${threadId}: ${mb(used)} of ${mb(taken)}, buffers ${mb(external)}`)
  })
}
