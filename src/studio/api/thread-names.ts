/** Names of threads as people read them. */

import { textOf } from './content.ts'
import type { Thread } from './threads.ts'

/** Parts of a thread that its name is made of. */
export type NamedThread = Pick<Thread, 'thread_id' | 'metadata' | 'extracted'>

/** The end of an id: enough to tell threads apart. */
export const shortId = (id: string): string => id.slice(-8)

/** Name of a thread: its title, else its first message, else the end of its id. */
export function titleOf(thread: NamedThread): string {
  const { title, thread_name: threadName, name } = thread.metadata
  for (const each of [title, threadName, name, textOf(thread.extracted?.['first'])]) {
    if (typeof each === 'string' && each.trim() !== '') return each
  }
  return `Thread ${shortId(thread.thread_id)}`
}
