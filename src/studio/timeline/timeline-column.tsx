/** The column of the time line: its head, its filter, and its keys. */

import { lazy, Suspense, useCallback, useMemo, useState } from 'react'

import { count } from '../parts/amounts.ts'
import { Divider } from '../parts/room/divider.tsx'
import { Empty } from '../parts/empty.tsx'
import { ErrorNotice } from '../parts/notice.tsx'
import { Skeleton } from '../parts/skeleton.tsx'
import { useKeys } from '../parts/keys.ts'
import { isPhone } from '../parts/room/phone.ts'
import { lanesOf } from './lanes.ts'
import { contracted, foldedRuns, passes, rowIdOf, stepsOf } from './steps.ts'
import type { Step, StepFilter } from './steps.ts'
import { paneId } from '../thread/screen/pane-id.ts'
import css from '../thread/screen/columns.module.css'
import { Timeline } from './timeline.tsx'
import type { StepActs } from './timeline.tsx'
import type { Screen } from '../thread/screen/use-screen.ts'
import { useOldest } from './use-oldest.ts'
import { useStepWords } from './use-step-words.ts'
import { unseenOf } from './warp.tsx'

const TimelineFilter = lazy(async () => ({
  default: (await import('./timeline-filter.tsx')).TimelineFilter,
}))

/** From so many steps on there is a filter, and from so many on a run is one row. */
const filteredFrom = 50
const foldedFrom = 300

/** Column with the time line of a thread and its filter. */
export function TimelineColumn({ screen }: { readonly screen: Screen }) {
  const { answers: { history, more, thread }, search, headId, steps: states } = screen
  const words = useStepWords(thread.data!.thread_id, states)
  const all = useMemo(() => stepsOf(states, words.words), [states, words.words])
  const [filter, setFilter] = useState<StepFilter>({})
  const [chosen, setChosen] = useState<boolean>()
  const isFolded = chosen ?? all.length > foldedFrom
  const headRow = useMemo(() => rowIdOf(all, headId, { any: true }), [all, headId])
  const chosenRow = useMemo(() => search.at && rowIdOf(all, search.at, search.node), [all,
    search.at, search.node])
  const versusRow = useMemo(() => search.vs && rowIdOf(all, search.vs, undefined), [all, search.vs])
  const steps = useMemo(() => shownOf(all, filter, isFolded, [headRow, chosenRow, versusRow]), [all,
    filter, isFolded, headRow, chosenRow, versusRow])
  const acts = useStepActs(screen)
  const toOldest = useOldest(history.data, more, search.at, acts.show)
  useStepKeys(screen, steps, chosenRow ?? headRow, acts, toOldest)
  const { hasMore = false } = history.data ?? {}
  const branches = useMemo(
    () => unseenOf(Math.max(0, ...lanesOf(steps, headRow).map(({ lane }) => lane))),
    [steps, headRow],
  )
  return (
    <section className={`${css['column']} ${css['line']}`} aria-label="Time line"
      id={paneId('line', screen)}
    >
      <Divider pane="line" label="Width of the time line" edge="right" usual={268} least={180}
        most={480} />
      <div className={css['head']}>
        <h2>Time line</h2>
        <span className={css['aside']}>
          {branches > 0 && <span>+{branches} branches</span>}
          {history.data !== undefined &&
            `${count(all.length)}${hasMore ? '+' : ''} ${all.length === 1 ? 'step' : 'steps'}`}
        </span>
      </div>
      {all.length > filteredFrom && (
        <Suspense>
          <TimelineFilter steps={all} filter={filter} change={setFilter} isFolded={isFolded}
            fold={setChosen} />
        </Suspense>
      )}
      {history.error !== null && history.data === undefined && (
        <div className={css['pad']}>
          <ErrorNotice error={history.error} retry={() => void history.refetch()} />
        </div>
      )}
      {history.isPending && <Reading />}
      {history.data !== undefined && (all.length === 0
        ? (
          <Empty title="No steps yet">
            <p>Each step of a run leaves a knot here: to look at, to go back to, to branch from.</p>
          </Empty>
        )
        : steps.length === 0
        ? <Empty title="No step is like that" />
        : (
          <Timeline steps={steps} headId={headRow} chosen={chosenRow} versus={versusRow}
            known={states.length} hasMore={hasMore} more={more} seen={words.seen} acts={acts} />
        ))}
    </section>
  )
}

function Reading() {
  return (
    <div className={css['pad']} role="status" aria-label="Steps are read">
      {[80, 55, 70, 80, 45, 65].map((width) => <Skeleton key={width} width={`${width}%`} />)}
    </div>
  )
}

function shownOf(all: readonly Step[], filter: StepFilter, isFolded: boolean,
  kept: readonly (string | undefined)[]): readonly Step[] {
  const isFiltered = filter.node !== undefined || filter.run !== undefined || filter.inputs === true
  if (isFiltered) return contracted(all, (step) => passes(step, filter))
  return isFolded ? foldedRuns(all, new Set(kept.filter((id) => id !== undefined))) : all
}

/** Actions on steps, and those on checkpoints that they stand for. */
interface ColumnActs extends StepActs {
  readonly show: (checkpointId: string) => void
  readonly compareWith: (checkpointId: string) => void
}

function useStepActs({ go, headId, search: { at } }: Screen): ColumnActs {
  const choose = useCallback((step: Step | undefined) => {
    // What failed is shown with the panel of its node, and the step before that without it.
    const isFailed = step?.status === 'failed'
    go({ at: step?.checkpointId, vs: undefined, ...isFailed && { node: step.nodes[0] },
      ...step?.failsNext && { node: undefined }, ...isPhone() && { pane: undefined } }, true)
  }, [go])
  const show = useCallback((id: string) => go({ at: id, vs: undefined }, true), [go])
  const fork = useCallback(
    ({ checkpointId }: Step) =>
      go({ at: checkpointId, vs: undefined, view: undefined, pane: undefined }),
    [go],
  )
  const compareWith = useCallback((id: string) => {
    const from = at ?? headId
    if (id !== from) go({ at: from, vs: id, view: 'state', pane: undefined })
  }, [go, at, headId])
  const compare = useCallback(({ checkpointId }: Step) => compareWith(checkpointId), [compareWith])
  return useMemo(() => ({ show, choose, fork, compare, compareWith }), [show, choose, fork, compare,
    compareWith])
}

function useStepKeys({ headId, go }: Screen, steps: readonly Step[], chosenRow: string | undefined,
  { choose, compareWith }: ColumnActs, toOldest: () => void): void {
  const move = (by: number) => {
    const at = steps.findIndex(({ id }) => id === chosenRow)
    const next = steps[Math.max(0, Math.min(steps.length - 1, at + by))]
    if (next !== undefined) choose(next)
  }
  const down = { words: 'Older step', act: () => move(1) }
  const up = { words: 'Newer step', act: () => move(-1) }
  useKeys('Time line', {
    'j': down,
    'k': up,
    'ArrowDown': down,
    'ArrowUp': up,
    'End': { words: 'The oldest step', act: toOldest },
    'f': { words: 'Branch from the chosen step', act: () => {
      go({ view: undefined, pane: undefined }, true)
      document.querySelector<HTMLElement>('form textarea')?.focus()
    } },
    'e': { words: 'Edit the state of the step', act: () => go({ view: 'state' }, true) },
    'c': { words: 'Compare the chosen step with now', act: () => {
      if (headId !== undefined) compareWith(headId)
    } },
    'Escape': { words: 'Back to now', act: () => choose(undefined) },
  })
}
