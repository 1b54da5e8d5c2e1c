/** The crons: when each runs, how its newest run ended, and what may be done. */

import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { lazy, Suspense, useMemo } from 'react'

import { assistantList } from '../api/assistants.ts'
import { useRefusal } from '../api/refusal.ts'
import { cronStates } from '../addresses/crons.ts'
import type { CronListSearch } from '../addresses/crons.ts'
import { useActs } from '../parts/acts.ts'
import { Empty } from '../parts/empty.tsx'
import { Select } from '../parts/field.tsx'
import { ListBody } from '../rows/list-body.tsx'
import { ListPage } from '../rows/list-page.tsx'
import { cronPages } from './cron-calls.ts'
import { CronTable } from './cron-table.tsx'
import css from './crons.module.css'

const CronEditor = lazy(async () => ({ default: (await import('./cron-editor.tsx')).CronEditor }))

const stateWords = { on: 'On', paused: 'Paused' } as const

/** Page of the crons, with the editor of one. */
export function CronList() {
  const search = useSearch({ from: '/crons' })
  const navigate = useNavigate({ from: '/crons' })
  const go = (part: Partial<CronListSearch>) =>
    // An editor that closes late keeps what was chosen meanwhile.
    void navigate({ to: '/crons', search: (now) => ({ ...now, ...part }),
      replace: part.edit === undefined })
  const { state, assistant, edit } = search
  const filter = useMemo(() => ({
    ...state !== undefined && { enabled: state === 'on' },
    ...assistant !== undefined && { assistant_id: assistant },
  }), [state, assistant])
  const list = useInfiniteQuery(cronPages(filter))
  const refusal = useRefusal('Your key may only read.')
  const total = list.data?.pages.at(-1)?.total
  useActs(refusal === undefined ? [{ words: 'New cron', act: () => go({ edit: 'new' }) }] : [])
  return (
    <ListPage title="Crons" noun="cron" total={total}
      make={{ words: 'New cron', refusal, act: () => go({ edit: 'new' }) }}
      filters={<Filters search={search} change={go} />}
    >
      <ListBody list={list} isEmpty={() => total === 0}
        empty={<NoCrons isFiltered={Object.keys(filter).length > 0} />}
      >
        {({ pages }) => (
          <CronTable pages={pages.map(({ rows }) => rows)} refusal={refusal}
            edit={(id) => go({ edit: id })} />
        )}
      </ListBody>
      {edit !== undefined && (
        <Suspense>
          <CronEditor key={edit} id={edit === 'new' ? undefined : edit} close={() =>
            go({ edit: undefined })} />
        </Suspense>
      )}
    </ListPage>
  )
}

function Filters({ search: { state, assistant }, change }: {
  readonly search: CronListSearch
  readonly change: (part: Partial<CronListSearch>) => void
}) {
  const { data: assistants = [] } = useQuery(assistantList)
  return (
    <div className={css['filters']}>
      <Select aria-label="State" value={state ?? ''}
        onChange={({ target }) =>
          change({ state: cronStates.find((each) => each === target.value) })}
      >
        <option value="">On and paused</option>
        {cronStates.map((each) => <option key={each} value={each}>{stateWords[each]}</option>)}
      </Select>
      <Select aria-label="Assistant" value={assistant ?? ''}
        onChange={({ target }) => change({ assistant: target.value || undefined })}
      >
        <option value="">All assistants</option>
        {assistants.map(({ assistant_id: id, name }) => (
          <option key={id} value={id}>{name || id}</option>
        ))}
      </Select>
    </div>
  )
}

function NoCrons({ isFiltered }: { readonly isFiltered: boolean }) {
  return isFiltered
    ? <Empty title="No cron matches" />
    : (
      <Empty title="No crons yet">
        <p>A cron runs an assistant again and again, at the times of its schedule.</p>
      </Empty>
    )
}
