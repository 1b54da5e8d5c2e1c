/** The spans of a trace as a tree beside their bars on one axis of time. */

import { useVirtualizer } from '@tanstack/react-virtual'
import { useCallback, useEffect, useMemo, useRef, useState } from 'react'
import type { CSSProperties, KeyboardEvent } from 'react'

import type { WaterfallView } from '../../addresses/traces.ts'
import { useKeys } from '../../parts/keys.ts'
import { criticalPathOf } from './critical-path.ts'
import type { CriticalPath } from './critical-path.ts'
import { ownShareOf, slowestOf } from './own-time.ts'
import { SlowestList } from './slowest-list.tsx'
import { looksFor } from './span-look.ts'
import type { SpanLook } from './span-look.ts'
import { foldedAtFirst, indentOf, rowsOf } from './span-tree.ts'
import type { SpanRow, SpanTree } from './span-tree.ts'
import { fitted, tickMarks, ticksOf, tickWords, zoomed } from './time-axis.ts'
import type { TimeRange } from './time-axis.ts'
import { useTimeWheel } from './time-wheel.ts'
import css from './waterfall.module.css'
import { WaterfallBar } from './waterfall-bar.tsx'
import { WaterfallRow } from './waterfall-row.tsx'

/** Spans above which a trace begins with its upper levels only. */
const rowsAtFirst = 2_000
/** Room right of the ruler. */
const rulerEdgePx = 16

/** Spans in the list of the slowest ones. */
const slowestMax = 10

/** Spans of the waterfall, the chosen one, and the callbacks that choose. */
interface WaterfallProps {
  readonly tree: SpanTree
  readonly chosen: string
  readonly choose: (id: string) => void
  /** Chosen, and wished to be seen whole. */
  readonly open: (id: string) => void
  readonly view: WaterfallView
  readonly setView: (change: WaterfallView) => void
  /** Ids of spans whose inputs or outputs have the words of the view. */
  readonly inTexts?: ReadonlySet<string> | undefined
}

/** Waterfall of a trace: its spans as a tree, each with a bar on a time axis. */
export function Waterfall({ tree, chosen, choose, open, view, setView, inTexts }: WaterfallProps) {
  const [folded, setFolded] = useState(() => foldedAround(tree, chosen))
  const path = useMemo(() => criticalPathOf(tree), [tree])
  const slowest = useMemo(() => slowestOf(tree, slowestMax), [tree])
  const { q, failed, least, path: only, slow } = view
  const look = useMemo(
    (): SpanLook => ({ words: q, inTexts, failed: failed === 'on',
      leastUs: Number(least ?? 0) * 1_000, only: only === 'on' ? path : undefined }),
    [q, inTexts, failed, least, only, path],
  )
  const rows = useMemo(() => rowsOf(tree, folded, look), [tree, folded, look])
  const [zoom, setZoom] = useState<TimeRange>()
  const seen = zoom ?? tree.whole
  const setSeen = useCallback(
    (next: TimeRange) =>
      setZoom(next.to - next.from >= tree.whole.to - tree.whole.from ? undefined : next),
    [tree.whole],
  )
  const fold = useCallback((id: string, isFolded: boolean) =>
    setFolded((old) => {
      const next = new Set(old)
      if (isFolded) next.add(id)
      else next.delete(id)
      return next
    }), [])
  const zoomBy = (factor: number) => setSeen(zoomed(seen, tree.whole, factor, 0.5))
  const node = tree.byId.get(chosen)
  useKeys('Spans', {
    '+': { words: 'Zoom in', act: () => zoomBy(0.5) },
    '-': { words: 'Zoom out', act: () => zoomBy(2) },
    '0': { words: 'The whole time', act: () => setZoom(undefined) },
    'f': { words: 'The time of the chosen span',
      act: () => node && setSeen(fitted(node, tree.whole)) },
  })
  const isFolded = folded.size > 0
  const foldAll = () =>
    setFolded(
      isFolded
        ? new Set()
        : new Set(tree.roots.flatMap(({ children }) =>
          children.flatMap((child) => child.children.length > 0 ? [child.span.id] : [])
        )),
    )
  const chooseSlow = (id: string) => {
    setFolded((old) => withWayTo(tree, id, old))
    choose(id)
  }
  const toggleSlowest = () => {
    setView({ slow: slow === 'on' ? undefined : 'on' })
    if (slow !== 'on' && slowest[0] !== undefined) chooseSlow(slowest[0].span.id)
  }
  return (
    <section className={css['waterfall']} aria-label="Spans">
      <WaterfallBar view={view} setView={setView} toggleSlowest={toggleSlowest}
        found={looksFor(look) ? rows.filter(({ isMatch }) => isMatch).length : undefined}
        isFolded={isFolded} foldAll={foldAll} isZoomed={zoom !== undefined} zoomBy={zoomBy}
        fit={() => setZoom(undefined)} />
      {slow === 'on' && (
        <SlowestList tree={tree} slowest={slowest} chosen={chosen} choose={chooseSlow} />
      )}
      <Rows tree={tree} path={path} rows={rows} chosen={chosen} choose={choose} open={open}
        fold={fold} seen={seen} setSeen={setSeen} />
    </section>
  )
}

/** The way to the chosen span is open. */
function foldedAround(tree: SpanTree, chosen: string): ReadonlySet<string> {
  return withWayTo(tree, chosen, foldedAtFirst(tree, rowsAtFirst))
}

function withWayTo(tree: SpanTree, id: string, before: ReadonlySet<string>): ReadonlySet<string> {
  const folded = new Set(before)
  for (let node = tree.byId.get(id)?.parent; node !== undefined; node = node.parent) {
    folded.delete(node.span.id)
  }
  return folded
}

