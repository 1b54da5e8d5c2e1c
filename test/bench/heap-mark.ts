/** What a server says of its memory, if its probe is asked. */

/** The prefix of the line with the figures. */
export const heapMark = 'heap-probe '

/** The heap of a thread after a collection: bytes in use, and bytes that it has taken. */
export interface ThreadHeap {
  readonly thread: number
  readonly used: number
  readonly taken: number
}

/** The memory of a server after a collection in all of its threads. */
export interface ProbedMemory extends NodeJS.MemoryUsage {
  readonly others: readonly ThreadHeap[]
}
