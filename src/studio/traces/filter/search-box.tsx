/** A box that filters what stands below it. Typing redraws nothing else until it pauses. */

import { useEffect, useRef, useState } from 'react'

import { after } from '../../env.ts'
import { controlClass } from '../../parts/field.tsx'
import { Icon } from '../../parts/icon.tsx'
import { useKeys } from '../../shell/keys.ts'
import css from './search-box.module.css'

/** A box; `change` hears of pauses. What others write into `value` replaces what was typed. */
export function SearchBox({ label, placeholder, value, change, isInvalid = false, small = false }: {
  readonly label: string
  readonly placeholder: string
  readonly value: string
  readonly change: (text: string) => void
  readonly isInvalid?: boolean
  readonly small?: boolean
}) {
  const box = useRef<HTMLInputElement>(null)
  const [typed, setTyped] = useState(value)
  const sent = useRef(value)
  useEffect(() => {
    if (value === sent.current) return
    sent.current = value
    setTyped(value)
  }, [value])
  useEffect(() => {
    if (typed === sent.current) return undefined
    return after(220, () => {
      sent.current = typed
      change(typed)
    })
  }, [typed, change])
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
