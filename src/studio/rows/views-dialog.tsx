/** The dialog of saved views: go to one, remove one, save what is shown now. */

import { useState } from 'react'
import type { FormEvent, ReactNode } from 'react'

import { Button } from '../parts/button.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { Icon } from '../parts/icon.tsx'
import { TextField } from '../parts/field.tsx'
import css from './dialogs.module.css'
import { isLater, readViews, storeViews, withView } from '../addresses/saved-views.ts'
import type { SavedView, SavedList } from '../addresses/saved-views.ts'

/** Dialog with the saved views of this machine. */
export function ViewsDialog<Search>({ list, search, link, close }: {
  readonly list: SavedList<Search>
  readonly search: Search
  /** Link to a view; anybody may be given its address. */
  readonly link: (view: SavedView<Search>) => ReactNode
  readonly close: () => void
}) {
  const [views, setViews] = useState(() => readViews(list))
  const [name, setName] = useState('')
  const [refused, setRefused] = useState(false)
  const keep = (next: typeof views) => {
    setRefused(!storeViews(list, next))
    setViews(next)
  }
  const save = (event: FormEvent) => {
    event.preventDefault()
    if (name.trim() === '') return
    keep(withView(views, { name: name.trim(), search }))
    setName('')
  }
  return (
    <Dialog open close={close} title="Saved views">
      {views.length === 0 && <p>A view is a filter with a name. None is saved yet.</p>}
      <ul className={css['list']}>
        {views.map((view) => (
          <li key={view.name}>
            {isLater(view)
              ? (
                <p dir="auto">
                  {view.name}: a later version saved it, and this one cannot show it.
                </p>
              )
              : link(view)}
            <Button kind="quiet" small icon={<Icon name="trash" size={14} />}
              label={`Remove ${view.name}`}
              onClick={() => keep(views.filter((each) => each !== view))} />
          </li>
        ))}
      </ul>
      <form className={css['line']} onSubmit={save}>
        <TextField label="Save what is shown now as"
          error={refused ? 'The browser keeps nothing for this page.' : undefined} value={name}
          maxLength={80} change={setName} />
        <Button type="submit" kind="primary" disabled={name.trim() === ''}>Save</Button>
      </form>
    </Dialog>
  )
}
