/** The drawing of a chart: lines or bars over time, with what a pointer points at. */

import { useEffect, useId, useRef, useState } from 'react'
import type { PointerEvent } from 'react'

import { axisWords } from './axis-words.ts'
import { kindOf, largestOf, summaryOf, wordsOf } from './chart-lines.ts'
import type { ChartLines } from './chart-lines.ts'
import { alone, lineLook, linePath, markPath, nearest, timeTicks, valueAxis, xOf, yOf,
  spanOf } from './chart-scale.ts'
import type { PlotRoom, PlotWindow, ValueAxis } from './chart-scale.ts'
import css from './plot.module.css'
import { BarPattern, Bars } from './chart-bars.tsx'
import { PointedValues } from './pointed-values.tsx'

/** Lines of a drawing, and the way they are drawn. */
export interface ChartPlotProps {
  readonly title: string
  readonly lines: ChartLines
  readonly window: PlotWindow
  readonly isBars: boolean
  /** The metric that its numbers are of. */
  readonly metric: string | undefined
  /** 168 pixels if absent. */
  readonly heightPx?: number
}

const usualHeightPx = 168
const edge = { left: 52, right: 10, top: 8, bottom: 22 }
const tickPx = 60
/** Room of a letter of the axis; digits are wider than most. */
const letterPx = 6.5
const besideAxisPx = 14

/** A drawing as wide as its place. */
export function ChartPlot(props: ChartPlotProps) {
  const { title, lines, metric, heightPx = usualHeightPx } = props
  const box = useRef<HTMLDivElement>(null)
  const [width, setWidth] = useState(0)
  useEffect(() => {
    const watcher = new ResizeObserver(([entry]) => setWidth(entry!.contentRect.width))
    watcher.observe(box.current!)
    return () => watcher.disconnect()
  }, [])
  const axis = valueAxis(largestOf(lines), kindOf(metric) === 'count')
  const labels = axisWords(axis.ticks, metric)
  const longest = Math.max(...labels.map(({ length }) => length))
  const left = Math.max(edge.left, longest * letterPx + besideAxisPx)
  const room = { left, top: edge.top, height: heightPx - edge.top - edge.bottom,
    width: Math.max(0, width - left - edge.right) }
  return (
    <div ref={box} className={css['plot']} style={{ height: heightPx }} role="img"
      aria-label={`${title} over time: ${summaryOf(lines, wordsOf(metric))}`}
    >
      {width > 0 && (
        <Drawing {...props} room={room} width={width} heightPx={heightPx} axis={axis}
          labels={labels} />
      )}
    </div>
  )
}

interface DrawingProps extends Required<ChartPlotProps> {
  readonly room: PlotRoom
  readonly width: number
  readonly axis: ValueAxis
  /** Words of the ticks of the axis. */
  readonly labels: readonly string[]
}

function Drawing(props: DrawingProps) {
  const { lines, window, isBars, metric, room, width, heightPx, axis, labels } = props
  const [at, setAt] = useState<number>()
  const pattern = useId()
  const { times } = lines
  const { fromMs, toMs } = spanOf(times, window, isBars)
  const x = xOf(room, fromMs, toMs)
  const y = yOf(room, axis.most)
  const stepPx = times.length > 1 ? x(times[1]!) - x(times[0]!) : room.width
  const xs = times.map((time) => isBars ? x(time) + stepPx / 2 : x(time))
  const point = ({ nativeEvent: { offsetX } }: PointerEvent) => setAt(nearest(xs, offsetX))
  return (
    <>
      <svg width={width} height={heightPx} aria-hidden="true" onPointerMove={point}
        onPointerLeave={() => setAt(undefined)}
      >
        {isBars &&
          lines.lines.map(({ key }, line) => (
            <BarPattern key={key} id={`${pattern}${line}`} line={line} />
          ))}
        {axis.ticks.map((value, tick) => (
          <g key={value}>
            <path d={`M${room.left} ${y(value)}h${room.width}`} className={css['gridLine']} />
            <text x={room.left - 8} y={y(value) + 4} textAnchor="end">
              {labels[tick]}
            </text>
          </g>
        ))}
        {timeTicks(fromMs, toMs, Math.floor(room.width / tickPx)).map((tick) => (
          <text key={tick.atMs} x={labelX(x(tick.atMs), room)} y={heightPx - 4} textAnchor="middle">
            {tick.label}
          </text>
        ))}
        {isBars
          ? <Bars lines={lines} xs={times.map(x)} stepPx={stepPx} y={y} pattern={pattern} />
          : lines.lines.map(({ key, values }, line) => (
            <Line key={key} line={line} xs={xs}
              ys={values.map((value) => value === null ? null : y(value))} />
          ))}
        {at !== undefined && (
          <path d={`M${xs[at]} ${room.top}v${room.height}`} className={css['pointed']} />
        )}
      </svg>
      {at !== undefined && (
        <PointedValues lines={lines} at={at} words={wordsOf(metric)} x={xs[at]!} width={width} />
      )}
    </>
  )
}

/** Words in the middle of their time, but never cut off. */
const labelX = (x: number, room: PlotRoom) =>
  Math.min(Math.max(x, room.left + 14), room.left + room.width - 14)

/** Places between two marks of a line, so that they do not hide it. */
const markEvery = 8

function Line({ line, xs, ys }: {
  readonly line: number
  readonly xs: readonly number[]
  readonly ys: readonly (number | null)[]
}) {
  const { colour, dash } = lineLook(line)
  const last = ys.findLastIndex((each) => each !== null)
  const marked = new Set(alone(ys))
  for (let at = last; at >= 0; at -= markEvery) marked.add(at)
  const marks = [...marked].map((at) => {
    const place = ys[at]
    return place === null || place === undefined ? '' : markPath(line, xs[at]!, place)
  }).join('')
  return (
    <>
      <path d={linePath(xs, ys)} className={css['line']} strokeDasharray={dash}
        style={{ stroke: colour }} />
      <path d={marks} style={{ fill: colour }} />
    </>
  )
}
