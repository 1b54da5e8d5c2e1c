/** Notice in the place of an event: an error with the server's own message, or a hint. */

import type { ReactNode } from 'react'

import { ApiError } from '../api/client.ts'
import { mayHelpAgain } from '../api/query.ts'
import { Button } from './button.tsx'
import { messageOf } from './error-message.ts'
import css from './notice.module.css'

/** A hint or an error in words, with what may be done. */
export function Notice({ tone = 'plain', children }: {
  readonly tone?: 'plain' | 'failed' | 'waiting'
  readonly children: ReactNode
}) {
  return (
    <div className={`${css['notice']} ${css[tone]}`} role={tone === 'failed' ? 'alert' : 'status'}>
      {children}
    </div>
  )
}

/** The sentence of an error; "try again" only where that may help. */
export function ErrorNotice({ error, retry }: {
  readonly error: unknown
  readonly retry?: (() => void) | undefined
}) {
  const wait = error instanceof ApiError ? error.retryAfterS : null
  const helps = retry !== undefined && (mayHelpAgain(error) || wait !== null)
  return (
    <Notice tone="failed">
      <p>{messageOf(error)}</p>
      {wait !== null && <p className={css['meta']}>It asks for {wait} s of patience.</p>}
      {helps && <Button small onClick={retry}>Try again</Button>}
    </Notice>
  )
}
