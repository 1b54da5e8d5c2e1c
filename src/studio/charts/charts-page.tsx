/** Charts: the dashboards, the time, and the charts of the dashboard that is shown. */

import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { lazy, Suspense, useState } from 'react'

import type { Chart, Dashboard } from '../../api/index.ts'
import { whoAmI } from '../api/server.ts'
import { counted } from '../parts/amounts.ts'
import { Button } from '../parts/button.tsx'
import { Empty } from '../parts/empty.tsx'
import { Select } from '../parts/field.tsx'
import { Icon } from '../parts/icon.tsx'
import { ErrorNotice } from '../parts/notice.tsx'
import { PageHead } from '../parts/page-head.tsx'
import { Skeleton } from '../parts/skeleton.tsx'
import { useActs } from '../parts/acts.ts'
import { chartTimes } from '../addresses/charts.ts'
import type { ChartsSearch } from '../addresses/charts.ts'
import { dashboardList } from './chart-calls.ts'
import { ChartGrid } from './chart-grid.tsx'
import { timeWords } from './chart-window.ts'
import css from './charts.module.css'
import { LazyMenu } from './lazy-menu.tsx'

const ChartEditor = lazy(async () => ({
  default: (await import('./chart-editor.tsx')).ChartEditor,
}))
const dialogs = () => import('./dashboard-dialogs.tsx')
const DashboardForm = lazy(async () => ({ default: (await dialogs()).DashboardForm }))
const DeleteDialog = lazy(async () => ({ default: (await dialogs()).DeleteDialog }))

/** A dialog of the page: what it is about. */
type Asked =
  | { readonly kind: 'make' | 'rename' | 'delete' }
  | { readonly kind: 'remove'; readonly chart: Chart }

const readerWords = 'Your key may only read.'

/** Page of charts: the dashboards, and the charts of the chosen one. */
export function ChartsPage() {
  const search = useSearch({ from: '/charts' })
  const navigate = useNavigate()
  const { data: all, error, refetch } = useQuery(dashboardList)
  const { data: caller } = useQuery(whoAmI)
  const [asked, setAsked] = useState<Asked>()
  const refusal = caller?.role === 'reader' ? readerWords : undefined
  const shown = all?.find(({ id }) => id === search.dashboard) ?? all?.[0]
  const set = (change: Partial<ChartsSearch>, replace = true) =>
    void navigate({ to: '/charts', search: { ...search, ...change }, replace })
  const edit = (id: string) => set({ edit: id }, false)
  useActs(refusal === undefined
    ? [{ words: 'New chart', act: () => edit('new') }, { words: 'New dashboard',
      act: () => setAsked({ kind: 'make' }) }]
    : [])
  const edited = shown?.charts.find(({ id }) => id === search.edit)
  const { time = '24h' } = search
  return (
    <>
      <PageHead title="Charts" aside={all &&
        <span aria-live="polite">{counted(shown?.charts.length ?? 0, 'chart')}</span>}
        acts={
          <Button kind="primary" icon={<Icon name="plus" />} disabled={refusal !== undefined}
            title={refusal} onClick={() => edit('new')}
          >
            New chart
          </Button>
        }
      >
        <DashboardBar all={all ?? []} shown={shown} search={search} refusal={refusal} set={set}
          ask={(kind) => setAsked({ kind })} />
      </PageHead>
      <div className="page">
        {error !== null && all === undefined
          ? <ErrorNotice error={error} retry={() => void refetch()} />
          : all === undefined
          ? <Skeleton width="100%" height={200} />
          : shown === undefined || shown.charts.length === 0
          ? <NoCharts isWhole={shown === undefined} />
          : (
            <ChartGrid key={shown.id} dashboard={shown} time={time} refusal={refusal}
              asTable={search.as === 'table'} edit={({ id }) => edit(id)}
              remove={(chart) => setAsked({ kind: 'remove', chart })} />
          )}
      </div>
      <Suspense>
        {all !== undefined && (search.edit === 'new' || edited !== undefined) && (
          <ChartEditor key={search.edit} before={edited} all={all} shown={shown} time={time}
            close={(dashboard) =>
              set({ edit: undefined, ...dashboard && { dashboard } })} />
        )}
        {(asked?.kind === 'make' || asked?.kind === 'rename' && shown !== undefined) && (
          <DashboardForm before={asked.kind === 'rename' ? shown : undefined} all={all ?? []}
            close={(made) => {
              setAsked(undefined)
              if (made !== undefined) set({ dashboard: made }, false)
            }} />
        )}
        {asked?.kind === 'remove' && (
          <DeleteDialog chart={asked.chart} close={() => setAsked(undefined)} />
        )}
        {asked?.kind === 'delete' && shown !== undefined && (
          <DeleteDialog dashboard={shown} close={() => setAsked(undefined)} />
        )}
      </Suspense>
    </>
  )
}

function NoCharts({ isWhole }: { readonly isWhole: boolean }) {
  return (
    <Empty title={isWhole ? 'No charts yet' : 'No charts on this dashboard'}>
      <p>
        A chart shows a number of the runs of a project over time: how many there were, how long
        they took, what they cost, how many failed, and how good people and evaluators found them.
      </p>
    </Empty>
  )
}

/** True for the dashboard of the charts that stand on none: it is there as long as they are. */
const isLoose = ({ id, charts }: Dashboard): boolean =>
  charts.some(({ section_id: section }) => section !== id)

function DashboardBar({ all, shown, search, refusal, set, ask }: {
  readonly all: readonly Dashboard[]
  readonly shown: Dashboard | undefined
  readonly search: ChartsSearch
  readonly refusal: string | undefined
  readonly set: (change: Partial<ChartsSearch>) => void
  readonly ask: (kind: 'make' | 'rename' | 'delete') => void
}) {
  const asTable = search.as === 'table'
  const isFixed = shown === undefined || isLoose(shown)
  return (
    <div className={css['bar']}>
      {all.length > 0 && (
        <nav aria-label="Dashboards" className={css['dashboards']}>
          {all.map((each) => (
            <Link key={each.id} to="/charts" search={{ ...search, dashboard: each.id }}
              aria-current={each.id === shown?.id ? 'page' : undefined} dir="auto"
              title={each.title}
            >
              {each.title}
            </Link>
          ))}
        </nav>
      )}
      <div className={css['barActs']}>
        <Button kind="quiet" small icon={<Icon name="plus" size={14} />} title={refusal}
          disabled={refusal !== undefined} onClick={() => ask('make')}
        >
          <span className={css['make']}>New dashboard</span>
        </Button>
        {!isFixed && (
          <LazyMenu label="Acts of the dashboard" acts={[
            { label: 'Rename', icon: <Icon name="edit" />, disabled: refusal !== undefined,
              act: () => ask('rename') },
            { label: 'Delete', icon: <Icon name="trash" />, danger: true,
              disabled: refusal !== undefined, act: () => ask('delete') },
          ]} />
        )}
      </div>
      <div className={css['look']}>
        <Button small aria-pressed={asTable}
          onClick={() => set({ as: asTable ? undefined : 'table' })}
        >
          As tables
        </Button>
        <Select aria-label="Time" value={search.time ?? '24h'}
          onChange={({ target }) => set({ time: chartTimes.find((each) => each === target.value) })}
        >
          {chartTimes.map((each) => <option key={each} value={each}>{timeWords[each]}</option>)}
        </Select>
      </div>
    </div>
  )
}
