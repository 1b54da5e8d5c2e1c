/** The question whether a session of an address replaces the credential that is in use. */

import { queries } from '../api/query.ts'
import { Button } from '../parts/button.tsx'
import { Mark } from '../parts/icon.tsx'
import { declineOffer, signIn } from '../session.ts'
import type { Credential } from '../session.ts'
import css from './sign-in.module.css'

/** Asks whom to be. What the session says of itself is not shown: anybody could have written it. */
export function OfferedSession({ offered }: { readonly offered: Credential }) {
  const take = () => {
    signIn(offered, false)
    void queries.resetQueries()
  }
  return (
    <main className={css['screen']}>
      <section className={css['card']}>
        <h1>
          <Mark /> Heddle
        </h1>
        <p role="status">
          The link that you followed would sign you in as somebody else. Take it only if it comes
          from your own portal: what you do then is seen by whoever it belongs to.
        </p>
        <Button kind="primary" onClick={declineOffer}>Stay signed in as you are</Button>
        <Button onClick={take}>Sign in with the link</Button>
      </section>
    </main>
  )
}
