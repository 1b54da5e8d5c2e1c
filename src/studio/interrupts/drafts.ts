/** Drafts of answers: each outlives its card, which a long list may unmount and mount again. */

import { useState } from 'react'

const kept = new Map<string, unknown>()
const keptMax = 200

/** A state that is remembered by its key as long as the page lives. */
export function useDraft<Value>(key: string,
  initial: Value | (() => Value)): readonly [Value, (next: Value) => void] {
  const [value, setValue] = useState<Value>(() =>
    kept.has(key)
      ? kept.get(key) as Value
      : typeof initial === 'function'
      ? (initial as () => Value)()
      : initial
  )
  return [value, (next) => {
    kept.delete(key)
    kept.set(key, next)
    if (kept.size > keptMax) kept.delete(kept.keys().next().value!)
    setValue(next)
  }]
}

/** Forgets all that was begun for a question. */
export function forgetDrafts(start: string): void {
  for (const key of kept.keys()) if (key.startsWith(start)) kept.delete(key)
}
