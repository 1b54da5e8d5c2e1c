/** The bar above a waterfall: what is looked for among the spans, and the part of the time. */

import { leastTimes } from '../../addresses/traces.ts'
import type { WaterfallView } from '../../addresses/traces.ts'
import { counted, duration } from '../../parts/amounts.ts'
import { Button } from '../../parts/button.tsx'
import { Select } from '../../parts/field.tsx'
import { Icon } from '../../parts/icon.tsx'
import { FilterBox } from '../../rows/filter-box.tsx'
import css from './waterfall.module.css'

/** View of the waterfall, its number of matches, and the actions of the bar. */
interface WaterfallBarProps {
  readonly view: WaterfallView
  readonly setView: (change: WaterfallView) => void
  /** Spans that are looked for; undefined if all are shown. */
  readonly found: number | undefined
  readonly toggleSlowest: () => void
  readonly isFolded: boolean
  readonly foldAll: () => void
  readonly isZoomed: boolean
  readonly zoomBy: (factor: number) => void
  readonly fit: () => void
}

/** Bar with the conditions on spans, their folding and the zoom of the time. */
export function WaterfallBar(props: WaterfallBarProps) {
  const { view, setView, found, toggleSlowest, isFolded, foldAll, isZoomed, zoomBy, fit } = props
  return (
    <div className={css['bar']}>
      <FilterBox small label="Find spans" placeholder="Find in names, inputs and outputs …"
        value={view.q ?? ''} change={(q) => setView({ q: q || undefined })} />
      <span className={css['conditions']} role="group" aria-label="Only spans">
        <Button kind="quiet" small aria-pressed={view.failed === 'on'} title="Only failed spans"
          onClick={() => setView({ failed: view.failed === 'on' ? undefined : 'on' })}
        >
          Failed
        </Button>
        <Select aria-label="Duration" value={view.least ?? ''} onChange={({ target }) =>
          setView({ least: leastTimes.find((each) => each === target.value) })}
        >
          <option value="">Any duration</option>
          {leastTimes.map((each) => (
            <option key={each} value={each}>{duration(Number(each))} and more</option>
          ))}
        </Select>
        <Button kind="quiet" small aria-pressed={view.path === 'on'}
          title="Only the chain of spans without which it would have ended earlier" onClick={() =>
          setView({ path: view.path === 'on' ? undefined : 'on' })}
        >
          Critical path
        </Button>
        <Button kind="quiet" small aria-expanded={view.slow === 'on'} onClick={toggleSlowest}>
          Slowest
        </Button>
      </span>
      <span className={css['found']} role="status">
        {found !== undefined && counted(found, 'span')}
      </span>
      <Button kind="quiet" small onClick={foldAll} disabled={found !== undefined}>
        {isFolded ? 'Open all' : 'Fold'}
      </Button>
      <span className={css['zoom']} role="group" aria-label="Time">
        <Button kind="quiet" small label="Zoom out" disabled={!isZoomed}
          icon={<Icon name="minus" size={14} />} onClick={() => zoomBy(2)} />
        <Button kind="quiet" small label="Zoom in" icon={<Icon name="plus" size={14} />}
          onClick={() => zoomBy(0.5)} />
        <Button kind="quiet" small disabled={!isZoomed} onClick={fit}>Fit</Button>
      </span>
    </div>
  )
}
