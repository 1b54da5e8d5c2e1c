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

const fields: { readonly current: HTMLElement | null }[] = []

/** While the component is shown, what is typed outside of fields and lists goes into a field. */
export function useTypedInto(field: { readonly current: HTMLElement | null }): void {
  useEffect(() => {
    fields.push(field)
    return () => void fields.splice(fields.indexOf(field), 1)
  }, [field])
}

/** The field that a key is for; undefined if there is none, or if the target has its own use. */
function fieldFor({ key, target }: KeyboardEvent): HTMLElement | undefined {
  const field = fields.at(-1)?.current
  if (field == null || key.length !== 1 || !field.checkVisibility()) return undefined
  const at = target instanceof HTMLElement ? target : document.body
  if (at.closest('[role=grid],[role=tree],[role=listbox]') !== null) return undefined
  // Space presses what has the focus, or scrolls it.
  return key === ' ' && at !== document.body && at.id !== 'main' ? undefined : field
}

/** Listens to the keys of the page. Called once. */
export function listenToKeys(): void {
  document.addEventListener('keydown', (event) => {
    const modified = event.metaKey || event.ctrlKey
    const key = modified ? `mod+${event.key.toLowerCase()}` : event.key
    if (event.defaultPrevented || event.altKey || (isTyping(event.target) && !modified &&
      key !== 'Escape')) return
    // The key itself is typed by the browser, where the focus is by then.
    const field = modified || isTyping(event.target) ? undefined : fieldFor(event)
    if (field !== undefined) {
      before = ''
      return field.focus()
    }
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
