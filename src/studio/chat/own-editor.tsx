/** Other words in place of a message of one's own. */

import { useState } from 'react'
import type { FormEvent } from 'react'

import { Button } from '../parts/button.tsx'
import { controlClass } from '../parts/field.tsx'
import { ErrorNotice } from '../parts/notice.tsx'
import css from './message.module.css'

/** Editor of a message; what it sends is a branch. */
export function OwnEditor({ words, close, save }: {
  readonly words: string
  readonly close: () => void
  readonly save: (words: string) => Promise<void>
}) {
  const [text, setText] = useState(words)
  const [error, setError] = useState<unknown>()
  const submit = (event: FormEvent) => {
    event.preventDefault()
    save(text.trim()).then(close, setError)
  }
  return (
    <form className={css['editor']} onSubmit={submit}>
      <textarea className={controlClass} aria-label="Your message" value={text} autoFocus rows={3}
        dir="auto" onChange={({ target }) => setText(target.value)} />
      <p>It is sent from the step before it, as a branch. What is there now stays.</p>
      {error !== undefined && <ErrorNotice error={error} />}
      <footer>
        <Button small onClick={close}>Cancel</Button>
        <Button small type="submit" kind="primary" disabled={text.trim() === ''}>Send</Button>
      </footer>
    </form>
  )
}
