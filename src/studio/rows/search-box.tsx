/** A box for words: what is typed is sent when the typing rests, so that nothing lags behind it. */

import { useEffect, useRef, useState } from 'react'

import { after } from '../env.ts'
import { useKeys } from '../shell/keys.ts'
import { Input } from '../parts/field.tsx'
import { Icon } from '../parts/icon.tsx'
import css from './search-box.module.css'

const restMs = 180

/** The box. `/` leads to it, Escape leaves it. */
export function SearchBox({ label, hint, value, change }: {
  readonly label: string
  readonly hint: string
  readonly value: string
  readonly change: (value: string) => void
}) {
  const [typed, setTyped] = useState(value)
  const sent = useRef(value)
  const box = useRef<HTMLDivElement>(null)
  const input = () => box.current?.querySelector('input')
  useEffect(() => {
    // The address may change otherwise: by the back button, or by a saved view.
    if (value !== sent.current) setTyped(value)
    sent.current = value
  }, [value])
  useEffect(() => {
    if (typed === sent.current) return undefined
    return after(restMs, () => {
      sent.current = typed
      change(typed)
    })
  }, [typed])
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
