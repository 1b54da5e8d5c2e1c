/** All keys that do something on the screen that is shown. */

import { useMemo } from 'react'

import { Button } from '../parts/button.tsx'
import { Icon } from '../parts/icon.tsx'
import css from './key-list.module.css'
import { keysNow } from '../parts/keys.ts'
import type { KeyActs } from '../parts/keys.ts'
import { Modal } from './modal.tsx'

const isMac = /Mac|iPhone|iPad/u.test(navigator.userAgent)

/** Dialog with the keys of the page and of the screen that is shown. */
export function KeyList({ close }: { readonly close: () => void }) {
  // The keys of the screen when the list was opened.
  const screens = useMemo(() => joined(keysNow()), [])
  return (
    <Modal label="Keys" close={close}>
      <div className={css['head']}>
        <h2>Keys</h2>
        <Button kind="quiet" small icon={<Icon name="close" />} label="Close" onClick={close} />
      </div>
      <div className={css['lists']} tabIndex={0} role="group" aria-label="All keys">
        {screens.map(([title, acts]) => (
          <section key={title}>
            <h3>{title}</h3>
            <dl>
              {Object.entries(acts).map(([key, { words }]) => (
                <div key={key} className={css['pair']}>
                  <dt>{words}</dt>
                  <dd>
                    {partsOf(key).map((part, place) => <kbd key={place}>{part}</kbd>)}
                  </dd>
                </div>
              ))}
            </dl>
          </section>
        ))}
      </div>
    </Modal>
  )
}

/** Parts of one screen are one list; what holds everywhere comes last. */
function joined(screens: ReturnType<typeof keysNow>): readonly (readonly [string, KeyActs])[] {
  const lists = new Map<string, KeyActs>()
  for (const { title, acts } of screens) lists.set(title, { ...acts, ...lists.get(title) })
  const everywhere = [...lists].filter(([title]) => title === 'Everywhere')
  return [...[...lists].filter(([title]) => title !== 'Everywhere'), ...everywhere]
}

const names: Readonly<Record<string, string>> = { mod: isMac ? '⌘' : 'Ctrl', Escape: 'Esc',
  ArrowDown: '↓', ArrowUp: '↑', ArrowLeft: '←', ArrowRight: '→', ' ': 'Space' }

/** `mod+k` and `g t` as caps of keys. */
function partsOf(key: string): readonly string[] {
  if (key === ' ') return ['Space']
  return key.split(/[+ ]/u).map((part) =>
    names[part] ?? (part.length === 1 && key.includes('+')
      ? part.toUpperCase()
      : part)
  )
}
