/** Tabs of one panel. Arrow keys move between them, as readers expect. */

import type { KeyboardEvent } from 'react'

import css from './tabs.module.css'

/** A tab by its id, and its label. */
export interface Tab<Id extends string> {
  readonly id: Id
  readonly label: string
}

/** Tabs; the panel that they choose has the id `<name>-panel`. */
export function Tabs<Id extends string>({ name, label, tabs, chosen, choose, near }: {
  readonly name: string
  readonly label: string
  readonly tabs: readonly Tab<Id>[]
  readonly chosen: Id
  readonly choose: (id: Id) => void
  /** Somebody points at a tab, and may choose it. */
  readonly near?: (id: Id) => unknown
}) {
  const move = (event: KeyboardEvent<HTMLDivElement>) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key]
    if (step === undefined) return
    event.preventDefault()
    const at = tabs.findIndex(({ id }) => id === chosen)
    const next = tabs[(at + step + tabs.length) % tabs.length]!
    choose(next.id)
    document.getElementById(`${name}-${next.id}`)?.focus()
  }
  return (
    <div role="tablist" aria-label={label} className={css['tabs']} onKeyDown={move}>
      {tabs.map(({ id, label: words }) => (
        <button key={id} id={`${name}-${id}`} type="button" role="tab" aria-selected={id === chosen}
          aria-controls={`${name}-panel`} tabIndex={id === chosen ? 0 : -1}
          onClick={() => choose(id)} onPointerEnter={() => near?.(id)}
        >
          {words}
        </button>
      ))}
    </div>
  )
}
