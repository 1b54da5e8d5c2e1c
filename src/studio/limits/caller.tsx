/** Caller who uses this page, and the way to sign out. */

import { useQuery } from '@tanstack/react-query'

import { queries } from '../api/query.ts'
import { whoAmI } from '../api/server.ts'
import { nowMs } from '../env.ts'
import { Button } from '../parts/button.tsx'
import { Chip } from '../parts/chip.tsx'
import { isSignedIn, signInNeeded, signOut } from '../session.ts'
import { signedOutWords } from '../shell/sign-in-words.ts'
import { endText } from './key-list.ts'
import css from './limits.module.css'

/** The caller in a line. */
export function Caller() {
  const { data } = useQuery(whoAmI)
  if (data?.tenant === undefined) return null
  const { tenant, role, user, key_id: keyId, expires_at: end, method } = data
  return (
    <div className={css['caller']}>
      <span>
        {method === 'none'
          ? 'Nobody is asked for a key here: you are everybody on this server.'
          : (
            <>
              You are <b dir="auto">{user ?? (keyId == null ? 'a caller' : `key ${keyId}`)}</b> of
              {' '}
              <b>{tenant}</b>
            </>
          )}
      </span>
      <Chip tone={role === 'reader' ? 'plain' : 'accent'}>{role}</Chip>
      {end != null && <span className={css['meta']}>ends {endText(end, nowMs())}</span>}
      {isSignedIn() && <Button small onClick={leave}>Sign out</Button>}
    </div>
  )
}

function leave(): void {
  signOut()
  queries.clear()
  signInNeeded(signedOutWords)
}
