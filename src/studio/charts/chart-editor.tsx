/** The editor of a chart, in a drawer, with the chart as it would be. */

import { keepPreviousData, useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import type { FormEvent } from 'react'

import type { Chart, Dashboard } from '../../api/index.ts'
import { nowMs } from '../env.ts'
import { Button } from '../parts/button.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { ErrorNotice } from '../parts/notice.tsx'
import { useSettled } from '../rows/settled.ts'
import type { ChartTime } from '../addresses/charts.ts'
import { lastIndex } from './arrange.ts'
import { ChartBody } from './chart-body.tsx'
import { changeChart, createChart, previewChart } from './chart-calls.ts'
import { bodyOf, draftOf, emptyDraft, isWhole } from './chart-draft.ts'
import type { ChartDraft } from './chart-draft.ts'
import { ChartFields } from './chart-fields.tsx'
import { windowOf } from './chart-window.ts'
import css from './charts.module.css'

/** Milliseconds without a change after which the drawing follows the editor. */
const restMs = 500

/** The drawer; without a chart it makes a new one. */
export function ChartEditor({ before, all, shown, time, close }: {
  readonly before: Chart | undefined
  readonly all: readonly Dashboard[]
  readonly shown: Dashboard | undefined
  readonly time: ChartTime
  /** Gets the dashboard where the chart stands now. */
  readonly close: (dashboard?: string) => void
}) {
  const [draft, setDraft] = useState(before === undefined ? emptyDraft : draftOf(before))
  const [place, setPlace] = useState(shown?.id ?? '')
  const set = (change: Partial<ChartDraft>) => setDraft((now) => ({ ...now, ...change }))
  const cache = useQueryClient()
  const save = useMutation({
    mutationFn: async () => {
      const body = bodyOf(draft, before)
      const to = all.find(({ id }) => id === place)
      const isMoved = before === undefined || place !== shown?.id
      const whole = isMoved
        ? { ...body, index: lastIndex(to?.charts ?? []), ...place !== '' && { section_id: place } }
        : body
      return before === undefined
        ? createChart({ ...whole, series: whole.series ?? [] })
        : changeChart(before.id, whole)
    },
    onSuccess: async ({ section_id: dashboard }) => {
      await cache.invalidateQueries({ queryKey: ['charts'] })
      close(dashboard ?? undefined)
    },
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    save.mutate()
  }
  return (
    <Dialog open side title={before === undefined ? 'New chart' : 'Edit the chart'}
      close={() => close()}
    >
      <form className={css['form']} onSubmit={submit}>
        <Preview draft={draft} before={before} time={time} />
        <ChartFields draft={draft} set={set} all={all} place={place} setPlace={setPlace} />
        {save.error !== null && <ErrorNotice error={save.error} />}
        <footer>
          <Button onClick={() => close()}>Cancel</Button>
          <Button type="submit" kind="primary" disabled={save.isPending}>
            {save.isPending ? 'Saving …' : before === undefined ? 'Make the chart' : 'Save'}
          </Button>
        </footer>
      </form>
    </Dialog>
  )
}

function Preview({ draft, before, time }: {
  readonly draft: ChartDraft
  readonly before: Chart | undefined
  readonly time: ChartTime
}) {
  const settled = useSettled(draft, restMs)
  const { title = '', chart_type: kind = 'line', series, common_filters: common } = {
    ...before,
    ...bodyOf(settled, before),
  }
  const isReady = Array.isArray(series) && isWhole(settled)
  const { data, error, isPlaceholderData } = useQuery({
    queryKey: ['charts', 'preview', series, common, time],
    queryFn: async ({ signal }) => {
      const window = windowOf(time, nowMs())
      const points = await previewChart({ series: series!, common_filters: common ?? null }, window,
        signal)
      return { window, points, series: series!.map((each, at) => ({ ...each, id: String(at) })) }
    },
    enabled: isReady,
    placeholderData: keepPreviousData,
    staleTime: 60_000,
    retry: false,
  })
  return (
    <section className={css['preview']} aria-label="Preview" aria-busy={isPlaceholderData}>
      {!isReady
        ? <p className={css['nothing']}>Choose a project: here you see what the chart shows.</p>
        : error !== null
        ? <ErrorNotice error={error} />
        : (
          <ChartBody
            chart={{ title: title || 'The chart', chart_type: kind, series: data?.series ?? [] }}
            points={data?.points}
            window={data?.window}
            asTable={false}
          />
        )}
    </section>
  )
}
