/** Looks for words in a tree, and steps from one place to the next. */

import { useDeferredValue, useMemo, useState } from 'react'

import { count } from '../../parts/amounts.ts'
import { Button } from '../../parts/button.tsx'
import { Input } from '../../parts/field.tsx'
import { Icon } from '../../parts/icon.tsx'
import { placesOf } from '../../json/json-search.ts'
import css from './state.module.css'

/** A search, as a person moves through it. */
export interface TreeSearchState {
  readonly typed: string
  readonly words: string
  readonly places: readonly string[]
  /** Index of the place that is shown, from 0. */
  readonly at: number
  /** The id of the row that is shown; undefined if there is none. */
  readonly shown: string | undefined
  readonly type: (words: string) => void
  readonly move: (by: number) => void
}

/** A search in a value. Typing waits for nothing. */
export function useTreeSearch(value: unknown): TreeSearchState {
  const [typed, setTyped] = useState('')
  const [at, setAt] = useState(0)
  const words = useDeferredValue(typed)
  const places = useMemo(() => placesOf(value, words), [value, words])
  return { typed, words, places, at, shown: places[at], type: (next) => {
    setTyped(next)
    setAt(0)
  }, move: (by) => setAt((at + by + places.length) % Math.max(1, places.length)) }
}

/** The field, and the buttons to the next and the previous place. */
export function TreeSearch({ search }: { readonly search: TreeSearchState }) {
  const { typed, words, places, at, type, move } = search
  const total = places.length === 1_000 ? '1,000+' : count(places.length)
  return (
    <search className={css['search']}>
      <Input type="search" placeholder="Find" aria-label="Find in the state" value={typed}
        dir="auto" onChange={({ target }) => type(target.value)} onKeyDown={(event) => {
        if (event.key === 'Escape' && typed !== '') type('')
        else if (event.key === 'Enter') move(event.shiftKey ? -1 : 1)
        else return
        event.preventDefault()
        event.stopPropagation()
      }} />
      <output className={css['meta']}>
        {words.trim() === '' ? '' : places.length === 0 ? 'none' : `${count(at + 1)} of ${total}`}
      </output>
      {places.length > 1 && (
        <>
          <Button small kind="quiet" label="Previous place" icon={<Icon name="up" size={14} />}
            onClick={() => move(-1)} />
          <Button small kind="quiet" label="Next place" icon={<Icon name="down" size={14} />}
            onClick={() => move(1)} />
        </>
      )}
    </search>
  )
}
