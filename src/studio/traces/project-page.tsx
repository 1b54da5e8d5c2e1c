/** The traces of a project: filters, statistics, charts, the list, and a trace beside it. */

import { useQuery } from '@tanstack/react-query'
import type { UseQueryResult } from '@tanstack/react-query'
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { lazy, Suspense, useCallback, useMemo, useState } from 'react'

import { projectQuery } from '../api/platform/projects.ts'
import type { Project } from '../api/platform/projects.ts'
import type { TraceQuestion } from '../api/platform/traces.ts'
import { nowMs } from '../env.ts'
import { Button, buttonClass } from '../parts/button.tsx'
import { Icon } from '../parts/icon.tsx'
import { ErrorNotice } from '../parts/notice.tsx'
import { Skeleton } from '../parts/skeleton.tsx'
import { Tabs } from '../parts/tabs.tsx'
import { beginOf } from '../addresses/traces.ts'
import type { ProjectSearch } from '../addresses/traces.ts'
import type { Column } from './columns/columns.ts'
import { useColumns } from './columns/use-columns.ts'
import type { ColumnsInUse } from './columns/use-columns.ts'
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
const TraceColumns = lazy(async () => ({
  default: (await import('./columns/trace-columns.tsx')).TraceColumns,
}))
const ConversationList = lazy(async () => ({
  default: (await import('./conversations/conversation-list.tsx')).ConversationList,
}))
const Charts = lazy(async () => ({ default: (await import('./charts/charts.tsx')).Charts }))

const rowTabs = [{ id: 'traces', label: 'Traces' }, { id: 'runs', label: 'All runs' }, {
  id: 'calls',
  label: 'Model calls',
}, { id: 'conversations', label: 'Conversations' }] as const

/** Page of one tracing project: its filter, its charts and its traces. */
export function ProjectPage() {
  const { project: projectId } = useParams({ from: '/traces/$project' })
  const search = useSearch({ from: '/traces/$project' })
  const navigate = useNavigate()
  const project = useQuery(projectQuery(projectId))
  const { q, filter, time, charts, peek, list: rows, order, cols } = search
  const set = useCallback(
    (change: Partial<ProjectSearch>) =>
      void navigate({ to: '/traces/$project', params: { project: projectId }, replace: true,
        search: (old: ProjectSearch) => ({ ...old, ...change }) }),
    [navigate, projectId],
  )
  const inUse = useColumns(cols, set)
  const hasMetadata = inUse.columns.some(({ kind }) => kind === 'metadata')
  const question = useMemo((): TraceQuestion => ({
    projectId,
    filter: filter ?? writeLanguage(readWords(q ?? '')),
    fromMs: beginOf(time, nowMs()),
    ...rows !== undefined && rows !== 'conversations' && { rows },
    ...order !== undefined && { oldest: true },
    ...hasMetadata && { metadata: true },
  }), [projectId, q, filter, time, rows, order, hasMetadata])
  const isFiltered = question.filter !== undefined || time !== undefined
  return (
    <>
      <ProjectHead projectId={projectId} project={project} search={search} set={set}
        question={question} inUse={inUse} />
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
              {rows === 'conversations'
                ? (
                  <Suspense>
                    <ConversationList question={question} isFiltered={isFiltered}
                      projectName={project.data?.name} />
                  </Suspense>
                )
                : (
                  <TraceList key={rows ?? 'traces'} question={question} peek={peek} set={set}
                    inUse={inUse} isFiltered={isFiltered} />
                )}
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

function ProjectHead({ projectId, project, search, set, question, inUse }: {
  readonly projectId: string
  readonly project: Pick<UseQueryResult<Project>, 'data' | 'isError'>
  readonly search: ProjectSearch
  readonly set: (change: Partial<ProjectSearch>) => void
  readonly question: TraceQuestion
  readonly inUse: ColumnsInUse
}) {
  const { charts, list: rows } = search
  return (
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
        {rows !== 'conversations' && <ColumnsButton question={question} inUse={inUse} />}
        <ViewsButton projectId={projectId} search={search} columns={inUse.columns} />
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
  )
}

/** Button of the dialog of columns; phones have no room for any. */
function ColumnsButton({ question, inUse }: {
  readonly question: TraceQuestion
  readonly inUse: ColumnsInUse
}) {
  const [isOpen, setOpen] = useState(false)
  return (
    <>
      <Button kind="quiet" small className={css['columns'] ?? ''}
        icon={<Icon name="columns" size={14} />} onClick={() => setOpen(true)}
      >
        Columns
      </Button>
      {isOpen && (
        <Suspense>
          <TraceColumns question={question} inUse={inUse} close={() => setOpen(false)} />
        </Suspense>
      )}
    </>
  )
}

function ViewsButton({ projectId, search, columns }: {
  readonly projectId: string
  readonly search: ProjectSearch
  readonly columns: readonly Column[]
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
          <TraceViews projectId={projectId} search={search} columns={columns} close={() =>
            setOpen(false)} />
        </Suspense>
      )}
    </>
  )
}
