/** The form that sets what a model costs. */

import { useState } from 'react'
import type { FormEvent } from 'react'

import { savePrice } from '../api/platform/prices.ts'
import type { ModelPrice } from '../api/platform/prices.ts'
import { Button } from '../parts/button.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { TextField } from '../parts/field.tsx'
import form from '../parts/form.module.css'
import { ErrorNotice } from '../parts/notice.tsx'
import { bodyOf, faultsOf } from './price-draft.ts'
import type { PriceDraft } from './price-draft.ts'
import css from './prices.module.css'

/** A dialog with the form. Faults are shown once somebody wants to save. */
export function PriceForm({ begin, own, close }: {
  readonly begin: PriceDraft
  /** The price of the workspace that is changed; undefined for a new one. */
  readonly own: ModelPrice | undefined
  readonly close: () => void
}) {
  const [draft, setDraft] = useState(begin)
  const [isTried, setTried] = useState(false)
  const [error, setError] = useState<unknown>()
  const [isSaving, setSaving] = useState(false)
  const faults = isTried ? faultsOf(draft) : {}
  const submit = async (event: FormEvent) => {
    event.preventDefault()
    setTried(true)
    if (Object.keys(faultsOf(draft)).length > 0) return
    setSaving(true)
    try {
      await savePrice(own?.id, bodyOf(draft, own))
      close()
    } catch (thrown) {
      setError(thrown)
      setSaving(false)
    }
  }
  const field = (name: keyof PriceDraft) => ({ value: draft[name], error: faults[name],
    autoComplete: 'off', change: (text: string) => setDraft((old) => ({ ...old, [name]: text })) })
  const isNamed = begin.name !== ''
  return (
    <Dialog open title={own === undefined ? 'New price' : 'Change the price'} close={close}>
      <form className={form['form']} noValidate onSubmit={(event) => void submit(event)}>
        <TextField label="Model" hint="As its provider names it. Days and versions may follow."
          autoFocus={!isNamed} {...field('name')} />
        <TextField label="Provider"
          hint="Only for models of this provider, such as openai. Optional."
          {...field('provider')} />
        <fieldset>
          <legend>Dollars for a million tokens</legend>
          <div className={css['costs']}>
            <TextField label="Input" inputMode="decimal" autoFocus={isNamed} {...field('input')} />
            <TextField label="Cached input" inputMode="decimal" placeholder="as input"
              {...field('cachedInput')} />
            <TextField label="Output" inputMode="decimal" {...field('output')} />
          </div>
        </fieldset>
        <p>
          Threads show the new cost at once. Traces that were sent keep the cost they came with.
        </p>
        {error !== undefined && <ErrorNotice error={error} />}
        <footer>
          <Button onClick={close}>Cancel</Button>
          <Button type="submit" kind="primary" disabled={isSaving}>Save</Button>
        </footer>
      </form>
    </Dialog>
  )
}
