/** The time line of a thread: each step is a knot, each branch a thread of its own. */

import { useVirtualizer } from '@tanstack/react-virtual'
import { memo, useEffect, useLayoutEffect, useMemo, useRef } from 'react'

import { Button } from '../parts/button.tsx'
import { Chip } from '../parts/chip.tsx'
import { counted, duration } from '../parts/amounts.ts'
import { Icon } from '../parts/icon.tsx'
import { useRowHeight } from './row-height.ts'
import { lanesOf } from './lanes.ts'
import type { Lane } from './lanes.ts'
import { placeWords } from './steps.ts'
import type { Step } from './steps.ts'
import css from './timeline.module.css'
import { Warp, widthOf } from './warp.tsx'

/** Actions on the steps of the time line. */
export interface StepActs {
  /** Shows a step; undefined for now. */
  readonly choose: (step: Step | undefined) => void
  readonly fork: (step: Step) => void
  readonly compare: (step: Step) => void
}

/** Steps, newest first, and which of them are looked at, each by the id of its row. */
export interface TimelineProps {
  readonly steps: readonly Step[]
  readonly headId: string | undefined
  readonly chosen: string | undefined
  readonly versus: string | undefined
  /** Number of steps that were read; there are fewer rows if runs are folded. */
  readonly known: number
  readonly hasMore: boolean
  readonly more: () => Promise<void>
  /** Steps whose words the rows show that are seen now. */
  readonly seen: (ids: readonly string[]) => void
  readonly acts: StepActs
}

/** Time line of a thread, the newest step first; older steps are read ahead. */
export function Timeline(
  { steps, headId, chosen, versus, known, hasMore, more, seen, acts }: TimelineProps,
) {
  const box = useRef<HTMLDivElement>(null)
  const height = useRowHeight()
  const lanes = useMemo(() => lanesOf(steps, headId), [steps, headId])
  const list = useVirtualizer({ count: steps.length, getScrollElement: () => box.current,
    estimateSize: () => height, overscan: 6, getItemKey: (at) => steps[at]!.id })
  useStandstill(steps, box, height)
  const items = list.getVirtualItems()
  const needsMore = hasMore && (items.at(-1)?.index ?? 0) > steps.length - 20
  useEffect(() => {
    if (needsMore) void more()
  }, [needsMore, more, known])
  useEffect(() => {
    seen(items.flatMap(({ index }) => spokenBy(steps[index]!)))
  }, [items, steps, seen])
  useEffect(() => list.measure(), [list, height])
  const at = steps.findIndex(({ id }) => id === chosen)
  useEffect(() => {
    if (at >= 0) list.scrollToIndex(at)
  }, [at, list])
  const width = widthOf(Math.max(0, ...items.map(({ index }) => outermost(lanes[index]!))))
  return (
    <div className={css['timeline']} ref={box} role="grid" tabIndex={0} data-timeline
      aria-label="Time line, newest step first" aria-rowcount={steps.length}
      aria-activedescendant={items.some(({ index }) => index === at) ? `step-${chosen}` : undefined}
    >
      <div role="rowgroup" className={css['rows']} style={{ height: list.getTotalSize() }}>
        {items.map(({ index, start }) => (
          <Row key={steps[index]!.id} step={steps[index]!} lane={lanes[index]!} index={index}
            start={start} width={width} height={height} isHead={steps[index]!.id === headId}
            isChosen={index === at} isVersus={steps[index]!.id === versus} acts={acts} />
        ))}
      </div>
    </div>
  )
}

/** The steps whose words a row shows: its own, and the input of the run that is folded into it. */
const spokenBy = ({ id, inputId }: Step) => inputId === undefined ? [id] : [id, inputId]

const outermost = ({ lane, through }: Lane) => Math.max(lane, through.at(-1) ?? 0)

/** New rows come above: what is looked at stays where it is, unless that is the newest row. */
function useStandstill(steps: readonly Step[], box: React.RefObject<HTMLDivElement | null>,
  height: number): void {
  const before = useRef(steps)
  useLayoutEffect(() => {
    const old = before.current
    before.current = steps
    const { scrollTop = 0 } = box.current ?? {}
    const top = old[Math.floor(scrollTop / height)]
    if (scrollTop < height || top === undefined) return
    const moved = steps.findIndex(({ id }) => id === top.id) - old.indexOf(top)
    if (moved > 0) box.current!.scrollTop += moved * height
  }, [steps, box, height])
}

const Row = memo(
  function Row({ step, lane, index, start, width, height, isHead, isChosen, isVersus, acts }: {
    readonly step: Step
    readonly lane: Lane
    readonly index: number
    readonly start: number
    readonly width: number
    readonly height: number
    readonly isHead: boolean
    readonly isChosen: boolean
    readonly isVersus: boolean
    readonly acts: StepActs
  }) {
    const { id, kind, label } = step
    const place = placeWords(step)
    return (
      <div id={`step-${id}`} role="row" aria-rowindex={index + 1} aria-selected={isChosen}
        className={classOf(step, lane, isChosen, isVersus)}
        style={{ transform: `translateY(${start}px)`, paddingLeft: width, height }}
        onClick={() => acts.choose(isChosen ? undefined : step)}
      >
        <Warp step={step} lane={lane} width={width} height={height} isChosen={isChosen} />
        <span role="gridcell" className={css['label']}>
          <span dir="auto" title={label}>
            {label}
            {kind === 'input' && <span className="unseen">, input</span>}
          </span>
          {step.said !== '' && <small dir="auto" title={step.said}>{step.said}</small>}
          <Hints step={step} isHead={isHead} />
        </span>
        <span role="gridcell" className={css['meta']}>
          {step.tookMs !== undefined && step.folded === 0 && duration(step.tookMs)}
          <i>{kind !== 'input' ? step.number : step.turn !== undefined && `Turn ${step.turn}`}</i>
        </span>
        <span role="gridcell" className={css['acts']}>
          <Button small icon={<Icon name="fork" size={14} />} tabIndex={-1}
            label={`Branch from ${place}`} onClick={(event) => {
            event.stopPropagation()
            acts.fork(step)
          }} />
          <Button small icon={<Icon name="compare" size={14} />} tabIndex={-1}
            label={`Compare ${place} with the chosen one`} onClick={(event) => {
            event.stopPropagation()
            acts.compare(step)
          }} />
        </span>
      </div>
    )
  },
)

function Hints({ step, isHead }: { readonly step: Step; readonly isHead: boolean }) {
  return (
    <>
      {step.status !== undefined && (
        <span className="unseen">{step.status === 'failed' ? 'Failed' : 'Waiting for you'}</span>
      )}
      {step.folded > 0 && <Chip>{counted(step.folded + 1, 'step')}</Chip>}
      {isHead && <Chip tone="accent">now</Chip>}
      {step.attempt > 1 && (
        <Chip tone="waiting" title="Resumed after a failure of its server">
          attempt {step.attempt}
        </Chip>
      )}
    </>
  )
}

function classOf({ kind, status }: Step, { lane }: Lane, isChosen: boolean,
  isVersus: boolean): string {
  return [css['row'], kind === 'input' && css['input'], status === 'failed' && css['failed'],
    lane > 0 && css['aside'], isChosen && css['chosen'], isVersus && css['versus']]
    .filter(Boolean).join(' ')
}
