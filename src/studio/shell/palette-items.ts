/** Items of the command palette for the text that was typed. */

import { shortId, titleOf } from '../api/thread-names.ts'
import type { Thread } from '../api/threads.ts'

/** One line of the palette. */
export interface PaletteItem {
  readonly id: string
  readonly group: 'Here' | 'Threads' | 'Pages' | 'Saved views' | 'Assistants'
  readonly words: string
  /** Small text at the right. */
  readonly aside?: string
  readonly act: () => void
}

const wholeId = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i
const inGroupMax = 8

/** True for a whole id: it leads to that thread, found or not. */
export const isWholeId = (text: string): boolean => wholeId.test(text.trim())

/** Items all of whose words begin with what was typed; threads were found by the server. */
export function matching(items: readonly PaletteItem[], typed: string): readonly PaletteItem[] {
  const wanted = typed.toLowerCase().split(/\s+/u).filter((word) => word !== '')
  const counts = new Map<string, number>()
  return items.filter(({ group, words, aside = '' }) => {
    const has = words.toLowerCase().split(/[\s·:/]+/u).concat(aside.toLowerCase())
    const fits = group === 'Threads' ||
      wanted.every((word) => has.some((each) => each.startsWith(word)))
    const before = counts.get(group) ?? 0
    if (fits) counts.set(group, before + 1)
    return fits && before < inGroupMax
  })
}

/** The line of a thread. */
export const threadItem = (thread: Thread, go: (id: string) => void): PaletteItem => ({
  id: thread.thread_id,
  group: 'Threads',
  words: titleOf(thread),
  aside: shortId(thread.thread_id),
  act: () => go(thread.thread_id),
})
