/** Lines or bars over time, drawn by uPlot on a canvas. */

import 'uplot/dist/uPlot.min.css'

import { useEffect, useRef } from 'react'
import Plot from 'uplot'

import { useTheme } from '../../shell/theme.ts'
import css from './charts.module.css'

/** A line: its name, and its colour as CSS has it. */
export interface ChartLine {
  readonly label: string
  readonly colour: string
}

/** Values and lines of a drawing. */
interface ChartDrawingProps {
  /** Seconds since 1970. */
  readonly times: readonly number[]
  /** The values of each line, by time. */
  readonly values: readonly (readonly (number | null)[])[]
  readonly lines: readonly ChartLine[]
  readonly words: (value: number | null) => string
  readonly isBars: boolean
  /** Values are whole numbers. */
  readonly isCount: boolean
}

const heightPx = 128

/** Steps of the axis of what is counted. */
const wholeSteps = Array.from({ length: 36 },
  (_, at) => [1, 2, 5][at % 3]! * 10 ** Math.floor(at / 3))

/** A drawing as wide as its place. It is drawn anew when the colours of the page change. */
export function ChartDrawing(props: ChartDrawingProps) {
  const place = useRef<HTMLDivElement>(null)
  const theme = useTheme()
  useEffect(() => {
    const box = place.current!
    const plot = new Plot(optionsOf(props, box), [[...props.times],
      ...props.values.map((line) => [...line])], box)
    const watcher = new ResizeObserver(() =>
      plot.setSize({ width: box.clientWidth, height: heightPx })
    )
    watcher.observe(box)
    return () => {
      watcher.disconnect()
      plot.destroy()
    }
  }, [props.times, props.values, theme])
  return <div ref={place} className={css['drawing']} aria-hidden="true" />
}

function optionsOf({ lines, words, isBars, isCount }: ChartDrawingProps,
  box: HTMLElement): Plot.Options {
  const [ink, grid] = [coloured(box, 'var(--ink-3)'), coloured(box, 'var(--line)')]
  const axis: Plot.Axis = { stroke: ink, font: '11px Hanken Grotesk', ticks: { show: false },
    grid: { stroke: grid, width: 1 }, gap: 4 }
  const bars = Plot.paths.bars?.({ size: [0.7, 24, 1] })
  return {
    width: box.clientWidth,
    height: heightPx,
    legend: { show: false },
    cursor: { y: false, points: { show: !isBars }, drag: { x: false, y: false } },
    scales: { y: { range: (_, __, most) => [0, most > 0 ? most * 1.1 : 1] } },
    axes: [
      { ...axis, size: 20, grid: { show: false }, space: 64 },
      { ...axis, size: 52, space: 34, ...isCount && { incrs: wholeSteps },
        values: (_, ticks) => ticks.map((value) => value === 0 ? '0' : words(value)) },
    ],
    series: [{}, ...lines.map(({ label, colour }) => {
      const stroke = coloured(box, colour)
      return { label, stroke, width: isBars ? 0 : 1.5, spanGaps: false,
        points: { show: !isBars, size: 4, fill: stroke },
        ...isBars && { fill: stroke, ...bars && { paths: bars } } }
    })],
  }
}

/** A canvas knows no custom properties: an element that has the colour says what it is. */
function coloured(box: HTMLElement, colour: string): string {
  const probe = document.createElement('i')
  probe.style.color = colour
  box.append(probe)
  const { color } = getComputedStyle(probe)
  probe.remove()
  return color
}
