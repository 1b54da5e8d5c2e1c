/** Makes a server print how much memory it holds: imported into it, and triggered by a signal. */

import { getHeapStatistics, setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { BroadcastChannel, isMainThread, threadId } from 'node:worker_threads'

import { heapMark } from './heap-mark.ts'
import type { ProbedMemory, ThreadHeap } from './heap-mark.ts'

/** Messages between the probes of one process. */
type Message = { readonly kind: 'here'; readonly thread: number } | { readonly kind: 'collect' } | {
  readonly kind: 'collected'
  readonly heap: ThreadHeap
}

/** A thread that has ended, or that spins, does not answer. */
const patienceMs = 20_000

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void
const channel = new BroadcastChannel('heap-probe')
channel.unref()
const post = (message: Message) => channel.postMessage(message)

function messageIn(event: Event): Message {
  return (event as unknown as { readonly data: Message }).data
}

/** Things freed by the first collection may have kept others alive until the second. */
function collectAll(): void {
  collect()
  collect()
}

if (isMainThread) probeAll()
else {
  post({ kind: 'here', thread: threadId })
  channel.addEventListener('message', (event) => {
    if (messageIn(event).kind !== 'collect') return
    collectAll()
    const { used_heap_size: used, total_physical_size: taken } = getHeapStatistics()
    post({ kind: 'collected', heap: { thread: threadId, used, taken } })
  })
}

function probeAll(): void {
  const threads = new Set<number>()
  const others = new Map<number, ThreadHeap>()
  let timer: NodeJS.Timeout | undefined
  const say = () => {
    if (timer === undefined) return
    clearTimeout(timer)
    timer = undefined
    collectAll()
    const memory: ProbedMemory = { ...process.memoryUsage(), others: [...others.values()] }
    process.stdout.write(`${heapMark}${JSON.stringify(memory)}\n`)
  }
  channel.addEventListener('message', (event) => {
    const message = messageIn(event)
    if (message.kind === 'here') threads.add(message.thread)
    if (message.kind !== 'collected') return
    others.set(message.heap.thread, message.heap)
    if ([...threads].every((thread) => others.has(thread))) say()
  })
  process.on('SIGUSR2', () => {
    others.clear()
    timer = setTimeout(() => {
      // Who does not answer now does not answer the next time.
      for (const thread of threads) { if (!others.has(thread)) threads.delete(thread) }
      say()
    }, patienceMs)
    post({ kind: 'collect' })
  })
}
