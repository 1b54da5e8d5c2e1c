/** Limits and keys: what the caller has left, and what admins may do about callers. */

import { useNavigate, useSearch } from '@tanstack/react-router'
import { useQuery } from '@tanstack/react-query'

import { whoAmI } from '../api/server.ts'
import { PageHead } from '../parts/page-head.tsx'
import { Tabs } from '../parts/tabs.tsx'
import type { limitViews } from '../addresses/limits.ts'
import { Caller } from './caller.tsx'
import { KeyTable } from './key-table.tsx'
import { LimitList } from './limit-list.tsx'
import { RefusedList } from './refused-list.tsx'

const tabs: readonly { readonly id: typeof limitViews[number]; readonly label: string }[] = [
  { id: 'limits', label: 'Limits' },
  { id: 'keys', label: 'Keys' },
  { id: 'refused', label: 'Refused' },
]

/** Page of the limits; admins see the keys and the refused calls as well. */
export function LimitsPage() {
  const { view = 'limits' } = useSearch({ from: '/limits' })
  const navigate = useNavigate()
  const { data: caller } = useQuery(whoAmI)
  // Keys and refusals are for admins.
  const shown = caller?.role === undefined || caller.role === 'admin' ? tabs : tabs.slice(0, 1)
  return (
    <>
      <PageHead title="Limits and keys"
        acts={shown.length > 1 && (
          <Tabs name="limits" label="Parts of this page" tabs={shown} chosen={view} choose={(id) =>
            void navigate({ to: '/limits', search: id === 'limits' ? {} : { view: id } })} />
        )} />
      <div className="page" id="limits-panel" role={shown.length > 1 ? 'tabpanel' : undefined}
        aria-labelledby={shown.length > 1 ? `limits-${view}` : undefined}
      >
        {view === 'keys'
          ? <KeyTable />
          : view === 'refused'
          ? <RefusedList />
          : (
            <>
              <Caller />
              <LimitList />
            </>
          )}
      </div>
    </>
  )
}
