/** A box that filters what stands below it. Typing redraws nothing else until it pauses. */

import { useRef } from 'react'

import { controlClass } from '../parts/field.tsx'
import { Icon } from '../parts/icon.tsx'
import { useTyped } from './use-typed.ts'
import { useKeys } from '../parts/keys.ts'
import css from './filter-box.module.css'

const restMs = 220

/** A box; `change` hears of pauses. What others write into `value` replaces what was typed. */
export function FilterBox({ label, placeholder, value, change, isInvalid = false, small = false }: {
  readonly label: string
  readonly placeholder: string
  readonly value: string
  readonly change: (text: string) => void
  readonly isInvalid?: boolean
  readonly small?: boolean
}) {
  const box = useRef<HTMLInputElement>(null)
  const [typed, setTyped] = useTyped(value, change, restMs)
  useKeys(label, { '/': { words: label, act: () => box.current?.focus() } })
  return (
    <label className={`${css['box']} ${small ? css['small'] : ''}`}>
      <Icon name="search" size={14} />
      <span className="unseen">{label}</span>
      <input ref={box} className={controlClass} type="search" placeholder={placeholder}
        value={typed} spellCheck={false} autoComplete="off" aria-invalid={isInvalid} dir="auto"
        onChange={({ target }) => setTyped(target.value)} />
      <kbd aria-hidden="true">/</kbd>
    </label>
  )
}
