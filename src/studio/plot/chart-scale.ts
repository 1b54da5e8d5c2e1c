/** Pixels of values and times in a drawing, and the ticks that its axes name. Pure. */

/** The room of a drawing in pixels, without its axes. */
export interface PlotRoom {
  readonly left: number
  readonly top: number
  readonly width: number
  readonly height: number
}

/** The times of a drawing, milliseconds since 1970. */
export interface PlotWindow {
  readonly fromMs: number
  readonly toMs: number
}

/** Numbers on an axis, and how far it goes. */
export interface ValueAxis {
  readonly ticks: readonly number[]
  readonly most: number
}

const ticksMax = 4

/** An axis from zero to a round number above the largest value. */
export function valueAxis(largest: number, isWhole: boolean): ValueAxis {
  if (largest <= 0) return { ticks: [0], most: 1 }
  const step = Math.max(roundStep(largest / ticksMax), isWhole ? 1 : 0)
  const steps = Math.ceil(largest / step - 1e-9)
  const ticks = Array.from({ length: steps + 1 }, (_, at) => Number((at * step).toPrecision(12)))
  return { ticks, most: ticks.at(-1)! }
}

/** The smallest of 1, 2, 2.5 and 5 times a power of ten that is not less. */
function roundStep(least: number): number {
  const power = 10 ** Math.floor(Math.log10(least))
  const times = [1, 2, 2.5, 5, 10].find((each) => each * power >= least * (1 - 1e-9)) ?? 10
  // 2.5 is no whole number.
  return times === 2.5 && power === 1 ? 5 : times * power
}

const minuteMs = 60_000
const dayMs = 1_440 * minuteMs
const timeSteps = [1, 5, 10, 15, 30, 60, 120, 180, 360, 720, 1_440, 2_880, 7_200, 10_080]
  .map((minutes) => minutes * minuteMs)

/** A time that an axis names. */
export interface TimeTick {
  readonly atMs: number
  readonly label: string
}

/** Round times of the reader's clock, as many as have room. */
export function timeTicks(fromMs: number, toMs: number, most: number): readonly TimeTick[] {
  const step = timeSteps.find((each) => (toMs - fromMs) / each <= Math.max(1, most)) ??
    timeSteps.at(-1)!
  const offsetMs = new Date(fromMs).getTimezoneOffset() * minuteMs
  const first = Math.ceil((fromMs - offsetMs) / step) * step + offsetMs
  const ticks: TimeTick[] = []
  for (let atMs = first; atMs <= toMs; atMs += step) {
    ticks.push({ atMs, label: tickWords(atMs, step) })
  }
  return ticks
}

const tickWords = (atMs: number, stepMs: number): string =>
  new Date(atMs).toLocaleString([], stepMs >= dayMs
    ? { day: 'numeric', month: 'short' }
    : { hour: '2-digit', minute: '2-digit' })

/** The time of a drawing: the first step may begin before the window, the last end after it. */
export function spanOf(times: readonly number[], window: PlotWindow, isBars: boolean): PlotWindow {
  const [first, second] = times
  const last = times.at(-1) ?? window.toMs
  const stepMs = isBars && first !== undefined && second !== undefined ? second - first : 0
  return { fromMs: Math.min(window.fromMs, first ?? window.fromMs),
    toMs: Math.max(window.toMs, last + stepMs) }
}

/** Rounded, so that a path has short numbers. */
const short = (value: number) => Math.round(value * 10) / 10

/** Maps a time to its horizontal pixel. */
export const xOf = (room: PlotRoom, fromMs: number, toMs: number) => (atMs: number): number =>
  short(room.left + (atMs - fromMs) / Math.max(1, toMs - fromMs) * room.width)

/** Maps a value to its vertical pixel, with `most` at the top. */
export const yOf = (room: PlotRoom, most: number) => (value: number): number =>
  short(room.top + room.height * (1 - value / most))

/** The path of a line: it is broken where there is no value. */
export function linePath(xs: readonly number[], ys: readonly (number | null)[]): string {
  return ys.map((y, at) =>
    y === null ? '' : `${at > 0 && ys[at - 1] !== null ? 'L' : 'M'}${xs[at]} ${y}`
  ).join('')
}

/** Points that a line does not show: those without a value beside them. */
export const alone = (values: readonly (number | null)[]): readonly number[] =>
  values.flatMap((value, at) =>
    value !== null && (values[at - 1] ?? null) === null && (values[at + 1] ?? null) === null
      ? [at]
      : []
  )

/** Forms of the marks of lines, in turn: what colours say, forms say as well. */
const markForms: readonly ((x: number, y: number) => string)[] = [
  (x, y) => `M${x - 3} ${y}a3 3 0 1 0 6 0a3 3 0 1 0 -6 0z`,
  (x, y) => `M${x - 3} ${y - 3}h6v6h-6z`,
  (x, y) => `M${x} ${y - 4}l4 7h-8z`,
  (x, y) => `M${x} ${y - 4}l4 4l-4 4l-4 -4z`,
  (x, y) => `M${x} ${y + 4}l-4 -7h8z`,
  (x, y) => `M${x - 1} ${y - 4}h2v3h3v2h-3v3h-2v-3h-3v-2h3z`,
]

/** The mark of a line at a place. */
export const markPath = (line: number, x: number, y: number): string =>
  markForms[line % markForms.length]!(x, y)

const colours = ['indigo', 'weld', 'teal', 'madder', 'woad', 'ink-2'] as const
const dashes = [undefined, '6 3', '2 2', '8 3 2 3'] as const

/** The colour and the dashes of a line; two lines of a chart do not share both. */
export const lineLook = (line: number) => ({
  colour: `var(--${colours[line % colours.length]!})`,
  dash: dashes[(line + Math.floor(line / colours.length)) % dashes.length],
})

/** The step that is nearest to a place. */
export function nearest(xs: readonly number[], x: number): number | undefined {
  let found: number | undefined
  for (const [at, each] of xs.entries()) {
    if (found === undefined || Math.abs(each - x) < Math.abs(xs[found]! - x)) found = at
  }
  return found
}
