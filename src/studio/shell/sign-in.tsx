/** The screen that takes a key or a session token; afterwards the same address is shown. */

import { useState } from 'react'
import type { FormEvent } from 'react'

import { queries } from '../api/query.ts'
import { Button, buttonClass } from '../parts/button.tsx'
import { Field } from '../parts/field.tsx'
import { Mark } from '../parts/icon.tsx'
import { isSignedIn, signIn } from '../session.ts'
import { signInWords } from './sign-in-words.ts'
import css from './sign-in.module.css'

/** Asks for a credential; `reason` is why. */
export function SignIn({ reason, elsewhere }: {
  readonly reason: string
  /** Address of the server that knows the credential given before; null if there is none. */
  readonly elsewhere: string | null
}) {
  const [text, setText] = useState('')
  const [remember, setRemember] = useState(false)
  const { words, detail } = signInWords({ reason, wasRefused: isSignedIn(), elsewhere })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    const given = text.trim()
    if (given === '') return
    signIn({ kind: isSessionToken(given) ? 'session' : 'key', text: given }, remember)
    // What another caller saw is not shown to this one.
    void queries.resetQueries()
  }
  return (
    <main className={css['screen']}>
      <form className={css['card']} onSubmit={submit}>
        <h1>
          <Mark /> Heddle
        </h1>
        <div role="status" className={css['reason']}>
          <p>{words}</p>
          {detail !== undefined && <small>{detail}</small>}
        </div>
        {elsewhere !== null && (
          <a className={buttonClass()} href={`${elsewhere.replace(/\/$/, '')}/studio/`}>
            Open the Studio of that region
          </a>
        )}
        <Field label="API key or session token"
          hint="It is kept in this tab and sent only to this server."
        >
          {(ids) => (
            <input {...ids} type="password" autoComplete="off" autoFocus value={text}
              onChange={({ target }) => setText(target.value)} />
          )}
        </Field>
        <label className={css['remember']}>
          <input type="checkbox" checked={remember}
            onChange={({ target }) => setRemember(target.checked)} />
          Remember it on this machine
        </label>
        <Button type="submit" kind="primary" disabled={text.trim() === ''}>Sign in</Button>
      </form>
    </main>
  )
}

/** Session tokens are JWTs: three parts with dots between them, the first one JSON. */
function isSessionToken(text: string): boolean {
  return /^eyJ[\w-]+\.[\w-]+\.[\w-]*$/.test(text)
}
