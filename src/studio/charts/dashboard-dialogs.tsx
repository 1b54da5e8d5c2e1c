/** Dialogs of dashboards: making one, renaming it, and deleting it or one of its charts. */

import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'

import type { Chart, Dashboard } from '../../api/index.ts'
import { projectNames } from '../api/platform/projects.ts'
import { counted } from '../parts/amounts.ts'
import { Button } from '../parts/button.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { Field, TextField } from '../parts/field.tsx'
import { ErrorNotice } from '../parts/notice.tsx'
import { lastIndex } from './arrange.ts'
import { createChart, createDashboard, deleteChart, deleteDashboard, renameDashboard,
  usualCharts } from './chart-calls.ts'
import css from './charts.module.css'

/** Makes a dashboard, empty or with the usual charts of a project, or renames one. */
export function DashboardForm({ before, all, close }: {
  readonly before: Dashboard | undefined
  readonly all: readonly Dashboard[]
  /** Gets the id of a dashboard that was made. */
  readonly close: (made?: string) => void
}) {
  const cache = useQueryClient()
  const [title, setTitle] = useState(before?.title ?? '')
  const [project, setProject] = useState('')
  const { data } = useQuery(projectNames)
  const work = useMutation({
    mutationFn: async () => {
      if (before !== undefined) return void await renameDashboard(before.id, title.trim())
      const { id } = await createDashboard(title.trim(), lastIndex(all))
      if (project !== '') await addUsual(id, project)
      return id
    },
    onSuccess: async (made) => {
      await cache.invalidateQueries({ queryKey: ['charts'] })
      close(made)
    },
  })
  return (
    <Dialog open title={before === undefined ? 'New dashboard' : 'Rename the dashboard'}
      close={() => close()}
    >
      <form className={css['form']} onSubmit={(event) => {
        event.preventDefault()
        work.mutate()
      }}>
        <TextField label="Name" required value={title} maxLength={1_000} autoComplete="off"
          change={setTitle} />
        {before === undefined && (
          <Field label="Begin with" hint="The usual charts can be changed and deleted like others.">
            {(ids) => (
              <select {...ids} value={project} onChange={({ target }) => setProject(target.value)}>
                <option value="">No charts</option>
                {data?.map(({ id, name }) => (
                  <option key={id} value={id}>The usual charts of {name}</option>
                ))}
              </select>
            )}
          </Field>
        )}
        {work.isError && <ErrorNotice error={work.error} />}
        <footer>
          <Button onClick={() => close()}>Cancel</Button>
          <Button type="submit" kind="primary" disabled={work.isPending}>
            {work.isPending ? 'Wait …' : before === undefined ? 'Make the dashboard' : 'Rename'}
          </Button>
        </footer>
      </form>
    </Dialog>
  )
}

async function addUsual(dashboard: string, project: string): Promise<void> {
  let index = 0
  for (const { id: _, data: __, series, ...chart } of await usualCharts(project)) {
    index = lastIndex([{ index }])
    await createChart({ ...chart, section_id: dashboard, index,
      series: series.map(({ name, metric }) => ({ name, metric })) })
  }
}

/** Asks before a chart is deleted, or a dashboard with its charts. */
export function DeleteDialog({ close, ...what }: {
  readonly close: () => void
} & ({ readonly chart: Chart } | { readonly dashboard: Dashboard })) {
  const cache = useQueryClient()
  const work = useMutation({
    mutationFn: () =>
      'chart' in what ? deleteChart(what.chart.id) : deleteDashboard(what.dashboard.id),
    onSuccess: async () => {
      await cache.invalidateQueries({ queryKey: ['charts', 'dashboards'] })
      close()
    },
  })
  const words = 'chart' in what
    ? { noun: 'chart', name: what.chart.title, rest: 'goes. The runs that it counts stay.' }
    : { noun: 'dashboard', name: what.dashboard.title,
      rest: `goes with ${counted(what.dashboard.charts.length, 'chart')}. The runs stay.` }
  return (
    <Dialog open close={close} title={`Delete this ${words.noun}?`}>
      <div className={css['form']}>
        <p>
          <b dir="auto">{words.name}</b> {words.rest}
        </p>
        {work.isError && <ErrorNotice error={work.error} retry={() => work.mutate()} />}
        <footer>
          <Button onClick={close}>Cancel</Button>
          <Button kind="danger" disabled={work.isPending} onClick={() => work.mutate()}>
            Delete
          </Button>
        </footer>
      </div>
    </Dialog>
  )
}
