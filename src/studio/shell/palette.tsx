/** The command palette: type where to go or what to do, arrows choose, Enter does it. */

import { useEffect, useState } from 'react'
import type { KeyboardEvent } from 'react'

import { Icon } from '../parts/icon.tsx'
import { Modal } from './modal.tsx'
import type { PaletteItem } from './palette-items.ts'
import css from './palette.module.css'
import { usePaletteItems } from './use-palette-items.ts'

/** Command palette: goes to a page or a thread, or runs an action. */
export function Palette({ close }: { readonly close: () => void }) {
  const [typed, setTyped] = useState('')
  const [at, setAt] = useState(0)
  const { items, isAsking } = usePaletteItems(typed)
  const chosen = items[Math.min(at, items.length - 1)]
  const run = (item: PaletteItem | undefined) => {
    if (item === undefined) return
    close()
    item.act()
  }
  const onKeyDown = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (step !== undefined) setAt((before) => (before + step + items.length) % items.length || 0)
    // What was typed last is not yet answered: the first line may be of other words.
    else if (event.key === 'Enter' && !(isAsking && items.length === 0)) run(chosen)
    else return
    event.preventDefault()
  }
  return (
    <Modal label="Go to, or do" close={close}>
      <div className={css['box']}>
        <Icon name="search" />
        <input role="combobox" aria-label="Go to, or do" aria-expanded="true"
          aria-controls="palette-list" aria-autocomplete="list" autoFocus value={typed} dir="auto"
          aria-activedescendant={chosen && `palette-${items.indexOf(chosen)}`} spellCheck={false}
          placeholder="A thread, a page, something to do" onKeyDown={onKeyDown}
          onChange={({ target }) => {
            setTyped(target.value)
            setAt(0)
          }} />
      </div>
      {items.length === 0 && (
        <p className={css['none']} role="status">
          {isAsking ? 'Looking for threads' : 'Nothing has these words.'}
        </p>
      )}
      <Items items={items} chosen={chosen} run={run} />
    </Modal>
  )
}

function Items({ items, chosen, run }: {
  readonly items: readonly PaletteItem[]
  readonly chosen: PaletteItem | undefined
  readonly run: (item: PaletteItem) => void
}) {
  const groups = Map.groupBy(items, ({ group }) => group)
  const at = chosen === undefined ? -1 : items.indexOf(chosen)
  useEffect(() => {
    document.getElementById(`palette-${at}`)?.scrollIntoView({ block: 'nearest' })
  }, [at])
  return (
    <div role="listbox" id="palette-list" aria-label="What fits" className={css['list']}
      hidden={items.length === 0}
    >
      {[...groups].map(([group, members]) => (
        <div key={group} role="group" aria-labelledby={`palette-${group}`}>
          <div id={`palette-${group}`} className={css['group']} role="presentation">{group}</div>
          {members.map((item) => (
            <div key={item.id} id={`palette-${items.indexOf(item)}`} role="option"
              aria-selected={item === chosen} className={css['item']} onClick={() => run(item)}
            >
              <span dir="auto">{item.words}</span>
              {item.aside !== undefined && <small dir="auto">{item.aside}</small>}
            </div>
          ))}
        </div>
      ))}
    </div>
  )
}
