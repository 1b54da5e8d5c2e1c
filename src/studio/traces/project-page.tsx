/** The traces of a project: filters, statistics, charts, the list, and a trace beside it. */

import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { lazy, Suspense, useCallback, useMemo, useState } from 'react'

import { projectQuery } from '../api/platform/projects.ts'
import type { TraceQuestion } from '../api/platform/traces.ts'
import { nowMs } from '../env.ts'
import { Button, buttonClass } from '../parts/button.tsx'
import { Icon } from '../parts/icon.tsx'
import { ErrorNotice } from '../parts/notice.tsx'
import { Skeleton } from '../parts/skeleton.tsx'
import { Tabs } from '../parts/tabs.tsx'
import { beginOf } from '../addresses/traces.ts'
import type { ProjectSearch } from '../addresses/traces.ts'
import { FilterBar } from './filter/filter-bar.tsx'
import { writeLanguage } from './filter/filter-language.ts'
import { readWords } from './filter/filter-parts.ts'
import css from './project-page.module.css'
import { StatisticsLine } from './statistics-line.tsx'
import { TraceList } from './trace-list.tsx'
import { TracePeek } from './trace-peek.tsx'

const TraceViews = lazy(async () => ({
  default: (await import('./trace-views.tsx')).TraceViews,
}))
const Charts = lazy(async () => ({ default: (await import('./charts/charts.tsx')).Charts }))

const rowTabs = [{ id: 'traces', label: 'Traces' }, { id: 'runs', label: 'All runs' }, {
  id: 'calls',
  label: 'Model calls',
}] as const

/** Page of one tracing project: its filter, its charts and its traces. */
export function ProjectPage() {
  const { project: projectId } = useParams({ from: '/traces/$project' })
  const search = useSearch({ from: '/traces/$project' })
  const navigate = useNavigate()
  const project = useQuery(projectQuery(projectId))
  const { q, filter, time, charts, peek, list: rows, order } = search
  const question = useMemo((): TraceQuestion => ({
    projectId,
    filter: filter ?? writeLanguage(readWords(q ?? '')),
    fromMs: beginOf(time, nowMs()),
    ...rows !== undefined && { rows },
    ...order !== undefined && { oldest: true },
  }), [projectId, q, filter, time, rows, order])
  const set = useCallback(
    (change: Partial<ProjectSearch>) =>
      void navigate({ to: '/traces/$project', params: { project: projectId }, replace: true,
        search: (old: ProjectSearch) => ({ ...old, ...change }) }),
    [navigate, projectId],
  )
  return (
    <>
      <header className={css['head']}>
        <div className={css['line']}>
          <Link to="/traces" search={{}} className={buttonClass('quiet', true, true)}
            aria-label="All projects" title="All projects"
          >
            <Icon name="back" />
          </Link>
          {project.data === undefined
            ? <h1>{project.isError ? 'Project' : <Skeleton width={160} height={18} />}</h1>
            : <h1 title={project.data.name} dir="auto">{project.data.name}</h1>}
          <ViewsButton projectId={projectId} search={search} />
          <Button small aria-pressed={charts === 'on'} icon={<Icon name="chart" size={14} />}
            onClick={() => set({ charts: charts === 'on' ? undefined : 'on' })}
          >
            Charts
          </Button>
        </div>
        <FilterBar search={search} set={set} />
        <Tabs name="traces" label="Rows" tabs={rowTabs} chosen={rows ?? 'traces'}
          choose={(id) => set({ list: id === 'traces' ? undefined : id, peek: undefined })} />
      </header>
      {project.isError
        ? (
          <div className={css['notice']}>
            <ErrorNotice error={project.error} retry={() => void project.refetch()} />
          </div>
        )
        : (
          <div className={`${css['body']} ${peek === undefined ? '' : css['peeking']}`}>
            <div className={css['main']} id="traces-panel">
              <StatisticsLine question={question} project={project.data} />
              {charts === 'on' && (
                <Suspense fallback={<div className={css['chartsToCome']} />}>
                  <Charts question={question} />
                </Suspense>
              )}
              <TraceList key={rows ?? 'traces'} question={question} peek={peek} set={set}
                isFiltered={question.filter !== undefined || time !== undefined} />
            </div>
            {peek !== undefined && (
              <TracePeek projectId={projectId} spanId={peek} close={() =>
                set({ peek: undefined })} />
            )}
          </div>
        )}
    </>
  )
}

function ViewsButton({ projectId, search }: {
  readonly projectId: string
  readonly search: ProjectSearch
}) {
  const [isOpen, setOpen] = useState(false)
  return (
    <>
      <Button kind="quiet" small icon={<Icon name="filter" size={14} />}
        onClick={() => setOpen(true)}
      >
        Views
      </Button>
      {isOpen && (
        <Suspense>
          <TraceViews projectId={projectId} search={search} close={() => setOpen(false)} />
        </Suspense>
      )}
    </>
  )
}
