/** An editor of JSON. */

import { controlClass } from './field.tsx'

/** Edits a text of JSON; `fault` is what is wrong with it in the server's words. */
export function JsonEditor({ label, text, change }: {
  readonly label: string
  readonly text: string
  readonly change: (text: string) => void
  readonly fault?: string | undefined
}) {
  return (
    <textarea className={controlClass} aria-label={label} value={text} rows={12}
      onChange={({ target }) => change(target.value)} />
  )
}
