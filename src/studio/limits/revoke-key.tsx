/** Asks before a key is revoked. */

import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'

import { apiKeys, revokeKey } from '../api/keys.ts'
import type { ApiKey } from '../api/keys.ts'
import { queries } from '../api/query.ts'
import { whoAmI } from '../api/server.ts'
import { Button } from '../parts/button.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { ErrorNotice, Notice } from '../parts/notice.tsx'
import css from './limits.module.css'

/** Dialog that revokes a key, which never works again. */
export function RevokeKey({ row: { id, name }, close }: {
  readonly row: ApiKey
  readonly close: () => void
}) {
  const { data: caller } = useQuery(whoAmI)
  const [error, setError] = useState<unknown>()
  const [busy, setBusy] = useState(false)
  const revoke = async () => {
    setBusy(true)
    try {
      await revokeKey(id)
      await queries.invalidateQueries({ queryKey: apiKeys.queryKey })
      close()
    } catch (thrown) {
      setError(thrown)
      setBusy(false)
    }
  }
  return (
    <Dialog open title="Revoke this key?" close={close}>
      <div className={css['form']}>
        <p className={css['named']}>
          <b dir="auto">{name === '' ? 'Without a name' : name}</b> <code>{id}</code>
        </p>
        <p>
          Within five seconds no server takes it any more, and open streams of its callers are cut.
          A revoked key never works again.
        </p>
        {caller?.key_id === id && (
          <Notice tone="waiting">You are signed in with this key: it ends this page, too.</Notice>
        )}
        {error !== undefined && <ErrorNotice error={error} />}
        <div className={css['end']}>
          <Button onClick={close}>Keep it</Button>
          <Button kind="danger" disabled={busy} onClick={() => void revoke()}>Revoke</Button>
        </div>
      </div>
    </Dialog>
  )
}