interface RowsProps extends Pick<WaterfallProps, 'tree' | 'chosen' | 'choose' | 'open'> {
  readonly path: CriticalPath
  readonly rows: readonly SpanRow[]
  readonly fold: (id: string, isFolded: boolean) => void
  readonly seen: TimeRange
  readonly setSeen: (seen: TimeRange) => void
}

function Rows({ tree, path, rows, chosen, choose, open, fold, seen, setSeen }: RowsProps) {
  const box = useRef<HTMLDivElement>(null)
  const [width, setWidth] = useState(700)
  useEffect(() => {
    const watcher = new ResizeObserver(() => setWidth(box.current?.clientWidth || 700))
    watcher.observe(box.current!)
    return () => watcher.disconnect()
  }, [])
  const isNarrow = width < 560
  const nameWidth = isNarrow ? Math.round(width * 0.58) : Math.min(420, Math.round(width * 0.44))
  useTimeWheel({ box, nameWidth, seen, whole: tree.whole, setSeen })
  const list = useVirtualizer({ count: rows.length, getScrollElement: () => box.current,
    estimateSize: () => matchMedia('(max-width: 719px)').matches ? 44 : 28, overscan: 8,
    scrollPaddingStart: 24 })
  const items = list.getVirtualItems()
  const depth = items.reduce((most, { index }) => Math.max(most, rows[index]?.node.depth ?? 0), 0)
  const indent = indentOf(depth, nameWidth)
  const active = rows.findIndex(({ node }) => node.span.id === chosen)
  // The chosen span is seen at first, and whenever keys or the address choose another.
  useEffect(() => {
    if (active >= 0) list.scrollToIndex(active, { align: 'auto' })
  }, [chosen])
  const move = (index: number) => {
    const row = rows[Math.max(0, Math.min(rows.length - 1, index))]
    if (row !== undefined) choose(row.node.span.id)
  }
  const act = actsOf({ rows, active, move, fold, open })
  const byKey = (key: string) => () => {
    box.current?.focus({ preventScroll: true })
    act[key]?.()
  }
  useKeys('Tree', {
    j: { words: 'Next span', act: byKey('ArrowDown') },
    k: { words: 'Previous span', act: byKey('ArrowUp') },
  })
  const onKeyDown = (event: KeyboardEvent) => {
    const does = act[event.key]
    if (event.target !== event.currentTarget || does === undefined) return
    event.preventDefault()
    does()
  }
  return (
    <div className={css['box']} ref={box} role="tree" aria-label="Spans" tabIndex={0}
      aria-activedescendant={active < 0 ? undefined : `span-${chosen}`} onKeyDown={onKeyDown}
      style={{ '--name': `${nameWidth}px` } as CSSProperties}
    >
      <Ruler seen={seen} about={isNarrow ? 2 : 5} px={width - nameWidth - rulerEdgePx}
        height={list.getTotalSize()} />
      <div role="presentation" className={css['rows']} style={{ height: list.getTotalSize() }}>
        {items.map(({ index, start, size }) => (
          <WaterfallRow key={rows[index]!.node.span.id} row={rows[index]!} top={start} height={size}
            indent={indent} seen={seen} room={96 / Math.max(110, width - nameWidth)}
            ownShare={ownShareOf(rows[index]!.node, tree)}
            onPath={path.get(rows[index]!.node.span.id)} isChosen={index === active} choose={choose}
            open={open} fold={fold} />
        ))}
      </div>
      {rows.length === 0 && <p className={css['none']}>No span matches.</p>}
    </div>
  )
}

/** Actions of keys in a tree, as screen readers know them. */
function actsOf({ rows, active, move, fold, open }: {
  readonly rows: readonly SpanRow[]
  readonly active: number
  readonly move: (index: number) => void
  readonly fold: (id: string, isFolded: boolean) => void
  readonly open: (id: string) => void
}): Readonly<Record<string, () => void>> {
  const row = rows[active]
  const id = row?.node.span.id ?? ''
  return {
    ArrowDown: () => move(active + 1),
    ArrowUp: () => move(active - 1),
    PageDown: () => move(active + 20),
    PageUp: () => move(active - 20),
    Home: () => move(0),
    End: () => move(rows.length - 1),
    ArrowRight: () => {
      if (row === undefined || row.node.children.length === 0) return
      if (row.isOpen) move(active + 1)
      else fold(id, false)
    },
    ArrowLeft: () => {
      if (row === undefined) return
      if (row.isOpen) fold(id, true)
      else move(rows.findIndex(({ node }) => node === row.node.parent))
    },
    Enter: () => {
      if (row !== undefined) open(id)
    },
  }
}

/** The ruler above the rows, and its lines behind them. */
function Ruler({ seen, about, px, height }: {
  readonly seen: TimeRange
  /** Ticks that are asked for. */
  readonly about: number
  readonly px: number
  readonly height: number
}) {
  const ticks = useMemo(() => ticksOf(seen, about), [seen, about])
  const left = (us: number) => `${(us - seen.from) / (seen.to - seen.from) * 100}%`
  return (
    <>
      <div className={css['ruler']} aria-hidden="true">
        {tickMarks(ticks, seen, px).map(({ us, side }) => (
          <span key={us} style={{ left: left(us) }} className={css[side]}>{tickWords(us)}</span>
        ))}
      </div>
      <div className={css['lines']} aria-hidden="true" style={{ height: Math.max(height, 0) }}>
        {ticks.map((us) => <i key={us} style={{ left: left(us) }} />)}
      </div>
    </>
  )
}
