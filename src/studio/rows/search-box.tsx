/** A box for words, of the lists. */

import { useRef } from 'react'

import { useKeys } from '../parts/keys.ts'
import { Input } from '../parts/field.tsx'
import { Icon } from '../parts/icon.tsx'
import css from './search-box.module.css'
import { useTyped } from './use-typed.ts'

const restMs = 180

/** The box. `/` leads to it, Escape leaves it. */
export function SearchBox({ label, hint, value, change }: {
  readonly label: string
  readonly hint: string
  readonly value: string
  readonly change: (value: string) => void
}) {
  const [typed, setTyped] = useTyped(value, change, restMs)
  const box = useRef<HTMLDivElement>(null)
  const input = () => box.current?.querySelector('input')
  useKeys('Filter', { '/': { words: label, act: () => input()?.select() } })
  return (
    <div className={css['box']} ref={box}>
      <Icon name="search" />
      <Input type="search" aria-label={label} placeholder={hint} value={typed} spellCheck={false}
        autoComplete="off" dir="auto" onChange={({ target }) => setTyped(target.value)}
        onKeyDown={({ key, currentTarget }) => key === 'Escape' && currentTarget.blur()} />
      <kbd className={css['key']} aria-hidden="true">/</kbd>
    </div>
  )
}
