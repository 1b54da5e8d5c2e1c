/** Menu of the actions on a chart. */

import { useNavigate } from '@tanstack/react-router'

import type { Chart } from '../../api/index.ts'
import { Icon } from '../parts/icon.tsx'
import { widthBeside, widthOf } from './arrange.ts'
import type { ChartWidth } from './arrange.ts'
import type { ChartTime } from '../addresses/charts.ts'
import { draftOf, filterOf } from './chart-draft.ts'
import { LazyMenu } from './lazy-menu.tsx'

/** Actions that the card of a chart offers. */
export interface ChartActs {
  readonly edit: () => void
  readonly remove: () => void
  readonly move: (step: 1 | -1) => void
  readonly widen: (width: ChartWidth) => void
}

/** Menu of a chart: edit it, see its traces, move it, resize it or delete it. */
export function ChartMenu({ chart, place, total, time, isReader, acts }: {
  readonly chart: Chart
  readonly place: number
  readonly total: number
  readonly time: ChartTime
  readonly isReader: boolean
  readonly acts: ChartActs
}) {
  const navigate = useNavigate()
  const project = chart.common_filters?.session?.[0]
  const [wider, narrower] = [widthBeside(widthOf(chart), 1), widthBeside(widthOf(chart), -1)]
  const widen = (width: ChartWidth | undefined) => width !== undefined && acts.widen(width)
  return (
    <LazyMenu label={`Acts of ${chart.title}`} acts={[
      { label: 'Edit', icon: <Icon name="edit" />, disabled: isReader, act: acts.edit },
      { label: 'Its traces', icon: <Icon name="traces" />, disabled: project === undefined,
        act: () =>
          void navigate({ to: '/traces/$project', params: { project: project! },
            search: { filter: filterOf({ about: 'runs', filter: draftOf(chart).filter }),
              time } }) },
      { label: 'Move up', icon: <Icon name="up" />, disabled: isReader || place === 0,
        act: () => acts.move(-1) },
      { label: 'Move down', icon: <Icon name="down" />, disabled: isReader || place === total - 1,
        act: () => acts.move(1) },
      { label: 'Wider', icon: <Icon name="plus" />, disabled: isReader || wider === undefined,
        act: () => widen(wider) },
      { label: 'Narrower', icon: <Icon name="minus" />,
        disabled: isReader || narrower === undefined, act: () => widen(narrower) },
      { label: 'Delete', icon: <Icon name="trash" />, danger: true, disabled: isReader,
        act: acts.remove },
    ]} />
  )
}
