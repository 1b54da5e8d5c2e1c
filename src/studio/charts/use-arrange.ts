/** Moves and widens charts: shown at once, then kept by the server, one change after the other. */

import { useMutation, useQueryClient } from '@tanstack/react-query'

import type { Chart, Dashboard } from '../../api/index.ts'
import { moved, newIndexes, withWidth } from './arrange.ts'
import type { ChartWidth } from './arrange.ts'
import { changeChart, dashboardList } from './chart-calls.ts'

type Change = { readonly id: string } & Partial<Pick<Chart, 'index' | 'metadata'>>

/** Moves and widens the charts of a dashboard. */
export function useArrange(dashboard: Dashboard) {
  const cache = useQueryClient()
  const keep = useMutation({
    mutationKey: ['charts', 'arrange'],
    scope: { id: 'charts' },
    mutationFn: async (changes: readonly Change[]) => {
      for (const { id, ...body } of changes) await changeChart(id, body)
    },
    // What comes back while more is to be kept would show an order that is past.
    onSettled: () =>
      cache.isMutating({ mutationKey: ['charts', 'arrange'] }) === 1
        ? cache.invalidateQueries({ queryKey: dashboardList.queryKey })
        : undefined,
  })
  const change = (charts: readonly Chart[], changes: readonly Change[]) => {
    const byId = new Map(changes.map((each) => [each.id, each]))
    const next = charts.map((chart) => ({ ...chart, ...byId.get(chart.id) }))
    void cache.cancelQueries({ queryKey: dashboardList.queryKey })
    cache.setQueryData(dashboardList.queryKey,
      (all: readonly Dashboard[] | undefined) =>
        all?.map((each) => each.id === dashboard.id ? { ...each, charts: next } : each))
    keep.mutate(changes)
  }
  return {
    error: keep.error,
    /** Puts a chart at a place. */
    move: (id: string, to: number) => {
      const order = moved(dashboard.charts, id, to)
      change(order, newIndexes(order, id))
    },
    widen: (chart: Chart, width: ChartWidth) =>
      change(dashboard.charts, [{ id: chart.id, ...withWidth(chart, width) }]),
  }
}
