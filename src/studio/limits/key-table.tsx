/** The API keys of the tenant: found, made and revoked. */

import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { useQuery } from '@tanstack/react-query'
import { lazy, Suspense, useState } from 'react'

import { apiKeys } from '../api/keys.ts'
import type { ApiKey } from '../api/keys.ts'
import { ApiError } from '../api/client.ts'
import { whoAmI } from '../api/server.ts'
import { nowMs } from '../env.ts'
import { count, counted } from '../parts/amounts.ts'
import { Button, buttonClass } from '../parts/button.tsx'
import { Chip } from '../parts/chip.tsx'
import type { ChipTone } from '../parts/chip.tsx'
import { Empty } from '../parts/empty.tsx'
import { Input } from '../parts/field.tsx'
import { Icon } from '../parts/icon.tsx'
import { ErrorNotice } from '../parts/notice.tsx'
import { Skeleton } from '../parts/skeleton.tsx'
import { cellClass, Table } from '../parts/table.tsx'
import { TimeText } from '../parts/times/time-text.tsx'
import type { LimitsSearch } from '../addresses/limits.ts'
import { endText, isValid, keysFor, keyState } from './key-list.ts'
import type { KeyState } from './key-list.ts'
import css from './limits.module.css'

const NewKey = lazy(async () => ({ default: (await import('./new-key.tsx')).NewKey }))
const RevokeKey = lazy(async () => ({ default: (await import('./revoke-key.tsx')).RevokeKey }))

/** Rows that are shown at a time. */
const pageRows = 50

const states: Readonly<Record<KeyState, { readonly word: string; readonly tone: ChipTone }>> = {
  valid: { word: 'Valid', tone: 'done' },
  ending: { word: 'Ends soon', tone: 'waiting' },
  expired: { word: 'Expired', tone: 'plain' },
  revoked: { word: 'Revoked', tone: 'failed' },
}

/** The table with its filter. */
export function KeyTable() {
  const { data, error, refetch } = useQuery(apiKeys)
  const { find = '', ended, page = 1 } = useSearch({ from: '/limits' })
  const navigate = useNavigate()
  const [making, setMaking] = useState(false)
  const [revoking, setRevoking] = useState<ApiKey>()
  if (error instanceof ApiError && error.status === 404) {
    return (
      <Empty title="There are no keys here">
        <p>{error.message}</p>
        <p>Then callers show a key, each belongs to a tenant, and a tenant sees only its own.</p>
      </Empty>
    )
  }
  if (error !== null) return <ErrorNotice error={error} retry={() => void refetch()} />
  if (data === undefined) return <Skeleton width="100%" height={160} />
  const now = nowMs()
  const found = keysFor(data, { find, ended: ended === 'yes', nowMs: now })
  const look = (search: LimitsSearch) =>
    void navigate({ to: '/limits', replace: true,
      search: { view: 'keys', find: find || undefined, ended, ...search } })
  const shown = found.slice((page - 1) * pageRows, page * pageRows)
  const hidden = data.filter((key) => !isValid(key, now)).length
  return (
    <>
      <div className={css['filter']}>
        <Input type="search" aria-label="Find keys" placeholder="Name or id …" value={find}
          onChange={({ target }) => look({ find: target.value || undefined })} />
        {hidden > 0 && (
          <label className={css['check']}>
            <input type="checkbox" checked={ended === 'yes'} onChange={({ target }) =>
              look({ ended: target.checked ? 'yes' : undefined })} />
            {count(hidden)} that ended
          </label>
        )}
        <Button kind="primary" icon={<Icon name="plus" />} onClick={() => setMaking(true)}>
          New key
        </Button>
      </div>
      {found.length === 0
        ? (
          <Empty title={data.length === 0 ? 'There are no keys yet' : 'No key matches'}>
            <p>A name or an id is looked for among {counted(data.length, 'key')}.</p>
          </Empty>
        )
        : <Rows keys={shown} now={now} revoke={setRevoking} />}
      {found.length > pageRows && (
        <nav className={css['pages']} aria-label="Parts of the keys">
          <span>
            {count((page - 1) * pageRows + 1)} to {count((page - 1) * pageRows + shown.length)} of
            {' '}
            {count(found.length)}
          </span>
          <Button disabled={page === 1} onClick={() => look({ page: page - 1 })}>Newer</Button>
          <Button disabled={page * pageRows >= found.length} onClick={() =>
            look({ page: page + 1 })}
          >
            Older
          </Button>
        </nav>
      )}
      <Suspense>
        {making && <NewKey close={() => setMaking(false)} />}
        {revoking !== undefined && <RevokeKey row={revoking}
          close={() => setRevoking(undefined)} />}
      </Suspense>
    </>
  )
}

function Rows({ keys, now, revoke }: {
  readonly keys: readonly ApiKey[]
  readonly now: number
  readonly revoke: (key: ApiKey) => void
}) {
  const { data: caller } = useQuery(whoAmI)
  return (
    <Table className={css['table']} caption="API keys of the tenant, the newest first"
      columns={['Name', 'Id', 'Role', 'State', 'Last used', 'Ends']}
    >
      {keys.map((key) => {
        const { id, name, role, last_used_at: used, expires_at: end } = key
        const { word, tone } = states[keyState(key, now)]
        return (
          <tr key={id}>
            <th scope="row" dir="auto" title={name}>
              {name === '' ? 'Without a name' : name}
              {id === caller?.key_id && <Chip tone="accent">yours</Chip>}
            </th>
            <td data-label="Id">
              <code>{id}</code>
            </td>
            <td data-label="Role">{role}</td>
            <td data-label="State">
              <Chip tone={tone}>{word}</Chip>
            </td>
            <td data-label="Last used">{used === null ? 'never' : <TimeText iso={used} />}</td>
            <td data-label="Ends" title={end ?? undefined}>
              {end === null ? 'never' : endText(end, now)}
            </td>
            <td className={cellClass.acts}>
              <Link to="/limits" search={{ key: id }} className={buttonClass('quiet', true)}>
                Use<span className="unseen">of {name || id}</span>
              </Link>
              {isValid(key, now) && (
                <Button kind="danger" small onClick={() => revoke(key)}>
                  Revoke<span className="unseen">{name || id}</span>
                </Button>
              )}
            </td>
          </tr>
        )
      })}
    </Table>
  )
}
