/** Keys of the page: one listener, and what each screen makes of them while it is shown. */

import { useEffect, useRef } from 'react'

/** Action of a key, and its words in the list of keys (`?`). */
export interface KeyAct {
  readonly words: string
  readonly act: () => void
}

/** Acts by key: `j`, `/`, `Escape`, `g t` (two keys after each other), `mod+k` (⌘ or Ctrl). */
export type KeyActs = Readonly<Record<string, KeyAct>>

const screens: { readonly title: string; acts: KeyActs }[] = []
let before = ''

/** All keys that do something now, the newest screen first. */
export const keysNow = (): readonly { readonly title: string; readonly acts: KeyActs }[] =>
  screens.toReversed()

/** Binds keys while the component is shown. Later ones win. They rest while somebody types. */
export function useKeys(title: string, acts: KeyActs): void {
  const place = useRef({ title, acts })
  place.current.acts = acts
  useEffect(() => {
    const mine = place.current
    screens.push(mine)
    return () => void screens.splice(screens.indexOf(mine), 1)
  }, [])
}

/** Listens to the keys of the page. Called once. */
export function listenToKeys(): void {
  document.addEventListener('keydown', (event) => {
    const modified = event.metaKey || event.ctrlKey
    const key = modified ? `mod+${event.key.toLowerCase()}` : event.key
    if (event.defaultPrevented || event.altKey || (isTyping(event.target) && !modified &&
      key !== 'Escape')) return
    const pair = `${before} ${key}`
    before = key
    for (const name of [pair, key]) {
      const found = screens.findLast(({ acts }) => Object.hasOwn(acts, name))
      if (found === undefined) continue
      event.preventDefault()
      before = ''
      found.acts[name]!.act()
      return
    }
  })
}

function isTyping(target: EventTarget | null): boolean {
  return target instanceof HTMLElement &&
    (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName) ||
      target.closest('[role=menu],[role=dialog]') !== null)
}
